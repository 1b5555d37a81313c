"""Input directories as datasets of ir_datasets, as its extensions register theirs.

sicetnon.register_ir_dataset("shared-task", "touche-2020-task-1")
dataset = ir_datasets.load("sicetnon/touche-2020-task-1")
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sicetnon.errors import DataError, UsageError, needing

if TYPE_CHECKING:
    import ir_datasets

_PREFIX = "sicetnon"
_MAIN = "relevance"


def load_ir_dataset(path: Path | str, dimension: str | None = None) -> ir_datasets.Dataset:
    """An input directory as a dataset of ir_datasets. Nothing is downloaded or written.

    Documents are read from any corpus that `sicetnon index build` reads, in the folder or in its
    `input`; queries from `topics.xml` or `queries.jsonl` there; judgments from `*.qrels`. The
    document store keeps all documents in memory once it is used. `docs_iter()` can be sliced:
    `[:2]`, `[-10:]`, `[:1/5]`.

    Args:
        path: The folder.
        dimension: The name of the qrels file, without `.qrels`; `relevance` when left out, or the
            only one.

    Raises:
        DataError: The folder holds no corpus.
        MissingExtraError: ir_datasets is not installed (extra `datasets`).
        UsageError: There is no qrels file of this name.
    """
    root = Path(path)
    files = _qrels_files(root)
    if dimension is not None and dimension not in files:
        found = ", ".join(files) or "none"
        raise UsageError(f"{root}: there are no judgments {dimension!r}; there are: {found}")
    only = next(iter(files.values())) if len(files) == 1 else files.get(_MAIN)
    return _dataset(root, files[dimension] if dimension else only)


def register_ir_dataset(path: Path | str, name: str) -> list[str]:
    """Register an input directory with ir_datasets, for this process.

    Args:
        path: The folder, as in `load_ir_dataset`.
        name: The dataset becomes `sicetnon/NAME`; with each qrels file, `sicetnon/NAME/FILE`.

    Returns:
        The ids that `ir_datasets.load` knows now.

    Raises:
        DataError: The folder holds no corpus.
        MissingExtraError: ir_datasets is not installed (extra `datasets`).
        UsageError: The id is taken.
    """
    base = f"{_PREFIX}/{name}"
    datasets = {base: load_ir_dataset(path)}
    for dimension in _qrels_files(Path(path)):
        datasets[f"{base}/{dimension}"] = load_ir_dataset(path, dimension)
    registry = _library().registry
    for identifier in datasets:
        if identifier in list(registry):
            raise UsageError(f"ir_datasets has a dataset {identifier!r} already; choose a name")
    for identifier, dataset in datasets.items():
        registry.register(identifier, dataset)
    return list(datasets)


def _input(root: Path) -> Path:
    return root / "input" if (root / "input").is_dir() else root


def _qrels_files(root: Path) -> dict[str, Path]:
    """The qrels files of a folder and of its input, by their names."""
    folders = dict.fromkeys((root, _input(root)))
    return {file.stem: file for folder in folders for file in sorted(folder.glob("*.qrels"))}


def _dataset(root: Path, qrels: Path | None) -> Any:
    library = _library()
    from sicetnon.app import ir_handlers
    from sicetnon.formats.corpora import open_corpus
    from sicetnon.formats.topics import topics_in

    folder = _input(root)
    if not folder.is_dir():
        raise DataError("there is no such folder", folder)
    documents = ir_handlers.Documents(open_corpus([folder]))
    topics = topics_in(folder)
    return library.Dataset(
        documents,
        None if topics is None else ir_handlers.Queries(topics),
        None if qrels is None else ir_handlers.Judgments(qrels),
    )


def _library() -> Any:
    """The module ir_datasets."""
    with needing("A dataset of ir_datasets", "datasets"):
        import ir_datasets
    return ir_datasets
