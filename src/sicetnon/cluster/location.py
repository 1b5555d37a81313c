"""Open, build and change an index wherever it is: in a folder, or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sicetnon.cluster.address import Place, is_address, parse_address
from sicetnon.errors import UsageError

if TYPE_CHECKING:
    from sicetnon.cluster.build import ClusterOptions
    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotation_writer import Callback
    from sicetnon.index.annotations import Annotator
    from sicetnon.index.manifest import Manifest
    from sicetnon.index.reader import IndexReader
    from sicetnon.index.writing import BuildOptions


def open_index(place: Place, *, partial: bool = False) -> IndexReader:
    """Open an index.

    Args:
        place: Its folder or address.
        partial: Whether answers of a cluster may lack shards; see `IndexReader.missing`.

    Raises:
        BrokenIndexError: There is none, or it cannot be used.
        ClusterError: A cluster gives no answer.
    """
    if is_address(place):
        from sicetnon.cluster.reader import ClusterReader

        return ClusterReader.open(place, partial=partial)
    from sicetnon.index.reader import IndexReader

    return IndexReader.open(_folder(place))


def manifest_at(place: Place) -> Manifest:
    """The description of an index.

    Raises:
        BrokenIndexError: There is none, or it cannot be used.
    """
    if is_address(place):
        with open_index(place) as index:
            return index.manifest
    from sicetnon.index.manifest import read_manifest

    return read_manifest(_folder(place))


def build_at(
    corpus: Corpus, place: Place, options: BuildOptions, loading: ClusterOptions | None = None
) -> None:
    """Build an index, in place of the one that may be there; see `build_index`.

    Args:
        corpus: The documents.
        place: The index.
        options: As for any index.
        loading: How documents are loaded into a cluster.
    """
    if is_address(place):
        from sicetnon.cluster.build import build_on_cluster

        build_on_cluster(corpus, parse_address(place), options, loading)
        return
    from sicetnon.index.writing import build_index

    build_index(corpus, _folder(place), options)


def add_at(
    corpus: Corpus,
    place: Place,
    options: BuildOptions,
    replace: bool = False,
    loading: ClusterOptions | None = None,
) -> None:
    """Add documents to an index; see `add_documents`.

    Args:
        corpus: The documents.
        place: The index.
        options: As for any index.
        replace: Whether a document whose id is in the index takes the place of that one.
        loading: How documents are loaded into a cluster.
    """
    if is_address(place):
        from sicetnon.cluster.update import add_on_cluster

        add_on_cluster(corpus, parse_address(place), options, replace, loading)
        return
    from sicetnon.index.writing import add_documents

    add_documents(corpus, _folder(place), options, replace)


def delete_at(place: Place, identifiers: Sequence[str]) -> int:
    """Delete documents by id, and return their number; see `delete_documents`."""
    if is_address(place):
        from sicetnon.cluster.update import delete_on_cluster

        return delete_on_cluster(parse_address(place), identifiers)
    from sicetnon.index.writing import delete_documents

    return delete_documents(_folder(place), identifiers)


def annotate_at(place: Place, annotators: Sequence[Annotator], progress: Callback) -> None:
    """Store what models say of the documents of an index; see `annotate_index`.

    Args:
        place: The index.
        annotators: The annotators, each of another name.
        progress: Called after every batch.
    """
    if is_address(place):
        from sicetnon.cluster.update import annotate_on_cluster

        annotate_on_cluster(parse_address(place), annotators, progress)
        return
    from sicetnon.index.annotation_writer import annotate_index

    annotate_index(_folder(place), annotators, progress)


def verify_at(place: Place) -> None:
    """Compare an index with what was written.

    Raises:
        BrokenIndexError: It differs.
    """
    if is_address(place):
        with open_index(place) as index:
            index.verify()
        return
    from sicetnon.index.reader import verify_index

    verify_index(_folder(place))


def is_taken(place: Place) -> bool:
    """Whether the cluster has an index or alias of this name."""
    from sicetnon.cluster.index_state import physical_index
    from sicetnon.cluster.transport import Connection
    from sicetnon.errors import BrokenIndexError

    with closing(Connection(parse_address(place))) as connection:
        try:
            return physical_index(connection) is not None
        except BrokenIndexError:
            return True


def facts_at(place: Place) -> list[tuple[str, str]]:
    """Facts about the size of an index, for people: names and values."""
    if is_address(place):
        from sicetnon.cluster.build import cluster_facts

        return cluster_facts(parse_address(place))
    segments = manifest_at(place).segments
    size = sum(file.size for entry in segments for file in entry.files.values())
    several = [("segments", f"{len(segments)}")] if len(segments) > 1 else []
    return [*several, ("size", readable_size(size))]


def readable_size(size: int) -> str:
    """A number of bytes with its unit."""
    return f"{size / 1e6:,.1f} MB" if size > 1e6 else f"{size / 1e3:,.1f} kB"


def _folder(place: Place) -> Path:
    if is_address(place):
        raise UsageError(f"{place}: is an address; expected a folder")
    return Path(cast(Any, place))
