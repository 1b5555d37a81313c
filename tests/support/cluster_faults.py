"""Faults of a cluster, and what is watched meanwhile."""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sicetnon.app.index import Index
from sicetnon.errors import SicetnonError
from sicetnon.records import Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25
from support.breaking_proxy import BreakingProxy
from support.cluster_nodes import Cluster
from support.patience import HANGS

QUESTIONS = ["should teachers get tenure", "ban zoos", "school food tax", "gun rights vote"]
Answers = dict[str, list[tuple[str, float]]]
_WORDS = ("school", "teacher", "tenure", "vote", "tax", "ban", "gun", "zoo", "animal", "food")


@dataclass
class Site:
    """A cluster that can be broken, seen through a proxy before its first host.

    Attributes:
        cluster: The cluster.
        proxy: The proxy.
        undo: Undoes what the proxy and the processes do not show.
    """

    cluster: Cluster
    proxy: BreakingProxy
    undo: list[Callable[[], None]] = field(default_factory=list)

    def address(self, name: str) -> str:
        """The address of an index through the proxy; the other hosts are there, too."""
        hosts = ",".join([self.proxy.address, *self.cluster.hosts[1:]])
        return f"opensearch+http://{hosts}/{name}"

    def mend(self) -> None:
        """Undo all faults, and wait until all is well."""
        self.proxy.turn("pass")
        # copies have no place while disks are full, so this comes before waiting for them
        while self.undo:
            self.undo.pop()()
        self.cluster.mend()


@contextmanager
def site_of(cluster: Cluster) -> Iterator[Site]:
    """A proxy before a cluster; faults are undone behind."""
    with BreakingProxy(cluster.hosts[0]) as proxy:
        site = Site(cluster, proxy)
        try:
            yield site
        finally:
            site.mend()


def pause_a_node(site: Site) -> None:
    """Stop a node that is not the manager; its connections stay."""
    manager = site.cluster.manager()
    next(node for node in site.cluster.nodes if node is not manager).pause()


def pause_the_manager(site: Site) -> None:
    """Stop the elected manager; its connections stay."""
    site.cluster.manager().pause()


def kill_a_node(site: Site) -> None:
    """Kill a node that is not the manager."""
    manager = site.cluster.manager()
    next(node for node in site.cluster.nodes if node is not manager).kill()


def kill_the_manager(site: Site) -> None:
    """Kill the elected manager."""
    site.cluster.manager().kill()


def fill_disks(site: Site) -> None:
    """Let the engine find that no node has enough room, and wait until it refuses writes."""
    ask, watermark = site.cluster.ask, "cluster.routing.allocation.disk.watermark"
    names = [f"{watermark}.{name}" for name in ("low", "high", "flood_stage")]
    switches = {"cluster.routing.allocation.disk.threshold_enabled": True,
                "cluster.info.update.interval": "10s"}  # fmt: skip

    def put(settings: dict[str, object]) -> None:
        ask("_cluster/settings", "PUT", {"transient": settings})

    def blocked() -> bool:
        return "indices" in ask("_cluster/state/blocks?filter_path=blocks").get("blocks", {})

    def empty() -> None:
        put({**switches, **dict.fromkeys(names, "1mb")})
        # the engine takes back its blocks of indexes; that of making new ones it leaves
        wait_until(lambda: not blocked())
        put(dict.fromkeys([*names, *switches, "cluster.blocks.create_index"]))
        ask("_cluster/settings", "PUT", {"persistent": {"cluster.blocks.create_index": None}})

    put({**switches, **dict.fromkeys(names, "1000tb")})
    site.undo.append(empty)
    wait_until(blocked)


def fill_queues(site: Site, threads: int = 12) -> None:
    """Send more at a time than the queues of the nodes take, until it is undone."""
    end = threading.Event()
    document = '{"index":{"_index":"noise"}}\n' + json.dumps({"text": "noise " * 200}) + "\n"
    headers = {"Content-Type": "application/x-ndjson"}

    def send(number: int) -> None:
        host = site.cluster.hosts[number % len(site.cluster.hosts)]
        while not end.is_set():
            path, data = "_search?q=noise", None
            if number % 2:
                path, data = "_bulk", (document * 200).encode()
            request = urllib.request.Request(f"http://{host}/{path}", data, headers)
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(request, timeout=HANGS) as got,
            ):
                got.read()

    noise = [
        threading.Thread(target=send, args=(number,), daemon=True) for number in range(threads)
    ]
    for thread in noise:
        thread.start()

    def stop() -> None:
        end.set()
        for thread in noise:
            thread.join()
        site.cluster.ask("noise", "DELETE")

    site.undo.append(stop)


def wait_until(is_so: Callable[[], bool], seconds: float = HANGS) -> None:
    """Wait for something."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"not so after {seconds:g} s")
        time.sleep(0.2)


SMALL_QUEUES = {"thread_pool.write.queue_size": 2, "thread_pool.search.queue_size": 2}
"""Settings of nodes that refuse requests soon, with status 429."""

FAULTS: dict[str, Callable[[Site], None]] = {
    "a node is killed": kill_a_node,
    "the manager is killed": kill_the_manager,
    "a node is paused": pause_a_node,
    "the manager is paused": pause_the_manager,
    "a host hangs": lambda site: site.proxy.turn("hang"),
    "a host drops": lambda site: site.proxy.turn("drop"),
    "a host is busy": lambda site: site.proxy.turn("busy"),
    "disks are full": fill_disks,
    "queues are full": fill_queues,
}
"""What breaks a cluster of which one node or host may fail."""


def write_documents(path: Path, count: int = 3000) -> Path:
    """Documents of some words, always the same ones."""
    chosen = random.Random(7)
    with path.open("w") as file:
        for number in range(count):
            text = " ".join(chosen.choices(_WORDS, k=chosen.randint(3, 60)))
            file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
    return path


TOGETHER = "several questions in one request"


def answers(index: Index) -> Answers:
    """The first answers to each question with their scores, and to several in one request."""
    return {text: _answered(index, text) for text in (TOGETHER, *QUESTIONS)}


def _answered(index: Index, text: str) -> list[tuple[str, float]]:
    if text == TOGETHER:
        topics = [Topic(str(number), each) for number, each in enumerate(QUESTIONS * 2)]
        # each of two threads asks for four topics at once
        rankings = LocalRetriever(index, [FieldScore(BM25())], threads=2).retrieve(topics, 10)
        return [pair for each in rankings for pair in zip(each.ids, each.scores, strict=True)]
    found = index.search(text, 10, system="default", sides=False)
    return [(answer.id, answer.score) for answer in found]


@dataclass
class Watched:
    """What searches met.

    Attributes:
        right: Number of right answers.
        errors: Number of errors.
        slowest: Seconds of the slowest search for one question.
        slowest_together: Seconds of the slowest search for several questions.
        reasons: Why searches were refused.
    """

    right: int = 0
    errors: int = 0
    slowest: float = 0.0
    slowest_together: float = 0.0
    reasons: list[str] = field(default_factory=list)


def watch(index: Index, expected: Answers, seconds: float, right: int = 0) -> Watched:
    """Search for some time, and on until so many answers were right.

    Raises:
        AssertionError: An answer is wrong.
    """
    met, begun = Watched(), time.monotonic()
    while (passed := time.monotonic() - begun) < seconds or (met.right < right and passed < HANGS):
        text = list(expected)[(met.right + met.errors) % len(expected)]
        begin = time.monotonic()
        try:
            found = _answered(index, text)
        except SicetnonError as error:
            met.errors += 1
            met.reasons.append(str(error))
        else:
            assert found == expected[text], "a wrong answer was given as a right one"
            met.right += 1
        taken = time.monotonic() - begin
        if text == TOGETHER:
            met.slowest_together = max(met.slowest_together, taken)
        else:
            met.slowest = max(met.slowest, taken)
    return met
