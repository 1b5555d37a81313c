"""A language model that orders results: what it says counts, and nothing is ever lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sicetnon import Index, ListwiseRanker, Ranking, Topic
from sicetnon.errors import UsageError
from sicetnon.services.http import Patience

TEXTS = [f"Tenure is reason number {n}, and [1] is no order." for n in range(5)]
TOPIC = Topic("1", "Should teachers get tenure?")


class Model:
    """A chat service that answers with a text, and keeps what it was asked."""

    def __init__(self) -> None:
        self.content: Any = "[2] > [1] > [3] > [4]"
        self.status = 200
        self.asked: list[tuple[str, str | None, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                model.asked.append((self.path, self.headers["Authorization"], body))
                message = {"choices": [{"message": {"content": model.content}}]}
                self.send_response(model.status)
                self.end_headers()
                self.wfile.write(json.dumps(message).encode())

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def model() -> Iterator[Model]:
    service = Model()
    yield service
    service.server.shutdown()
    service.server.server_close()


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index.build(TEXTS) as built:
        yield built


@pytest.fixture
def ranking(index: Index) -> Ranking:
    return index.system("bm25").retrieve([TOPIC], 5)[0]


def ranker(index: Index, model: Model, folder: Path, **options: Any) -> ListwiseRanker:
    settings = {"depth": 4, "key": "secret-key", "patience": Patience(tries=1)} | options
    return ListwiseRanker(index, model.url, "any", folder / "kept.sqlite", **settings)


def test_the_order_of_the_model_counts(
    index: Index, model: Model, ranking: Ranking, tmp_path: Path
) -> None:
    found = ranker(index, model, tmp_path).apply(TOPIC, ranking)
    first, second, *rest = ranking.ids
    assert found.ids == (second, first, *rest)
    assert found.scores.tolist() == ranking.scores.tolist()
    ((path, authorisation, body),) = model.asked
    assert path == "/v1/chat/completions"
    assert authorisation == "Bearer secret-key"
    assert "secret-key" not in json.dumps(body)
    prompt = body["messages"][0]["content"]
    assert TOPIC.title in prompt
    assert prompt.count("[1]") == 2  # its own number, and the example; none of the texts


@pytest.mark.parametrize(
    ("content", "order"),
    [
        ("[4]", [3, 0, 1, 2, 4]),
        ("[3] > [3] > [9] > [0] > [2]", [2, 1, 0, 3, 4]),
        ("I cannot do that.", [0, 1, 2, 3, 4]),
        ("", [0, 1, 2, 3, 4]),
        (None, [0, 1, 2, 3, 4]),
        ({"order": [1]}, [0, 1, 2, 3, 4]),
    ],
)
def test_a_malformed_answer_loses_nothing(
    index: Index, model: Model, ranking: Ranking, tmp_path: Path, content: Any, order: list[int]
) -> None:
    model.content = content
    found = ranker(index, model, tmp_path).apply(TOPIC, ranking)
    assert found.ids == tuple(ranking.ids[place] for place in order)


def test_a_service_that_fails_leaves_the_ranking_as_it_is(
    index: Index, model: Model, ranking: Ranking, tmp_path: Path
) -> None:
    lines: list[str] = []
    model.status = 401
    assert ranker(index, model, tmp_path, say=lines.append).apply(TOPIC, ranking) == ranking
    assert "stays unchanged" in lines[0]
    assert "secret-key" not in lines[0]


def test_nothing_is_asked_twice(
    index: Index, model: Model, ranking: Ranking, tmp_path: Path
) -> None:
    once = ranker(index, model, tmp_path).apply(TOPIC, ranking)
    again = ranker(index, model, tmp_path).apply(TOPIC, ranking)
    assert once.ids == again.ids
    assert len(model.asked) == 1
    assert b"secret-key" not in (tmp_path / "kept.sqlite").read_bytes()


def test_the_budget_holds_and_a_dry_run_asks_nothing(
    index: Index, model: Model, ranking: Ranking, tmp_path: Path
) -> None:
    stage = ranker(index, model, tmp_path)
    requests, tokens, cost = stage.estimate([ranking, ranking.best(1)], price=2.0)
    assert (requests, cost) == (1, tokens * 2e-6)
    assert not model.asked
    lines: list[str] = []
    poor = ranker(index, model, tmp_path, budget=tokens - 1, say=lines.append)
    assert poor.apply(TOPIC, ranking) == ranking
    assert not model.asked
    assert "the budget of tokens is spent" in lines[0]
    rich = ranker(index, model, tmp_path, budget=tokens)
    rich.apply(TOPIC, ranking)
    assert rich.tokens == tokens
    assert len(model.asked) == 1


def test_what_cannot_be_right_is_refused(index: Index, tmp_path: Path) -> None:
    for url, options in (("ftp://x", {}), ("http://x", {"depth": 1}), ("http://x", {"words": 0})):
        with pytest.raises(UsageError):
            ListwiseRanker(index, url, "any", tmp_path / "kept.sqlite", **options)  # type: ignore[arg-type]
