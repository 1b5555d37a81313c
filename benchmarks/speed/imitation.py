"""A local server in place of ChatNoir, fed with what was recorded of it.

Of the recorded hits those stand first that hold most words of a question; texts were not recorded,
so that texts of other web pages, of a usual length, take their place.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.bench import DATA
from benchmarks.recorded import recorded_hits

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from support.service_double import ServiceDouble

_LEAST_LETTERS = 4
# more than any recorded score, so that words come first
_ONE_WORD = 10_000


def web_texts() -> dict[str, str]:
    """Texts of web pages by their ids: the passages of 2022, put together."""
    path = DATA / "touche-2022-task-2" / "input" / "passages.jsonl.gz"
    texts: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            passage = json.loads(line)
            texts.setdefault(passage["id"].partition("___")[0], []).append(passage["contents"])
    return {name: "\n".join(parts) for name, parts in texts.items()}


class RecordedService(ServiceDouble):
    """Answers in ChatNoir's shapes, from what was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._hits = recorded_hits()
        self._words = [_words(f"{hit['title']} {hit['snippet']}") for hit in self._hits]
        self._texts = list(web_texts().values())
        places = enumerate(self._hits)
        self._text_of = {hit["uuid"]: place % len(self._texts) for place, hit in places}

    def chatnoir(self, body: dict[str, Any]) -> dict[str, Any]:
        """One page of results."""
        asked = _words(body["query"])
        found = [
            hit | {"score": hit["score"] + _ONE_WORD * len(asked & words)}
            for hit, words in zip(self._hits, self._words, strict=True)
        ]
        found.sort(key=lambda hit: -hit["score"])
        meta = {"query_time": 1, "total_results": len(found), "indices": body["index"]}
        return {"meta": meta, "results": found[body["from"] : body["from"] + body["size"]]}

    def text(self, identifier: str) -> str:
        """The text of a page."""
        return self._texts[self._text_of[identifier]]


def _words(text: str) -> frozenset[str]:
    plain = re.sub(r"</?em>", "", text).lower()
    return frozenset(word for word in re.findall(r"\w+", plain) if len(word) >= _LEAST_LETTERS)
