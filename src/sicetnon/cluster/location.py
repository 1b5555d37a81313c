"""An index at its location: a folder or a cluster; `index_store` opens, builds and changes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sicetnon.cluster.address import Address, Location, is_address, parse_address
from sicetnon.contracts import IndexStore

if TYPE_CHECKING:
    from sicetnon.cluster.build import ClusterOptions
    from sicetnon.contracts import OpenIndex
    from sicetnon.formats.corpora import Corpus
    from sicetnon.index.annotations import Annotator, Callback
    from sicetnon.index.manifest import Manifest
    from sicetnon.index.reader import IndexReader
    from sicetnon.index.writing import BuildOptions


def index_store(location: Location, loading: ClusterOptions | None = None) -> IndexStore:
    """The index in a folder or at an address, whether it is there or not."""
    if is_address(location):
        return ClusterStore(parse_address(location), loading)
    return FolderStore(Path(cast(Path, location)))


def open_index(location: Location, *, partial: bool = False) -> IndexReader:
    """Open an index; `partial` allows answers of a cluster that lack shards."""
    # the rooms above still name the class where the protocol would do
    return cast("IndexReader", index_store(location).open(partial=partial))


# both import late: to open an index takes fewer modules than to build one


class FolderStore:
    """An index in a folder."""

    is_remote = False

    def __init__(self, folder: Path):
        self.location = folder

    def exists(self) -> bool:
        """Whether the folder has an index."""
        from sicetnon.index.manifest import MANIFEST

        return (self.location / MANIFEST).exists()

    def open(self, *, partial: bool = False) -> OpenIndex:
        """Open the index, whose answers are complete always."""
        from sicetnon.index.reader import IndexReader

        return IndexReader.open(self.location)

    def manifest(self) -> Manifest:
        """The description of the index."""
        from sicetnon.index.manifest import read_manifest

        return read_manifest(self.location)

    def build(self, corpus: Corpus, options: BuildOptions) -> None:
        """Build the index, in place of the one that may be there."""
        from sicetnon.index.writing import build_index

        build_index(corpus, self.location, options)

    def add(self, corpus: Corpus, options: BuildOptions, replace: bool = False) -> None:
        """Add documents."""
        from sicetnon.index.writing import add_documents

        add_documents(corpus, self.location, options, replace)

    def delete(self, identifiers: Sequence[str]) -> int:
        """Delete documents by id, and return their number."""
        from sicetnon.index.writing import delete_documents

        return delete_documents(self.location, identifiers)

    def annotate(self, annotators: Sequence[Annotator], progress: Callback) -> None:
        """Store the numbers of models for each document."""
        from sicetnon.index.writing import annotate_index

        annotate_index(self.location, annotators, progress)

    def verify(self) -> str:
        """Compare the checksums of all files."""
        from sicetnon.index.reader import verify_index

        verify_index(self.location)
        return "files"

    def facts(self) -> list[tuple[str, str]]:
        """The number of segments and the size."""
        segments = self.manifest().segments
        size = sum(file.size for entry in segments for file in entry.files.values())
        readable = f"{size / 1e6:,.1f} MB" if size > 1e6 else f"{size / 1e3:,.1f} kB"
        several = [("segments", f"{len(segments)}")] if len(segments) > 1 else []
        return [*several, ("size", readable)]


class ClusterStore:
    """An index on a cluster."""

    is_remote = True

    def __init__(self, address: Address, loading: ClusterOptions | None = None):
        self.location, self._loading = address, loading

    def exists(self) -> bool:
        """Whether the cluster has an index or alias of this name."""
        from sicetnon.cluster.index_state import physical_index
        from sicetnon.cluster.transport import Connection
        from sicetnon.errors import BrokenIndexError

        with closing(Connection(self.location)) as connection:
            try:
                return physical_index(connection) is not None
            except BrokenIndexError:
                return True

    def open(self, *, partial: bool = False) -> OpenIndex:
        """Open the index, which follows changes."""
        from sicetnon.cluster.remote_index import ClusterReader

        return ClusterReader.open(self.location, partial=partial)

    def manifest(self) -> Manifest:
        """The description of the index."""
        with self.open() as index:
            return index.manifest

    def build(self, corpus: Corpus, options: BuildOptions) -> None:
        """Build the index, in place of the one that may be there."""
        from sicetnon.cluster.build import build_on_cluster

        build_on_cluster(corpus, self.location, options, self._loading)

    def add(self, corpus: Corpus, options: BuildOptions, replace: bool = False) -> None:
        """Add documents."""
        from sicetnon.cluster.update import add_on_cluster

        add_on_cluster(corpus, self.location, options, replace, self._loading)

    def delete(self, identifiers: Sequence[str]) -> int:
        """Delete documents by id, and return their number."""
        from sicetnon.cluster.update import delete_on_cluster

        return delete_on_cluster(self.location, identifiers, self._loading)

    def annotate(self, annotators: Sequence[Annotator], progress: Callback) -> None:
        """Store the numbers of models for each document."""
        from sicetnon.cluster.update import annotate_on_cluster

        annotate_on_cluster(self.location, annotators, progress, self._loading)

    def verify(self) -> str:
        """Compare all documents with the counts and checksums of the state."""
        with self.open() as index:
            index.verify()
        return "documents"

    def facts(self) -> list[tuple[str, str]]:
        """Shards, copies and size, and builds that were stopped."""
        from sicetnon.cluster.build import cluster_facts

        return cluster_facts(self.location)
