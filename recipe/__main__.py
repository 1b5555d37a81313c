"""The steps of the recipe: `python -m recipe STEP`."""

from __future__ import annotations

import argparse
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from recipe import sources
from recipe.configuration import FOLDER, Stage, configuration
from recipe.corpus import examples, of_folds, without_topic_means

if TYPE_CHECKING:
    from recipe.network import Network

SHIPPED = Path(__file__).parents[1] / "src/sicetnon/models/debate"
SIDES = SHIPPED.with_name("sides")
STEPS = ("data", "train", "export", "figures", "sharing", "sides", "reader")
ALONE = ("deep-conclusions", "arguing")
"""The stages whose networks are graphs that are added to a model."""


def main() -> None:
    """Run one step."""
    parser = argparse.ArgumentParser(prog="python -m recipe", description=__doc__)
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("stage", nargs="?", choices=list(configuration().stages))
    parser.add_argument("--fold", type=int, help="the fold to leave out (default: none)")
    parser.add_argument("--version", default="1", help="export: what tells this model from others")
    parser.add_argument("--models", help="sides: folders of the models of all folds, with {fold}")
    for name, seconds in (("teacher", 600), ("student", 400)):
        text = f"reader: how long the {name} learns (default: {seconds})"
        parser.add_argument(f"--seconds-{name}", type=float, default=seconds, help=text)
    parser.add_argument(
        "--start",
        type=Path,
        default=SHIPPED / "sides.onnx",
        help="reader: the graph of sides of debate 12 (default: the shipped one)",
    )
    parser.add_argument("--threads", type=int, default=0, help="cores to use (default: all)")
    arguments = parser.parse_args()
    if arguments.threads and arguments.step != "sides":
        import torch

        torch.set_num_threads(arguments.threads)
    both = arguments.stage and arguments.fold is not None
    if arguments.step == "export" and both and arguments.stage not in ALONE:
        parser.error("export takes a stage or a fold, not both")
    if arguments.step == "export" and arguments.stage:
        _check_exported(parser, arguments.stage)
    if arguments.step == "train":
        _check_training(parser, arguments)
    if not (sources.data_folder() / "train").is_dir():
        parser.error(f"{sources.data_folder()} holds no data sets; set SICETNON_DATA")
    steps = {
        "data": _data,
        "train": _train,
        "export": _export,
        "figures": _figures,
        "sharing": _sharing,
        "sides": _sides,
        "reader": _reader,
    }
    try:
        steps[arguments.step](arguments)
    except OSError as error:
        raise SystemExit(
            f"{error.filename or arguments.step}: {error.strerror or error}"
        ) from error


def _check_exported(parser: argparse.ArgumentParser, stage: str) -> None:
    if configuration().stages[stage].encoder != "original":
        parser.error(f"{stage} is not shipped: its encoder is a larger one, to teach")


def _check_training(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    settings = configuration()
    if not arguments.stage:
        parser.error(f"train needs a stage: {', '.join(settings.stages)}")
    if arguments.fold is None:
        return
    if not settings.stages[arguments.stage].folds_of:
        parser.error(f"{arguments.stage} leaves out no fold: its settings have no folds_of")
    if arguments.fold not in range(settings.folds):
        parser.error(f"--fold is 0 to {settings.folds - 1}")


def _data(arguments: argparse.Namespace) -> None:
    settings = configuration()
    counts = Counter((e.head, e.dataset, e.split) for e in examples(settings.unlabelled))
    for (head, dataset, split), count in sorted(counts.items()):
        print(f"{head:18} {dataset:14} {split:11} {count:6}")


def _train(arguments: argparse.Namespace) -> None:
    from recipe.fit import Training, begun

    settings = configuration()
    stage = settings.stages[arguments.stage]
    found = examples(settings.unlabelled)
    left_out = stage.left_out_with(arguments.fold)
    found = of_folds(found, left_out, settings.folds, stage.folds_of)
    found = without_topic_means(found)
    if stage.teachers:
        from recipe.teaching import taught

        found = taught(found, settings, stage, FOLDER, arguments.fold)
    start = begun(settings, stage, FOLDER, arguments.fold)
    folder = FOLDER / settings.folder_of(arguments.stage, arguments.fold)
    Training(settings, stage, found, folder, start).run()


def _export(arguments: argparse.Namespace) -> None:
    if arguments.stage in ALONE:
        target = _export_alone(arguments.stage, arguments.fold, arguments.version)
    elif arguments.stage:
        target = _export_stage(arguments.stage, arguments.version)
    elif arguments.fold is not None:
        target = _export_fold(arguments.fold, arguments.version)
    else:
        target = _export_shipped(arguments.version)
    print(target)


def _export_stage(name: str, version: str) -> Path:
    """Export one encoder with all heads, for comparison; some heads may be untrained."""
    from recipe.export import OUTPUTS, export
    from recipe.network import ANSWERS

    stage = configuration().stages[name]
    whole = msgspec.structs.replace(stage, keeps=tuple(set(ANSWERS) - set(stage.heads())))
    export(dict.fromkeys(OUTPUTS, _ended(whole, name)), _model(name), version)
    return _model(name)


def _export_alone(name: str, fold: int | None, version: str) -> Path:
    """Add a graph to the shipped model, or to copies of it for the folds that are left out."""
    from recipe.export import add_graph

    settings = configuration()
    stage = settings.stages[name]
    network = _ended(stage, settings.folder_of(name, fold))
    if fold is None:
        add_graph(network, name, SHIPPED, version)
        return SHIPPED
    for each in stage.left_out_with(fold):
        folder = _model(f"{name}-{each}")
        shutil.copytree(SHIPPED, folder, dirs_exist_ok=True)
        add_graph(network, name, folder, version)
    return folder


def _export_fold(fold: int, version: str) -> Path:
    """Export the network that left out a fold, with comparison for the figures."""
    from recipe.export import export

    settings = configuration()
    judge = _ended(settings.stages["judge"], settings.folder_of("rounded-pairs", fold))
    export({"judge": judge}, _model(fold), version)
    return _model(fold)


def _export_shipped(version: str) -> Path:
    from recipe.export import export
    from recipe.lengthening import lengthen
    from recipe.network import Network

    stages = configuration().stages
    networks = {name: _ended(stages[name], name) for name in ("judge", "quality")}
    # the embedding is the original's: whatever is learnt beside it costs it, or costs more
    export(networks | {"embedding": Network.original().eval()}, SHIPPED, version)
    judged = [each for each in examples(0) if each.dataset == "webis"]
    print(f"what length gains: {lengthen(judged, SHIPPED)}")
    return SHIPPED


def _ended(stage: Stage, folder: str) -> Network:
    from recipe.fit import trained

    return trained(configuration(), stage, FOLDER / folder)


def _model(name: int | str) -> Path:
    return FOLDER / f"model-{name}"


def _sharing(arguments: argparse.Namespace) -> None:
    from recipe import figures, similarity

    model, found = _model(arguments.stage or "shared"), examples(0)
    print(figures.HEADER)
    for lines in (figures.quality_lines, figures.stance_lines, figures.argumentativeness_lines):
        for line in lines(found, model, rivals=False):
            print(line, flush=True)
    for line in similarity.similarity_lines(model):
        print(line, flush=True)


def _sides(arguments: argparse.Namespace) -> None:
    from recipe.side_fit import Readers, fit

    print(fit(SIDES, Readers(arguments.models, arguments.threads or None)))


def _reader(arguments: argparse.Namespace) -> None:
    from recipe.reader import run

    seconds = arguments.seconds_teacher, arguments.seconds_student
    print(run(configuration(), seconds, arguments.start, SHIPPED, arguments.version))


def _figures(arguments: argparse.Namespace) -> None:
    from recipe import figures, similarity

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
