"""A cluster for a measurement: nodes on loopback, started with the engine of the tests."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.cluster_nodes import Cluster, start_cluster

HEAP = "640m"


@contextlib.contextmanager
def started(count: int) -> Iterator[Cluster]:
    """A cluster of so many nodes, each with a heap of 640 MB, that ends with the block."""
    options = [f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseSerialGC"]
    options += ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = start_cluster(Path(folder), count, java_options=options, is_prepared=False)
        try:
            yield cluster
        finally:
            cluster.stop()
