"""Faults of a cluster, and what is watched meanwhile."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sicetnon.errors import SicetnonError
from sicetnon.library.index import Index
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
    """

    cluster: Cluster
    proxy: BreakingProxy

    def address(self, name: str) -> str:
        """The address of an index through the proxy; the other hosts are there, too."""
        hosts = ",".join([self.proxy.address, *self.cluster.hosts[1:]])
        return f"opensearch+http://{hosts}/{name}"

    def mend(self) -> None:
        """Undo all faults, and wait until all is well."""
        self.proxy.turn("pass")
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


def kill_a_node(site: Site) -> None:
    """Kill a node that is not the manager."""
    manager = site.cluster.manager()
    next(node for node in site.cluster.nodes if node is not manager).kill()


def kill_the_manager(site: Site) -> None:
    """Kill the elected manager."""
    site.cluster.manager().kill()


FAULTS: dict[str, Callable[[Site], None]] = {
    "a node is killed": kill_a_node,
    "the manager is killed": kill_the_manager,
    "a node is paused": pause_a_node,
    "a host hangs": lambda site: site.proxy.turn("hang"),
    "a host drops": lambda site: site.proxy.turn("drop"),
    "a host is busy": lambda site: site.proxy.turn("busy"),
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


def answers(index: Index) -> Answers:
    """The first answers to each question, with their scores."""
    return {text: _answered(index, text) for text in QUESTIONS}


def _answered(index: Index, text: str) -> list[tuple[str, float]]:
    found = index.search(text, 10, system="default", sides=False)
    return [(answer.id, answer.score) for answer in found]


@dataclass
class Watched:
    """What searches met.

    Attributes:
        right: Number of right answers.
        errors: Number of errors.
        slowest: Seconds of the slowest search.
    """

    right: int = 0
    errors: int = 0
    slowest: float = 0.0


def watch(index: Index, expected: Answers, seconds: float, right: int = 0) -> Watched:
    """Search for some time, and on until so many answers were right.

    Raises:
        AssertionError: An answer is wrong.
    """
    met, begun = Watched(), time.monotonic()
    while (passed := time.monotonic() - begun) < seconds or (met.right < right and passed < HANGS):
        text = QUESTIONS[(met.right + met.errors) % len(QUESTIONS)]
        begin = time.monotonic()
        try:
            found = _answered(index, text)
        except SicetnonError:
            met.errors += 1
        else:
            assert found == expected[text], "a wrong answer was given as a right one"
            met.right += 1
        met.slowest = max(met.slowest, time.monotonic() - begin)
    return met
