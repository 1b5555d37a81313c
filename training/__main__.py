"""The steps of the recipe: `python -m training STEP`."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import msgspec

from training.configuration import FOLDER, configuration
from training.corpus import examples, of_fold, without_topic_means

SHIPPED = Path(__file__).parents[1] / "src/sicetnon/models/debate"


def main() -> None:
    """Runs one step."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("step", choices=["data", "train", "export", "figures", "sharing"])
    parser.add_argument("stage", nargs="?", choices=list(configuration().stages))
    parser.add_argument("--fold", type=int, help="the fold to leave out (default: none)")
    parser.add_argument("--version", default="1", help="export: what tells this model from others")
    parser.add_argument("--threads", type=int, default=0, help="cores to use (default: all)")
    arguments = parser.parse_args()
    if arguments.threads:
        import torch

        torch.set_num_threads(arguments.threads)
    if arguments.step == "export" and arguments.stage and arguments.fold is not None:
        parser.error("export takes a stage or a fold, not both")
    steps = {
        "data": _data,
        "train": _train,
        "export": _export,
        "figures": _figures,
        "sharing": _sharing,
    }
    steps[arguments.step](arguments)


def _data(arguments: argparse.Namespace) -> None:
    settings = configuration()
    counts = Counter((e.head, e.dataset, e.split) for e in examples(settings.unlabelled))
    for (head, dataset, split), count in sorted(counts.items()):
        print(f"{head:18} {dataset:14} {split:11} {count:6}")


def _train(arguments: argparse.Namespace) -> None:
    from training.fit import Training, begun

    settings = configuration()
    stage = settings.stages[arguments.stage]
    found = examples(settings.unlabelled)
    found = of_fold(found, arguments.fold, settings.folds, stage.folds_of)
    found = without_topic_means(found)
    if stage.teachers:
        from training.teaching import taught

        found = taught(found, settings, stage.teachers, FOLDER)
    start = begun(settings, stage, FOLDER)
    folder = _folder(arguments.stage, arguments.fold)
    Training(settings, stage, found, folder, start).run()


def _folder(stage: str, fold: int | None) -> Path:
    return FOLDER / (stage if fold is None else f"{stage}-{fold}")


def _export(arguments: argparse.Namespace) -> None:
    from training.export import OUTPUTS, export
    from training.fit import trained
    from training.lengthening import lengthen
    from training.network import ANSWERS, Network

    stages = configuration().stages

    def ended(stage: str, folder: str = "") -> Network:
        return trained(configuration(), stages[stage], FOLDER / (folder or stage))

    if arguments.stage:  # one encoder for everything, to be compared; a head may be untrained
        target, stage = _model(arguments.stage), stages[arguments.stage]
        whole = msgspec.structs.replace(stage, keeps=tuple(set(ANSWERS) - set(stage.heads())))
        one = trained(configuration(), whole, FOLDER / arguments.stage)
        export(dict.fromkeys(OUTPUTS, one), target, arguments.version)
    elif arguments.fold is not None:  # nothing else is judged by folds of its own
        target = _model(arguments.fold)
        networks = {"judge": ended("judge", f"pairs-{arguments.fold}")}
        export(networks, target, arguments.version)
    else:
        target = SHIPPED
        # the embedding is the original's: whatever is learnt beside it costs it, or costs more
        embedding = Network.original().eval()
        networks = {"judge": ended("judge"), "quality": ended("quality"), "embedding": embedding}
        export(networks, target, arguments.version)
        judged = [each for each in examples(0) if each.dataset == "webis"]
        print(f"what length gains: {lengthen(judged, target)}")
    print(target)


def _model(name: int | str) -> Path:
    return FOLDER / f"model-{name}"


def _sharing(arguments: argparse.Namespace) -> None:
    from training import figures, similarity

    model, found = _model(arguments.stage or "shared"), examples(0)
    print(figures.HEADER)
    for lines in (figures.quality_lines, figures.stance_lines, figures.argumentativeness_lines):
        for line in lines(found, model, rivals=False):
            print(line, flush=True)
    for line in similarity.similarity_lines(model):
        print(line, flush=True)


def _figures(arguments: argparse.Namespace) -> None:
    from training import figures, similarity

    settings = configuration()
    found = examples(settings.unlabelled)
    models = [_model(fold) for fold in range(settings.folds)]
    print(figures.HEADER)
    for lines in (
        figures.quality_lines(found, None),
        figures.webis_lines(found, settings.folds, None),
        figures.comparison_lines(found, settings.folds, models),
        figures.stance_lines(found, None),
        figures.argumentativeness_lines(found, None),
        figures.non_arguments(None),
        similarity.similarity_lines(None),
        similarity.retrieval_lines(None),
    ):
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
