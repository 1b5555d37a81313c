"""The steps of the recipe: `python -m training STEP`."""

from __future__ import annotations

import argparse
from collections import Counter

from training.configuration import FOLDER, configuration
from training.corpus import examples, of_fold


def main() -> None:
    """Runs one step."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=["data", "fit", "adapt"])
    parser.add_argument("--fold", type=int, help="adapt: the fold to leave out (default: none)")
    parser.add_argument("--threads", type=int, default=0, help="cores to use (default: all)")
    arguments = parser.parse_args()
    if arguments.threads:
        import torch

        torch.set_num_threads(arguments.threads)
    {"data": _data, "fit": _fit, "adapt": _adapt}[arguments.step](arguments)


def _data(arguments: argparse.Namespace) -> None:
    settings = configuration()
    counts = Counter((e.head, e.dataset, e.split) for e in examples(settings.unlabelled))
    for (head, dataset, split), count in sorted(counts.items()):
        print(f"{head:18} {dataset:14} {split:11} {count:6}")


def _fit(arguments: argparse.Namespace) -> None:
    from training.fit import Training
    from training.network import Network

    settings = configuration()
    found = examples(settings.unlabelled)
    Training(settings, settings.fit, found, FOLDER / "fit", Network.original()).run()


def _adapt(arguments: argparse.Namespace) -> None:
    from training.fit import Training, trained

    settings = configuration()
    found = of_fold(examples(settings.unlabelled), arguments.fold, settings.folds)
    name = "adapt" if arguments.fold is None else f"adapt-{arguments.fold}"
    Training(settings, settings.adapt, found, FOLDER / name, trained(FOLDER / "fit")).run()


if __name__ == "__main__":
    main()
