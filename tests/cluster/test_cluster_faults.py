"""Nodes that die, hang or are busy, and killed clients: no wrong answer, nothing lost.

`python -m tests.robustness clusters` breaks a cluster in each way twenty times.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sicetnon.app.index import Index
from sicetnon.cluster.address import parse_address
from sicetnon.cluster.build import ClusterOptions, build_on_cluster
from sicetnon.cluster.bulk import BulkCounts
from sicetnon.cluster.index_state import WriterLock
from sicetnon.cluster.transport import Connection
from sicetnon.cluster.update import delete_on_cluster
from sicetnon.errors import SicetnonError
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.writing import BuildOptions
from sicetnon.text.analysis import named_analysis
from support.breaking_proxy import Mode
from support.cluster_faults import (
    Answers,
    Site,
    answers,
    kill_the_manager,
    site_of,
    watch,
    write_documents,
)
from support.cluster_nodes import Cluster
from support.patience import HANGS

COPIES = ClusterOptions(shards=3, replicas=1, lease=1.0)
# on a busy machine, a node that was killed needs longer than usual until it takes copies
SMALL_BATCHES = replace(COPIES, batch_bytes=1 << 14, placing_seconds=HANGS)
WAITS = 3.0
"""Seconds that a search waits for nodes at most."""


def longest(index: Index, expected: Answers) -> float:
    """Seconds that a search may take: those that it waits, and its own work, which it does twice.

    How long the work takes on this machine at present is tried, and is never less than a second.
    """
    return WAITS + 2 * max(1.0, watch(index, expected, 1, right=4).slowest)


@pytest.fixture(autouse=True)
def _usual_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SICETNON_CLUSTER_SECONDS")


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three thousand documents."""
    return write_documents(tmp_path_factory.mktemp("corpus") / "documents.jsonl")


@pytest.fixture(scope="module")
def expected(corpus_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """What a folder answers."""
    with Index.build(corpus_file, tmp_path_factory.mktemp("folder") / "index") as folder:
        return answers(folder)


@contextmanager
def searched(
    cluster: Cluster, corpus_file: Path, options: ClusterOptions = COPIES
) -> Iterator[tuple[Site, Index]]:
    """An index with two copies of each shard or as said, which a proxy stands before."""
    name = f"faults-{time.monotonic_ns()}"
    try:
        with site_of(cluster) as site, \
                Index.build(corpus_file, site.address(name), cluster=options) as index:  # fmt: skip
            yield site, index
    finally:
        cluster.remove(name)


@contextmanager
def loading(site: Site, corpus_file: Path) -> Iterator[tuple[str, Future[BulkCounts]]]:
    """A build that goes on meanwhile, and what became of it."""
    name = f"loaded-{time.monotonic_ns()}"
    address = parse_address(site.address(name))
    options, corpus = BuildOptions(named_analysis("porter-stop")), open_corpus([corpus_file])
    with ThreadPoolExecutor(1) as pool:
        try:
            built = pool.submit(build_on_cluster, corpus, address, options, SMALL_BATCHES)
            while not site.cluster.ask(f"{name}.*?expand_wildcards=all") and not built.done():
                time.sleep(0.02)
            yield name, built
        finally:
            site.mend()
            built.exception(HANGS)
            site.cluster.remove(name)


def is_whole(cluster: Cluster, name: str, counts: BulkCounts, expected: Answers) -> None:
    """Nothing that was acknowledged is lost, and nothing is double."""
    assert counts.acknowledged == 3000
    with Index.open(cluster.address(name)) as index:
        index.verify()
        assert len(index) == 3000
        assert answers(index) == expected


def test_searches_go_on_while_a_node_is_paused(
    breakable: Cluster, corpus_file: Path, expected: Answers
) -> None:
    with searched(breakable, corpus_file) as (site, index):
        limit = longest(index, expected)
        manager = breakable.manager()
        first, second = [node for node in breakable.nodes if node is not manager]
        first.pause()
        met = watch(index, expected, 5, right=4)
        assert met.right > 3, met
        assert not met.errors, met
        assert met.slowest < limit, met
        assert met.slowest_together < 2 * WAITS + limit, met
        # with two of three nodes gone there are errors, and no answers that look right
        second.pause()
        met = watch(index, expected, 4)
        assert met.errors > 0, met
        assert met.slowest < limit, met
        # all is well again without a hand
        site.mend()
        assert watch(index, expected, 4, right=4).right > 3


def test_an_index_opens_while_the_manager_is_paused(
    breakable: Cluster, corpus_file: Path, expected: Answers
) -> None:
    with searched(breakable, corpus_file) as (_, index):
        limit = longest(index, expected)
        breakable.manager().pause()
        begin = time.monotonic()
        with Index.open(index.folder) as opened:
            # to open it is one more thing to wait for
            assert time.monotonic() - begin < limit
            met = watch(opened, expected, 4, right=4)
        assert met.right > 3, met
        assert not met.errors, met
        assert met.slowest < limit, met


def test_searches_and_a_build_go_on_without_the_manager(
    breakable: Cluster, corpus_file: Path, expected: Answers
) -> None:
    with (
        searched(breakable, corpus_file) as (site, index),
        loading(site, corpus_file) as (name, built),
    ):
        limit = longest(index, expected)
        kill_the_manager(site)
        met = watch(index, expected, 5, right=4)
        assert met.right > 3, met
        assert met.slowest < limit, met
        site.mend()
        is_whole(breakable, name, built.result(HANGS), expected)


@pytest.mark.parametrize("mode", ["hang", "drop"])
def test_searches_go_on_where_one_host_fails(
    cluster: Cluster, corpus_file: Path, expected: Answers, mode: Mode
) -> None:
    with searched(cluster, corpus_file) as (site, index):
        limit = longest(index, expected)
        site.proxy.turn(mode)
        met = watch(index, expected, 3, right=4)
        assert met.right > 3, met
        assert not met.errors, met
        assert met.slowest < limit, met
        # a change of the index is met while a host is left alone
        site.proxy.turn("pass")
        index.add([{"id": "new", "text": "unheard words"}]).close()
        site.proxy.turn(mode)
        found = index.search("unheard words", system="default", sides=False)
        assert [answer.id for answer in found] == ["new"]


def test_searches_reach_the_only_copy_of_a_shard_where_its_host_fails(
    cluster: Cluster, corpus_file: Path, expected: Answers
) -> None:
    with searched(cluster, corpus_file, replace(COPIES, replicas=0)) as (site, index):
        limit = longest(index, expected)
        # its node still answers other nodes
        site.proxy.turn("hang")
        met = watch(index, expected, 3, right=4)
        assert met.right > 3, met
        assert not met.errors, met
        assert max(met.slowest, met.slowest_together) < limit, met


@pytest.mark.parametrize("mode", ["drop", "busy"])
def test_a_build_goes_on_where_one_host_fails(
    cluster: Cluster, corpus_file: Path, expected: Answers, mode: Mode
) -> None:
    with site_of(cluster) as site, loading(site, corpus_file) as (name, built):
        site.proxy.turn(mode)
        is_whole(cluster, name, built.result(HANGS), expected)


def test_a_build_waits_while_disks_are_full(
    cluster: Cluster, corpus_file: Path, expected: Answers
) -> None:
    with site_of(cluster) as site, loading(site, corpus_file) as (name, built):
        # this is what the engine does at its last watermark
        block = "index.blocks.read_only_allow_delete"
        cluster.ask(f"{name}.*/_settings?expand_wildcards=all", "PUT", {block: True})
        time.sleep(1)
        assert not built.done()
        cluster.ask(f"{name}.*/_settings?expand_wildcards=all", "PUT", {block: None})
        is_whole(cluster, name, built.result(HANGS), expected)


def test_a_cluster_that_makes_no_index_says_so(breakable: Cluster) -> None:
    # this is what the engine does where all disks are nearly full
    block = "cluster.blocks.create_index"
    breakable.ask("_cluster/settings", "PUT", {"transient": {block: True}})
    try:
        with pytest.raises(SicetnonError, match="are the disks of its nodes full"):
            Index.build(["school uniforms"], breakable.address("never"), cluster=COPIES)
    finally:
        breakable.ask("_cluster/settings", "PUT", {"transient": {block: None}})


def test_more_copies_than_nodes_are_refused_before_anything_is_loaded(
    cluster: Cluster, new_address: Callable[[], str], corpus_file: Path
) -> None:
    address = new_address()
    name = address.rpartition("/")[2]
    Index.build(["school uniforms"], address, cluster=COPIES).close()
    before = cluster.ask(f"{name}.*")
    told: list[str] = []
    many = replace(COPIES, replicas=5, placing_seconds=6.0, message=told.append)
    with pytest.raises(SicetnonError, match=r"only 9 of 18 copies .* nothing was loaded"):
        Index.build(corpus_file, address, cluster=many)
    assert told == ["9 of 18 copies of shards are there; waiting up to 6 seconds for the others"]
    assert cluster.ask(f"{name}.*") == before


def test_a_build_that_was_stopped_while_copies_were_placed_places_them_again(
    new_address: Callable[[], str], corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = new_address()
    many = replace(COPIES, replicas=5, placing_seconds=0.0)
    with monkeypatch.context() as patch:
        # as a kill would leave it
        patch.setattr("sicetnon.cluster.build._Build._remove", lambda *_: None)
        with pytest.raises(SicetnonError, match="nothing was loaded"):
            Index.build(corpus_file, address, cluster=many)
    with pytest.raises(SicetnonError, match="nothing was loaded"):
        Index.build(corpus_file, address, cluster=many)
    Index.build(corpus_file, address, cluster=COPIES).close()


def test_a_build_that_waited_in_vain_for_copies_keeps_those_that_are_there(
    cluster: Cluster, new_address: Callable[[], str], corpus_file: Path
) -> None:
    address = new_address()
    name = address.rpartition("/")[2]

    def build(replicas: int) -> None:
        loading = ClusterOptions(shards=1, replicas=replicas, lease=1.0, copies_seconds=0.0)
        Index.build(corpus_file, address, cluster=loading).close()

    def counts(_: str) -> None:
        found = cluster.ask(f"{name}.*/_settings?expand_wildcards=all")
        replicas.update(each["settings"]["index"]["number_of_replicas"] for each in found.values())

    replicas: set[str] = set()
    # a build is resumed with the same number of shards, whatever its copies
    with pytest.raises(SicetnonError, match="the same command resumes"):
        build(1)
    resumed = ClusterOptions(shards=1, replicas=1, lease=1.0, message=counts)
    Index.build(corpus_file, address, cluster=resumed).close()
    assert replicas == {"1"}


def command(*arguments: object) -> subprocess.Popen[str]:
    """Start the command line in a process of its own."""
    words = [sys.executable, "-m", "sicetnon", *map(str, arguments)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_killed_build_is_resumed_without_sending_twice(
    new_address: Callable[[], str], cluster: Cluster, corpus_file: Path
) -> None:
    address = parse_address(new_address())
    options = BuildOptions(named_analysis("porter-stop"))
    loading = ClusterOptions(shards=2, replicas=0, lease=1.0, workers=1, batch_bytes=1 << 15)
    program = (
        "import sys; from sicetnon.cluster.build import *; import sicetnon.cluster.bulk as b;"
        "from sicetnon.formats.corpora import open_corpus; import time, os, signal;"
        "from sicetnon.cluster.address import parse_address;"
        "from sicetnon.text.analysis import named_analysis; sent = []; old = b.BulkLoader._bulk\n"
        "def bulk(self, data):\n"
        "    answer = old(self, data); sent.append(1)\n"
        "    if len(sent) > 5: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return answer\n"
        "b.BulkLoader._bulk = bulk\n"
        "build_on_cluster(open_corpus([sys.argv[1]]), parse_address(sys.argv[2]),"
        "BuildOptions(named_analysis('porter-stop')), ClusterOptions(shards=2, replicas=0,"
        "lease=1.0, workers=1, batch_bytes=1 << 15))"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(corpus_file), str(address)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(SicetnonError, match="no such index"):
        Index.open(address)
    said: list[str] = []
    again = ClusterOptions(**{**vars(loading), "message": said.append})
    counts = build_on_cluster(open_corpus([corpus_file]), address, options, again)
    assert said == ["resuming the build that was stopped"]
    assert counts.acknowledged == 3000
    assert 0 < counts.sent < 3000
    with Index.open(address) as index:
        index.verify()


def test_a_killed_change_is_whole_or_not_there(
    new_address: Callable[[], str], corpus_file: Path, tmp_path: Path
) -> None:
    address = new_address()
    loading = ClusterOptions(shards=2, replicas=0, lease=1.0)
    more = tmp_path / "more.jsonl"
    rows = [{"id": f"d{number}", "text": "tenure tenure tenure"} for number in range(2000)]
    more.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Index.build(corpus_file, tmp_path / "index") as folder:
        before = answers(folder)
        with folder.add(more, replace=True) as changed:
            after = answers(changed)
    with Index.build(corpus_file, address, cluster=loading) as index:
        version = _version(index)
        adding = command("index", "add", more, "-o", address, "--replace", "--quiet")
        while adding.poll() is None and not _has_later(index):
            time.sleep(0.02)
        adding.kill()
        adding.communicate()
        assert adding.returncode in (0, -signal.SIGKILL)
    # the lock of the dead writer is free after a while, and what it left is removed
    assert delete_on_cluster(parse_address(address), ["no such id"], loading) == 0
    with Index.open(address) as changed:
        # the kill may have come after the one write that commits
        assert answers(changed) == (before if _version(changed) == version else after)
        assert len(changed) == 3000
        changed.verify()


def test_a_client_killed_while_it_searches_harms_no_other(
    cluster: Cluster, new_address: Callable[[], str], corpus_file: Path, expected: Answers
) -> None:
    address = new_address()
    loading = ClusterOptions(shards=2, replicas=0, lease=1.0)
    with Index.build(corpus_file, address, cluster=loading) as index:
        program = (
            "import sys; from sicetnon.app.index import Index\n"
            "index = Index.open(sys.argv[1])\n"
            "while True:\n"
            "    index.search('school vote tax', 3000, system='default', sides=False)\n"
            "    print('one', flush=True)"
        )
        words = [sys.executable, "-c", program, address]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == b"one\n"
            client.kill()
        met = watch(index, expected, 1)
        assert met.right, met
        assert not met.errors, met


def test_a_lock_whose_answer_was_lost_is_ones_own(
    new_address: Callable[[], str], corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, ask, writes = new_address(), Connection.ask, list[str]()

    def twice(connection: Connection, method: str, path: str, *rest: Any, **more: Any) -> Any:
        if method == "PUT" and path.endswith("sicetnon%20lock"):
            # a node dies behind the write, and the request is sent to another one
            writes.append(path)
            ask(connection, method, path, *rest, **more)
        return ask(connection, method, path, *rest, **more)

    monkeypatch.setattr(Connection, "ask", twice)
    loading = ClusterOptions(shards=1, replicas=0, lease=0.2, workers=1, batch_bytes=1 << 14)
    with Index.build(corpus_file, address, cluster=loading) as index:
        assert len(index) == 3000
    # the lock was taken, and shown to be in use
    assert len(writes) > 2


def test_a_build_that_another_process_finished_is_left_alone(
    new_address: Callable[[], str], corpus_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, take = new_address(), WriterLock.__init__
    loading = ClusterOptions(shards=1, replicas=0, lease=0.2)

    def late(*given: Any) -> None:
        # another process resumes the build that was just begun, and finishes it
        monkeypatch.setattr(WriterLock, "__init__", take)
        Index.build(corpus_file, address, cluster=loading).close()
        take(*given)

    monkeypatch.setattr(WriterLock, "__init__", late)
    with pytest.raises(SicetnonError, match="another process has just finished this build"):
        Index.build(corpus_file, address, cluster=loading)
    with Index.open(address) as index:
        assert len(index) == 3000


def _version(index: Index) -> tuple[str, int]:
    """The engine's index and the number of its last change."""
    from sicetnon.cluster.remote_index import ClusterReader

    assert isinstance(index, ClusterReader)
    return index.known_version


def _has_later(index: Index) -> bool:
    """Whether documents of a change that is not committed are there."""
    from sicetnon.cluster.remote_index import ClusterReader

    assert isinstance(index, ClusterReader)
    name, change = index.known_version
    found = index._connection.ask(
        "POST", f"/{name}/_count", {"query": {"range": {"added": {"gt": change}}}}
    )
    return bool(found["count"])


def test_two_writers_wait_for_each_other(new_address: Callable[[], str], corpus_file: Path) -> None:
    address = new_address()
    loading = ClusterOptions(shards=1, replicas=0, lease=1.0)
    Index.build(corpus_file, address, cluster=loading).close()
    errors: list[str] = []

    def delete(identifier: str) -> None:
        try:
            delete_on_cluster(parse_address(address), [identifier], loading)
        except SicetnonError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=delete, args=(f"d{n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Index.open(address) as now:
        now.verify()
        assert len(now) == 3000 - 2 + len(errors)
        assert all("another process" in error for error in errors)
