"""Recorded answers of ChatNoir as a source of pages, for the benchmarks of task 2.

Of the recorded hits all but ten are of topic 1 of 2020. No text came with them, so that snippets
stand in for texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.bench import DATA
from sicetnon.records import Ranking, Topic, WebPage
from sicetnon.services.page_sources import PageSource

TOPIC = Topic("1", "What is the difference between sex and love?")
QRELS = "touche-2020-task-2-relevance.odd-topics.qrels"
Hit = dict[str, Any]
_HIGHLIGHTED = re.compile(r"<em>(.*?)</em>")


def recorded_hits() -> list[Hit]:
    """All recorded hits, each once, as the service sent them."""
    path = DATA / "touche-2020-task-2" / "chatnoir-recorded-hits.json"
    hits = json.loads(path.read_text(encoding="utf-8"))
    return list({hit["trec_id"]: hit for hit in hits}.values())


def answers(hit: Hit, topic: Topic) -> bool:
    """Whether a hit was found for a topic: it highlights forms of the title's words alone."""
    words = tuple(re.findall(r"\w+", topic.title.lower()))
    marked = _HIGHLIGHTED.findall(f"{hit['title']} {hit['snippet']}")
    return all(word.lower().startswith(words) for word in marked)


def recorded_pages() -> PageSource:
    """The hits of topic 1 in ChatNoir's own order, whatever is asked."""
    found = sorted(
        (hit for hit in recorded_hits() if answers(hit, TOPIC)), key=lambda hit: -hit["score"]
    )
    pages = [
        WebPage(hit["trec_id"], _plain(hit["title"]), "", hit["target_uri"],
                hit["target_hostname"], hit["page_rank"], hit["spam_rank"], _plain(hit["snippet"]))
        for hit in found
    ]  # fmt: skip
    by_id = {page.id: page for page in pages}
    scores = np.array([hit["score"] for hit in found])

    class Recorded:
        def retrieve(self, topics: Sequence[Topic], k: int) -> list[Ranking]:
            return [Ranking(topic, tuple(by_id), scores) for topic in topics]

    def read(ranking: Ranking) -> list[WebPage]:
        return [by_id[name] for name in ranking.ids]

    return PageSource(Recorded(), read, read)


def _plain(marked: str) -> str:
    return re.sub(r"</?em>", "", marked)
