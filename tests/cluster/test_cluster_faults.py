"""Nodes that die, hang or are busy, and killed clients: no wrong answer, nothing lost."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sicetnon.cluster.address import parse_address
from sicetnon.cluster.building import ClusterOptions, build_on_cluster
from sicetnon.errors import SicetnonError
from sicetnon.formats.corpora import open_corpus
from sicetnon.index.writing import BuildOptions
from sicetnon.library.index import Index
from sicetnon.text.analysis import named_analysis
from support.breaking_proxy import BreakingProxy
from support.cluster_nodes import Cluster

WORDS = ("school", "teacher", "tenure", "vote", "tax", "ban", "gun", "zoo", "animal", "food")
QUESTIONS = ["should teachers get tenure", "ban zoos", "school food tax", "gun rights vote"]
COPIES = ClusterOptions(shards=3, replicas=1, lease=1.0, batch_bytes=1 << 16)
LONGEST = 5.0
"""Seconds that a search may take on a busy machine: the three that it waits, and own work."""


@pytest.fixture(autouse=True)
def _three_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "3")


@pytest.fixture(scope="module")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three thousand documents."""
    chosen = random.Random(7)
    path = tmp_path_factory.mktemp("corpus") / "documents.jsonl"
    with path.open("w") as file:
        for number in range(3000):
            text = " ".join(chosen.choices(WORDS, k=chosen.randint(3, 60)))
            file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
    return path


@pytest.fixture
def searched(
    breakable: Cluster, corpus_file: Path, tmp_path: Path
) -> Iterator[tuple[Index, dict[str, list[tuple[str, float]]]]]:
    """An index with two copies of each shard, and what a folder answers."""
    name = f"faults-{tmp_path.name[-12:].strip('_').lower()}"
    with Index.build(corpus_file, tmp_path / "index") as folder:
        expected = {text: answered(folder, text) for text in QUESTIONS}
    index = Index.build(corpus_file, breakable.address(name), cluster=COPIES)
    assert {text: answered(index, text) for text in QUESTIONS} == expected
    yield index, expected
    index.close()
    breakable.mend()
    for physical in breakable.ask(f"{name}.*?expand_wildcards=all"):
        breakable.ask(physical, "DELETE")


def answered(index: Index, text: str) -> list[tuple[str, float]]:
    """The first answers, with their scores."""
    found = index.search(text, 10, system="default", sides=False)
    return [(answer.id, answer.score) for answer in found]


def watched(
    index: Index, expected: dict[str, list[tuple[str, float]]], seconds: float
) -> tuple[int, int, float]:
    """Search for some time: right answers, errors, and the slowest search in seconds."""
    right, errors, slowest, end = 0, 0, 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        text = QUESTIONS[(right + errors) % len(QUESTIONS)]
        begin = time.monotonic()
        try:
            found = answered(index, text)
        except SicetnonError:
            errors += 1
        else:
            assert found == expected[text], "a wrong answer was given as a right one"
            right += 1
        slowest = max(slowest, time.monotonic() - begin)
    return right, errors, slowest


def test_searches_go_on_without_a_node(
    breakable: Cluster, searched: tuple[Index, dict[str, list[tuple[str, float]]]]
) -> None:
    index, expected = searched
    manager = breakable.manager()
    other, last = [node for node in breakable.nodes if node is not manager]
    other.pause()
    right, errors, slowest = watched(index, expected, 6)
    assert slowest < LONGEST, f"paused: {right} right, {errors} errors"
    assert right > 3
    breakable.mend()
    manager.kill()
    right, errors, slowest = watched(index, expected, 6)
    assert slowest < LONGEST, f"killed: {right} right, {errors} errors"
    assert right > 3
    # with two of three nodes gone there are errors, and no answers that look right
    last.kill()
    right, errors, slowest = watched(index, expected, 4)
    assert errors > 0
    assert slowest < LONGEST
    # all is well again without a hand
    breakable.mend()
    assert {text: answered(index, text) for text in QUESTIONS} == expected


@pytest.mark.parametrize("mode", ["hang"])
def test_searches_go_on_where_one_host_cannot_be_reached(
    breakable: Cluster, searched: tuple[Index, dict[str, list[tuple[str, float]]]], mode: str
) -> None:
    index, expected = searched
    with BreakingProxy(breakable.hosts[0]) as proxy:
        hosts = ",".join([proxy.address, *breakable.hosts[1:]])
        name = str(index.folder).rpartition("/")[2]
        with Index.open(f"opensearch+http://{hosts}/{name}") as through:
            assert answered(through, QUESTIONS[0]) == expected[QUESTIONS[0]]
            proxy.turn(mode)  # type: ignore[arg-type]
            right, errors, slowest = watched(through, expected, 4)
            assert right > 3
            assert not errors
            assert slowest < LONGEST


@pytest.mark.parametrize("fault", ["kill the manager"])
def test_a_build_survives(breakable: Cluster, corpus_file: Path, fault: str) -> None:
    name = f"loaded-{time.monotonic_ns()}"
    with BreakingProxy(breakable.hosts[0]) as proxy, ThreadPoolExecutor(1) as pool:
        address = f"opensearch+http://{proxy.address},{','.join(breakable.hosts[1:])}/{name}"
        options = BuildOptions(named_analysis("porter-stop"))
        corpus = open_corpus([corpus_file])
        built = pool.submit(build_on_cluster, corpus, parse_address(address), options, COPIES)
        time.sleep(0.7)
        if fault == "busy":
            proxy.turn("busy")
            time.sleep(3)
            proxy.turn("pass")
        else:
            breakable.manager().kill()
            time.sleep(2)
        breakable.mend()
        counts = built.result(240)
    assert counts.acknowledged == 3000
    with Index.open(breakable.address(name)) as index:
        index.verify()
        assert len(index) == 3000
    for physical in breakable.ask(f"{name}.*?expand_wildcards=all"):
        breakable.ask(physical, "DELETE")


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
        "import sys; from sicetnon.cluster.building import *; import sicetnon.cluster.bulk as b;"
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


def test_a_killed_change_changes_nothing(
    new_address: Callable[[], str], corpus_file: Path, tmp_path: Path
) -> None:
    address = new_address()
    loading = ClusterOptions(shards=2, replicas=0, lease=1.0)
    with Index.build(corpus_file, address, cluster=loading) as index:
        before = answered(index, QUESTIONS[0])
        more = tmp_path / "more.jsonl"
        rows = [{"id": f"d{number}", "text": "tenure tenure tenure"} for number in range(2000)]
        more.write_text("".join(json.dumps(row) + "\n" for row in rows))
        adding = command("index", "add", more, "-o", address, "--replace", "--quiet")
        for _ in range(400):
            time.sleep(0.02)
            index.identifiers([0])
            if adding.poll() is not None:
                break
            if _has_later(index):
                adding.kill()
                break
        adding.wait()
        adding.communicate()
        if adding.returncode == -signal.SIGKILL:
            assert answered(index, QUESTIONS[0]) == before
            assert len(index) == 3000
        # the lock of the dead writer is free after a while, and what it left is removed
        changed = index.delete(["d0"])
        assert len(changed) == 2999
        changed.verify()
        changed.close()


def _has_later(index: Index) -> bool:
    """Whether documents of a change that is not committed are there."""
    from sicetnon.cluster.reader import ClusterReader

    assert isinstance(index, ClusterReader)
    body = {"query": {"range": {"added": {"gt": index.known_version[1]}}}}
    found = index._connection.ask("POST", f"/{index.known_version[0]}/_count", body)
    return bool(found["count"])


def test_two_writers_wait_for_each_other(new_address: Callable[[], str], corpus_file: Path) -> None:
    address = new_address()
    loading = ClusterOptions(shards=1, replicas=0, lease=1.0)
    with Index.build(corpus_file, address, cluster=loading) as index:
        errors: list[str] = []

        def delete(identifier: str) -> None:
            try:
                index.delete([identifier]).close()
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
