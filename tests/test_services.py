from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Iterator
from email.utils import format_datetime
from pathlib import Path

import numpy as np
import pytest

from service_double import ServiceDouble, trec_id
from sicetnon.cli import main
from sicetnon.errors import DataError, ServiceError, SicetnonError, UsageError
from sicetnon.records import Argument, Topic, WebPage
from sicetnon.retrieval.api_key import ApiKey
from sicetnon.retrieval.argsme_api import ArgsMeRetriever
from sicetnon.retrieval.chatnoir import ChatNoirRetriever, page_uuid
from sicetnon.retrieval.pace import Clock, Pace, Patience
from sicetnon.retrieval.remote import retry_after
from sicetnon.retrieval.response_cache import ResponseCache
from sicetnon.text.markup import without_markup

KEY = 'k3y/with"odd+letters-5f1c'
TEA = Topic("1", "Which is better,\n tea or coffee?")
MILK = Topic("2", "Should milk go in first?")
# faults are tested without waiting: the rate does not matter, chance is out
QUICK = Patience(tries=4, first_wait=1.0, timeout=0.5, per_second=1e6, jitter=0.0)


class PatientClock(Clock):
    """Waiting takes no time, and is noted."""

    def __init__(self) -> None:
        self.slept = 0.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept += seconds


class Setting:
    """A retriever of each kind, on one double and one cache."""

    def __init__(self, folder: Path):
        self.cache = folder / "kept" / "answers.sqlite"
        self.said: list[str] = []
        self.progress: list[tuple[str, int, int]] = []
        self.clock = PatientClock()

    def chatnoir(self, double: ServiceDouble, key: str | None = KEY) -> ChatNoirRetriever:
        return ChatNoirRetriever(
            self.cache,
            key,
            double.url,
            progress=lambda *step: self.progress.append(step),
            say=self.said.append,
            patience=QUICK,
            clock=self.clock,
        )

    def argsme(self, double: ServiceDouble) -> ArgsMeRetriever:
        return ArgsMeRetriever(self.cache, double.url, self.said.append, QUICK, self.clock)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


@pytest.fixture
def double() -> Iterator[ServiceDouble]:
    with ServiceDouble() as server:
        yield server


class TestChatNoir:
    def test_finds_pages_in_the_documented_shape(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking, other = retriever.retrieve([TEA, MILK], 10)
        assert ranking.topic is TEA
        assert ranking.names == tuple(trec_id(n) for n in range(10))
        assert ranking.scores.tolist() == [1000.0 - n for n in range(10)]
        assert ranking.scores.dtype == np.float64
        assert ranking.documents.dtype == np.int64
        assert other.documents.tolist() == list(range(10, 20))
        method, path, body = double.requests[0]
        assert (method, path) == ("POST", "/api/v1/_search")
        assert body == {
            "apikey": KEY,
            "query": "Which is better, tea or coffee?",
            "index": ["cw12"],
            "from": 0,
            "size": 10,
            "search_method": "default",
            "explain": False,
        }
        assert setting.progress == [("topics", 1, 2), ("topics", 2, 2)]
        assert setting.said == []

    def test_pages_hold_what_the_search_says_of_them(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([MILK], 4)[0]
        page = retriever.hits(ranking.documents)[3]
        assert page == WebPage(
            id=trec_id(3),
            title="Page 3 & tea",
            text="",
            url="http://www.example.org/3",
            host="www.example.org",
            page_rank=None,
            spam_rank=80,
            snippet="On Should milk go in first?: tea is <cheap>",
            uuid=page_uuid(trec_id(3)),
        )
        assert page.default_text() == f"{page.title}\n{page.snippet}"
        assert double.asked("GET") == 0

    def test_records_fetch_texts_once(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 8)[0]
        numbers = ranking.documents[[5, 0, 5]]
        pages = retriever.records(numbers)
        assert [page.id for page in pages] == [trec_id(5), trec_id(0), trec_id(5)]
        assert pages[0].text == f"The page {page_uuid(trec_id(5))} weighs tea against coffee."
        assert pages[0].default_text().startswith("Page 5 & tea\nThe page")
        assert double.asked("GET") == 2
        what = "pages of topic 1 of 1"
        assert setting.progress[-2:] == [(what, 1, 2), (what, 2, 2)]
        assert retriever.records(numbers) == pages
        assert double.asked("GET") == 2
        uuid = page_uuid(trec_id(5))
        assert f"/cache?uuid={uuid}&index=cw12&raw&plain" in {
            path for _, path, _ in double.requests
        }

    def test_the_uuid_is_the_one_that_chatnoir_gives(self, data: Path) -> None:
        hits = json.loads((data / "touche-2020-task-2/chatnoir-recorded-hits.json").read_bytes())
        assert all(page_uuid(hit["trec_id"]) == hit["uuid"] for hit in hits)

    def test_recorded_hits_are_understood(self, data: Path) -> None:
        from sicetnon.retrieval.chatnoir import _page, _read_results

        hits = json.loads((data / "touche-2020-task-2/chatnoir-recorded-hits.json").read_bytes())
        answer = {"meta": {"query_time": 1, "total_results": len(hits)}, "results": hits}
        found, total = _read_results(json.dumps(answer).encode())
        assert total == len(found) == 1010
        pages = [_page(name, hit) for name, hit in found]
        # one title really holds the tag, written &lt;em&gt;
        assert sum("<em>" in page.title + page.snippet for page in pages) == 1
        assert [page.url for page in pages] == [hit["target_uri"] for hit in hits]

    def test_texts_may_come_as_html(self, double, setting) -> None:
        double.markup = True
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        assert retriever.records(ranking.documents)[0].text.startswith("The page")

    def test_any_text_is_a_query(self, double, setting) -> None:
        titles = ['"', "a && (b", "\ud800 ☕", "50% of teas?", "\x00", "  "]
        rankings = setting.chatnoir(double).retrieve(
            [Topic(str(n), t) for n, t in enumerate(titles)], 3
        )
        assert [len(ranking) for ranking in rankings] == [3, 3, 3, 3, 3, 0]
        assert double.asked("POST") == 5

    def test_a_page_found_twice_keeps_the_snippet_of_each_question(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        tea, milk, again = retriever.retrieve([TEA, MILK, TEA], 2)
        assert again.documents.tolist() == tea.documents.tolist()
        first, second = retriever.hits([tea.documents[0], milk.documents[0]])
        assert (first.id, "coffee" in first.snippet) == (second.id, True)
        assert "milk" in second.snippet


class TestPaging:
    def test_page_by_page(self, double, setting) -> None:
        double.total = 450
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.names == tuple(trec_id(n) for n in range(450))
        assert [body["from"] for _, _, body in double.requests] == [0, 100, 200, 300, 400]
        assert setting.said == []

    def test_no_more_than_wanted(self, double, setting) -> None:
        double.total = 450
        assert len(setting.chatnoir(double).retrieve([TEA], 150)[0]) == 150
        assert double.asked("POST") == 2

    def test_nothing_found_is_an_answer(self, double, setting) -> None:
        double.total = 0
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 0
        assert double.asked("POST") == 1

    def test_smaller_pages_than_asked_for_are_no_end(self, double, setting) -> None:
        double.total, double.most = 60, 25
        ranking = setting.chatnoir(double).retrieve([TEA], 100)[0]
        assert ranking.names == tuple(trec_id(n) for n in range(60))

    def test_a_repeated_page_ends_the_search_with_a_warning(self, double, setting) -> None:
        double.total, double.ignores_offset = 500, True
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.names == tuple(trec_id(n) for n in range(100))
        assert double.asked("POST") == 2
        assert len(setting.said) == 1
        assert "repeated results at 100 that it had given before" in setting.said[0]
        assert "going on with the 100 results before it" in setting.said[0]

    def test_some_repeated_results_are_taken_once(self, double, setting) -> None:
        double.total, double.overlap = 250, 7
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert len(set(ranking.names)) == len(ranking) >= 243
        assert [line for line in setting.said if "more than once" in line] == setting.said[:1]

    def test_an_empty_page_too_early_is_tried_again(self, double, setting) -> None:
        double.total = 250
        empty = {"meta": {"total_results": 0, "indices": ["cw12"]}, "results": []}
        double.faults = ["", empty]
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 250
        assert "empty page after 100 of 250 results; try 2 of 4" in setting.said[0]

    def test_a_service_that_counts_too_many_ends_with_a_warning(self, double, setting) -> None:
        double.total, double.counted = 100, 300
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 100
        assert "going on with the 100 results" in setting.said[-1]
        assert double.asked("POST") == 1 + QUICK.tries

    def test_no_first_page_is_an_error(self, double, setting) -> None:
        double.total, double.counted = 0, 300
        with pytest.raises(ServiceError, match="empty page after 0 of 300 results, 4 times"):
            setting.chatnoir(double).retrieve([TEA], 1000)

    def test_a_service_that_does_not_count(self, double, setting) -> None:
        double.total, double.counted = 230, 0
        assert len(setting.chatnoir(double).retrieve([TEA], 1000)[0]) == 230

    def test_ties_stand_in_one_order(self, double, setting, tmp_path: Path) -> None:
        double.equal_scores = True
        names = [
            Setting(tmp_path / str(n)).chatnoir(double).retrieve([TEA], k)[0].names
            for n, k in enumerate((25, 100, 25))
        ]
        assert names[0] == names[1] == names[2] == tuple(sorted(names[0]))


FAULTS = [
    "500",
    "502",
    "503",
    "504",
    "429",
    "429 2",
    "cut",
    "hang up",
    "slow",
    "malformed",
    {"error": "x"},
]


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.total, double.faults = 250, ["", fault, "", fault, fault]
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.names == tuple(trec_id(n) for n in range(250))
        assert double.asked("POST") == 6
        assert len(setting.said) == 3
        assert all(line.startswith("ChatNoir (127.0.0.1:") for line in setting.said)

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_that_stays_ends_in_one_clear_line(self, fault, double, setting) -> None:
        double.faults = ["", *[fault] * 4]
        retriever = setting.chatnoir(double)
        with pytest.raises(ServiceError) as caught:
            retriever.retrieve([TEA, MILK], 10)
        assert "4 times; what it gave before is kept, so run this again later" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert double.asked("POST") == 5
        # nothing is lost: what the first topic got is not asked for again
        assert [len(ranking) for ranking in retriever.retrieve([TEA, MILK], 10)] == [10, 10]
        assert double.asked("POST") == 6

    @pytest.mark.parametrize("fault", ["404", "400", "moved"])
    def test_what_will_not_pass_is_not_tried_again(self, fault, double, setting) -> None:
        double.faults = [fault]
        with pytest.raises(ServiceError, match="status"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 1

    def test_waits_double(self, double, setting) -> None:
        double.faults = ["500"] * 3
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(1 + 2 + 4, abs=0.01)

    def test_retry_after_is_obeyed(self, double, setting) -> None:
        double.faults = ["429 37"]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(37, abs=0.01)
        assert setting.said[0].endswith("answered with status 429; try 2 of 4 in 37 s")

    def test_too_long_a_wait_is_left_to_the_user(self, double, setting) -> None:
        double.faults = ["429 86400"]
        with pytest.raises(ServiceError, match="status 429 and asks to wait 86,400 s; what"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == 0

    def test_retry_after_as_a_date(self) -> None:
        from datetime import UTC, datetime, timedelta

        now = datetime.now(UTC)
        skewed = now - timedelta(days=3)
        then = format_datetime(skewed + timedelta(seconds=40), usegmt=True)
        assert (
            retry_after({"Retry-After": then, "Date": format_datetime(skewed, usegmt=True)}) == 40
        )
        assert retry_after({"Retry-After": then}) == 0
        soon = format_datetime(now + timedelta(seconds=90), usegmt=True)
        assert 85 < retry_after({"Retry-After": soon}) <= 90
        assert retry_after({"Retry-After": "12"}) == 12
        for odd in ("", "soon", "-5", "1.5", "٣", "Mon, 99 Foo 2026 00:00:00 GMT"):
            assert retry_after({"Retry-After": odd, "Date": "?"}) in (0, 3)

    def test_a_dripping_answer_is_given_up(self, double, tmp_path: Path) -> None:
        double.faults = ["drip"]
        said: list[str] = []
        patience = Patience(3, 0.01, timeout=2, whole_timeout=0.2, per_second=1000, jitter=0)
        retriever = ChatNoirRetriever(tmp_path, KEY, double.url, say=said.append, patience=patience)
        assert len(retriever.retrieve([TEA], 10)[0]) == 10
        assert "took over 0.2 s to answer" in said[0]

    def test_nobody_there(self, setting) -> None:
        with ServiceDouble() as gone:
            pass
        with pytest.raises(ServiceError, match="cannot be reached, 4 times"):
            setting.chatnoir(gone).retrieve([TEA], 10)

    def test_results_without_ids_or_scores(self, double, setting) -> None:
        good = double.chatnoir({"query": "x", "from": 0, "size": 3, "index": ["cw12"]})
        for change in ({"trec_id": None}, {"trec_id": "a b"}, {"score": None}, {"score": "1"}):
            bad = json.loads(json.dumps(good))
            bad["results"][1] |= change
            double.faults.append(bad)
        with pytest.raises(ServiceError, match="results"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 4

    def test_requests_keep_their_distance(self) -> None:
        clock = PatientClock()
        pace = Pace(clock, 0.25)
        for _ in range(9):
            pace.take()
        assert clock.slept == pytest.approx(2.0)


class TestTexts:
    def test_a_fault_is_survived(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 20)[0]
        double.faults = ["500", "cut", "429 3", "", "hang up"]
        pages = retriever.records(ranking.documents)
        assert all(page.text for page in pages)
        assert double.asked("GET") == 24

    def test_a_page_may_have_moved(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        double.faults = ["here"]
        assert retriever.records(ranking.documents)[0].text
        assert (double.asked("GET"), setting.said) == (2, [])

    def test_an_empty_text_is_tried_again(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        ranking = retriever.retrieve([TEA], 1)[0]
        double.faults = ["empty"]
        assert retriever.records(ranking.documents)[0].text
        assert "sent an empty page; try 2 of 4" in setting.said[0]

    def test_an_absent_page_keeps_its_snippet(self, double, setting) -> None:
        double.absent = frozenset(page_uuid(trec_id(n)) for n in range(5))
        retriever = setting.chatnoir(double)
        pages = retriever.records(retriever.retrieve([TEA], 20)[0].documents)
        assert [bool(page.text) for page in pages] == [False] * 5 + [True] * 15
        assert pages[0].default_text().endswith("is <cheap>")
        assert len(setting.said) == 5
        assert double.asked("GET") == 20

    def test_many_failures_end_with_an_error_and_nothing_lost(self, double, setting) -> None:
        double.broken = frozenset(page_uuid(trec_id(n)) for n in range(10, 20))
        retriever = setting.chatnoir(double)
        documents = retriever.retrieve([TEA], 20)[0].documents
        with pytest.raises(ServiceError, match="status 500, 4 times; what it gave before is kept"):
            retriever.records(documents)
        had = Counter(path for method, path, _ in double.requests if method == "GET")
        double.broken, double.requests[:] = frozenset(), []
        assert all(page.text for page in retriever.records(documents))
        again = {path for _, path, _ in double.requests}
        broken = {page_uuid(trec_id(n)) for n in range(10, 20)}
        asked_before = {path for path in had if not any(uuid in path for uuid in broken)}
        assert again.isdisjoint(asked_before)

    def test_few_failures_are_tolerated_and_asked_for_again(self, double, setting) -> None:
        double.broken = frozenset([page_uuid(trec_id(2))])
        retriever = setting.chatnoir(double)
        documents = retriever.retrieve([TEA], 5)[0].documents
        assert [bool(page.text) for page in retriever.records(documents)] == [1, 1, 0, 1, 1]
        double.broken = frozenset()
        assert all(page.text for page in retriever.records(documents))


HALF_WAY = """
import sys
from pathlib import Path
from sicetnon.records import Topic
from sicetnon.retrieval.chatnoir import ChatNoirRetriever
from sicetnon.retrieval.pace import Patience

def progress(what, done, total):
    print(what, done, flush=True)

quick = Patience(per_second=1e6)
retriever = ChatNoirRetriever(Path(sys.argv[1]), progress=progress, patience=quick)
topics = [Topic(str(n), f"question {n}") for n in range(8)]
for ranking in retriever.retrieve(topics, 200):
    retriever.records(ranking.documents[:5])
    print(*ranking.names, flush=True)
"""


class TestResuming:
    def test_a_killed_run_asks_for_nothing_twice(self, double, tmp_path: Path) -> None:
        double.total, double.delay = 150, 0.02
        command = [sys.executable, "-c", HALF_WAY, str(tmp_path / "kept.sqlite")]
        environment = os.environ | {"CHATNOIR_API_KEY": KEY, "CHATNOIR_URL": double.url}
        for stop in ("topics 3", "topics 8", "pages of topic 1 of 8 2"):
            run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            assert run.stdout is not None
            assert any(line.startswith(stop) for line in run.stdout)
            run.send_signal(signal.SIGKILL)
            run.wait()
            run.stdout.close()
            time.sleep(0.1)
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        asked = Counter(json.dumps(request) for request in double.requests)
        # 8 questions of 2 pages; 5 texts, the same for every question
        assert len(asked) == 8 * 2 + 5
        # what was under way when it was killed had not been received
        under_way = sum(asked.values()) - len(asked)
        assert under_way <= 1 + 1 + 4
        before = len(double.requests)
        again = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert again.stdout == done.stdout
        assert len(double.requests) == before

    def test_what_was_received_is_kept_with_its_date(self, double, setting) -> None:
        retriever = setting.chatnoir(double)
        retriever.records(retriever.retrieve([TEA], 3)[0].documents)
        rows = sqlite3.connect(setting.cache).execute("SELECT request, fetched FROM answers")
        requests, dates = zip(*rows, strict=True)
        assert len(requests) == 4
        assert all(date[:2] == "20" and date.endswith("+00:00") for date in dates)
        assert sum("/api/v1/_search" in request for request in requests) == 1

    def test_a_full_cache_needs_neither_key_nor_network(self, double, setting) -> None:
        first = setting.chatnoir(double)
        names = first.retrieve([TEA], 10)[0].names
        double.__exit__()
        assert setting.chatnoir(double, key="").retrieve([TEA], 10)[0].names == names

    def test_other_addresses_have_other_answers(self, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with ServiceDouble(total=3) as other:
            assert len(setting.chatnoir(other).retrieve([TEA], 10)[0]) == 3


class TestCache:
    def test_keeps_and_replaces(self, tmp_path: Path) -> None:
        cache = ResponseCache(tmp_path)
        assert cache.path.parent == tmp_path
        assert cache.get("a") is None
        cache.put("a", "{}", b"one")
        cache.put("a", "{}", b"two")
        kept = cache.get("a")
        assert kept is not None
        assert kept.body == b"two"
        assert len(cache) == 1
        cache.close()

    def test_a_foreign_file_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a database, and long enough to look like something else\n" * 50)
        with pytest.raises(DataError, match="cannot be used"):
            ResponseCache(path)
        assert path.read_text().startswith("not a database")

    def test_a_damaged_answer_is_fetched_again(self, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with sqlite3.connect(setting.cache) as database:
            database.execute("UPDATE answers SET body = x'00'")
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert double.asked("POST") == 2

    def test_an_answer_that_is_no_longer_accepted_is_fetched_again(self, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with sqlite3.connect(setting.cache) as database:
            database.execute("UPDATE answers SET body = ?", (zlib.compress(b"[]"),))
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10


class TestKey:
    def test_no_key_says_where_to_get_one(self, double, setting, monkeypatch) -> None:
        monkeypatch.delenv("CHATNOIR_API_KEY", raising=False)
        with pytest.raises(
            UsageError, match=r"https://www\.chatnoir\.eu/apikey/.*CHATNOIR_API_KEY"
        ):
            setting.chatnoir(double, key=None).retrieve([TEA], 10)
        assert double.requests == []

    def test_a_refused_key_is_not_shown(self, double, setting) -> None:
        double.key = "another"
        with pytest.raises(ServiceError, match="refused the API key") as caught:
            setting.chatnoir(double).retrieve([TEA], 10)
        assert KEY not in "".join(_frames(caught.value))
        assert double.asked("POST") == 1

    def test_the_key_is_nowhere(self, double, setting, caplog, capfd, tmp_path: Path) -> None:
        caplog.set_level(logging.DEBUG)
        double.echoes_key, double.faults = True, ["500", "cut", "malformed"]
        retriever = setting.chatnoir(double)
        retriever.records(retriever.retrieve([TEA], 10)[0].documents)
        double.faults = ["401"]
        with pytest.raises(ServiceError) as caught:
            retriever.retrieve([MILK], 10)
        seen = [*_frames(caught.value), *setting.said, *capfd.readouterr()]
        seen += [record.getMessage() for record in caplog.records]
        seen += [repr(retriever), repr(vars(retriever)), repr(vars(retriever._service))]
        assert any("_search" in message for message in seen)
        for path in tmp_path.rglob("*"):
            seen.append(str(path))
            if path.is_file():
                seen.append(path.read_bytes().decode("latin-1"))
        for body, request in sqlite3.connect(setting.cache).execute(
            "SELECT body, request FROM answers"
        ):
            seen += [zlib.decompress(body).decode(), request]
        forms = [KEY, json.dumps(KEY)[1:-1], "k3y%2Fwith"]
        assert not [text for text in seen for form in forms if form in text]
        assert all(body["apikey"] == KEY for _, _, body in double.requests if body)

    @pytest.mark.parametrize("fault", ["moved", "hang up", "slow", "500", "malformed"])
    def test_no_exception_carries_it(self, fault, double, setting) -> None:
        double.faults = [fault] * 4
        with pytest.raises(ServiceError) as caught:
            setting.chatnoir(double).retrieve([TEA], 10)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert KEY not in "".join(_frames(caught.value))

    def test_keys_that_cannot_be(self) -> None:
        for key in ("two words-secret", "line\nsecret", "sécret", "nul\x00secret"):
            with pytest.raises(UsageError) as caught:
                ApiKey("ChatNoir", key)
            assert "secret" not in str(caught.value)
        assert not ApiKey("ChatNoir", " ")
        assert ApiKey("ChatNoir", " spaced-key\n").reveal() == "spaced-key"
        assert "spaced" not in f"{ApiKey('ChatNoir', 'spaced-key')!r}"

    @pytest.mark.parametrize(
        "url", ["chatnoir.eu", "ftp://chatnoir.eu", "http://", "https://a:secret@b", "http://a:b:c"]
    )
    def test_addresses_that_cannot_be(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="must look like https") as caught:
            ChatNoirRetriever(tmp_path, KEY, url)
        assert "secret" not in str(caught.value)


def _frames(error: BaseException) -> list[str]:
    """A traceback with the values of all variables of our own modules."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack[:] = [frame for frame in told.stack if "/sicetnon/" in frame.filename]
    return list(told.format())


class TestArgsMe:
    def test_finds_arguments_with_their_side_on_the_question(self, double, setting) -> None:
        retriever = setting.argsme(double)
        ranking = retriever.retrieve([TEA], 10)[0]
        assert ranking.names == tuple(f"S1-A{n:x}" for n in range(10))
        assert ranking.stances == ("PRO", "CON") * 5
        assert ranking.scores.tolist() == [50.0 - n for n in range(10)]
        argument = retriever.records(ranking.documents)[0]
        assert isinstance(argument, Argument)
        # towards its conclusion, whatever the side on the question
        assert (argument.stance, argument.title) == ("CON", "Tea")
        method, path, _ = double.requests[0]
        expected = "query=Which+is+better%2C+tea+or+coffee%3F&pageSize=10&format=json"
        assert (method, path) == ("GET", f"/api/v2/arguments?{expected}")

    def test_page_by_page(self, double, setting) -> None:
        double.total = 230
        assert len(setting.argsme(double).retrieve([TEA], 1000)[0]) == 230
        assert double.asked("GET") == 3
        assert setting.argsme(double).retrieve([TEA, Topic("2", " ")], 1000)[0].names is not None
        assert double.asked("GET") == 3

    def test_a_repeated_page_ends_the_search(self, double, setting) -> None:
        double.total, double.ignores_offset = 230, True
        assert len(setting.argsme(double).retrieve([TEA], 1000)[0]) == 100
        assert "repeated results" in setting.said[0]

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.faults = [fault, fault]
        assert len(setting.argsme(double).retrieve([TEA], 10)[0]) == 10
        assert len(setting.said) == 2

    def test_without_scores_the_order_is_the_services(self, double, setting) -> None:
        answer = double.argsme({"query": ["x"], "pageSize": ["3"]})
        for argument in answer["arguments"]:
            del argument["explanation"], argument["stance"]
        double.faults = [answer | {"totalSize": 3}]
        ranking = setting.argsme(double).retrieve([TEA], 3)[0]
        assert ranking.scores.tolist() == [3.0, 2.0, 1.0]
        assert ranking.stances == ("Q0",) * 3

    def test_what_is_no_argument_is_refused(self, double, setting) -> None:
        good = double.argsme({"query": ["x"], "pageSize": ["3"]})
        for change in ({"id": "a b"}, {"stance": "MAYBE"}, {"premises": None}, {"id": ""}):
            bad = json.loads(json.dumps(good))
            bad["arguments"][1] |= change
            double.faults.append(bad)
        with pytest.raises(ServiceError, match="argument"):
            setting.argsme(double).retrieve([TEA], 3)


class TestCommand:
    @pytest.fixture(autouse=True)
    def _here(self, double, monkeypatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("CHATNOIR_URL", double.url)
        monkeypatch.setenv("ARGSME_URL", double.url)
        monkeypatch.setenv("CHATNOIR_API_KEY", KEY)

    def test_web_pages(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "chatnoir", "-k", "3"]) == 0
        shown = capsys.readouterr()
        assert "Page 2 & tea" in shown.out
        assert "http://www.example.org/2" in shown.out
        assert (shown.err, KEY in shown.out) == ("", False)

    def test_web_pages_for_programs(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "chatnoir", "-k", "3", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["source"] == "chatnoir"
        first = answer["answers"][0]
        assert (first["id"], first["title"], first["spam_rank"]) == (trec_id(0), "Page 0 & tea", 80)

    def test_arguments(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "argsme", "-k", "4"]) == 0
        shown = capsys.readouterr().out
        assert shown.index("For ") < shown.index("Against ")
        # a premise against the conclusion may be for the question
        assert shown.count("against: Tea should go") == 4

    def test_arguments_for_programs(self, capsys) -> None:
        assert main(["search", "tea or coffee?", "--source", "argsme", "-k", "2", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["stance_towards"] == "question"
        assert [found["stance"] for found in answer["answers"]] == ["PRO", "CON"]

    def test_no_key(self, capsys, monkeypatch) -> None:
        monkeypatch.delenv("CHATNOIR_API_KEY")
        assert main(["search", "tea", "--source", "chatnoir"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("sicetnon: ChatNoir needs an API key: get one at https://")

    def test_a_failure_is_one_line(self, capsys, double) -> None:
        double.faults = ["404"]
        assert main(["search", "tea", "--source", "chatnoir"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "answered with status 404" in line

    def test_a_service_takes_no_index(self, capsys) -> None:
        assert main(["search", "tea", "--source", "argsme", "--index", "x"]) == 2
        assert "neither --index nor --system" in capsys.readouterr().err


class TestMarkup:
    def test_plain_text_stays(self) -> None:
        text = "a < b, c > d & e &amp; <3\n\n  two"
        assert without_markup(text) == text

    def test_tags_go_and_blocks_are_lines(self) -> None:
        text = (
            "<head><title>t</title></head><p>One <b>two</b>&amp;three<br>four<script>x<y</script>"
        )
        assert without_markup(text) == "One two&three\nfour"


def test_all_errors_are_for_users() -> None:
    assert issubclass(ServiceError, SicetnonError)
