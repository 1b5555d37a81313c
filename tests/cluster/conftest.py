"""One cluster for all tests of this folder, also where several processes run them.

`SICETNON_TEST_CLUSTER` names the hosts of a cluster of one's own: `host:9200,host:9200`.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from sicetnon.cluster.build import ClusterOptions
from support.cluster_nodes import Cluster, Node, start_cluster
from support.engine import required_java

LOADING = ClusterOptions(shards=2, replicas=0, lease=1.0)
"""Small indexes need no copies, and a dead writer is noticed soon."""


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test session share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cluster"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def cluster_of_session(shared_folder: Path) -> Iterator[Cluster]:
    """A cluster of three nodes: started by the first process that asks, stopped by the last."""
    pytest.importorskip("opensearchpy", reason="no cluster: install the extra cluster")
    if hosts := os.environ.get("SICETNON_TEST_CLUSTER"):
        yield Cluster([], hosts.split(","))
        return
    required_java()  # skips the tests where no node can be started
    with _users(shared_folder) as users:
        users["count"] = users.get("count", 0) + 1
        if "nodes" not in users:
            started = start_cluster(shared_folder / f"nodes-{os.getpid()}")
            users["nodes"] = [
                [each.name, str(each.folder), each.port, list(each.command)]
                for each in started.nodes
            ]
        nodes = [
            Node(name, Path(folder), port, command)
            for name, folder, port, command in users["nodes"]
        ]
    cluster = Cluster(nodes, [f"127.0.0.1:{node.port}" for node in nodes])
    yield cluster
    with _users(shared_folder) as users:
        users["count"] -= 1
        if not users["count"]:
            cluster.stop()
            del users["nodes"]


@contextmanager
def _users(folder: Path) -> Iterator[dict]:
    """What all processes know of the cluster; one at a time may change it."""
    path = folder / "users.json"
    with (folder / "users.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(path.read_text()) if path.exists() else {}
        yield known
        path.write_text(json.dumps(known))


@pytest.fixture
def cluster(cluster_of_session: Cluster, shared_folder: Path) -> Iterator[Cluster]:
    """The cluster, which nobody breaks meanwhile."""
    with whole(shared_folder):
        yield cluster_of_session


@pytest.fixture
def breakable(cluster_of_session: Cluster, shared_folder: Path) -> Iterator[Cluster]:
    """The cluster for this test alone, which may break it, and finds it whole."""
    if not cluster_of_session.nodes:
        pytest.skip("a cluster of one's own is not broken")
    with _held(shared_folder, fcntl.LOCK_EX):
        yield cluster_of_session
        cluster_of_session.mend()


def whole(folder: Path) -> AbstractContextManager[None]:
    """Keep other processes from breaking the cluster meanwhile."""
    return _held(folder, fcntl.LOCK_SH)


@contextmanager
def _held(folder: Path, how: int) -> Iterator[None]:
    with (folder / "use.lock").open("a") as lock:
        fcntl.flock(lock, how)
        yield


@pytest.fixture
def new_address(cluster: Cluster) -> Iterator[Callable[[], str]]:
    """Gives the address of an index that is not there yet, and removes it after the test."""
    names: list[str] = []

    def give() -> str:
        names.append(f"test-{uuid.uuid4().hex[:12]}")
        return cluster.address(names[-1])

    yield give
    for name in names:
        cluster.remove(name)


@pytest.fixture(scope="session", autouse=True)
def _patient() -> Iterator[None]:
    """Let busy machines take their time; the tests of faults take the usual limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SICETNON_CLUSTER_SECONDS", "60")
        yield
