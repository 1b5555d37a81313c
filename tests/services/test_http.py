"""Services over HTTP: a key that shows up nowhere, cached answers, faults, `search --source`."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import traceback
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from sicetnon.cli import main
from sicetnon.errors import DataError, ServiceError, SicetnonError, UsageError
from sicetnon.services.api_key import ApiKey
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import Clock, Pace, ResponseCache, Service
from support.databases import opened_database, rows_of
from support.judging_cases import naming
from support.service_double import ServiceDouble, trec_id
from support.service_setting import FAULTS, IMPATIENT, KEY, MILK, QUICK, TEA, PatientClock


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
        double.echoes_key, double.faults = True, [["500", "cut", "malformed"]]
        retriever = setting.chatnoir(double)
        retriever.records(retriever.retrieve([TEA], 10)[0])
        double.faults = [["401"]]
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
        for body, request in rows_of(setting.cache, "SELECT body, request FROM answers"):
            seen += [zlib.decompress(body).decode(), request]
        forms = [KEY, json.dumps(KEY)[1:-1], "k3y%2Fwith"]
        assert not [text for text in seen for form in forms if form in text]
        assert all(body["apikey"] == KEY for _, _, body in double.requests if body)

    @pytest.mark.parametrize(
        "spelled",
        [
            lambda key: key.replace('"', '\\"').replace("/", "\\/"),
            lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
            lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
            lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
            lambda key: json.dumps(escape(key))[1:-1],
            lambda key: "".join(f"&#{ord(letter)};" for letter in key),
            lambda key: escape(key).replace("/", "&#x2F;").replace("+", "&plus;"),
            lambda key: quote(key, safe="").lower(),
            lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
            lambda key: quote(quote(key, safe=""), safe=""),
        ],
    )
    def test_an_echo_is_hidden_however_it_is_spelled(
        self, spelled: Callable[[str], str], double, setting
    ) -> None:
        body = json.dumps({"meta": {"total_results": 1}, "results": [double.hit(0, "tea")]})
        echo = spelled(KEY)
        double.faults = [[body.replace("On tea", f"On {echo} tea").encode()]]
        retriever = setting.chatnoir(double)
        (page,) = retriever.hits(retriever.retrieve([TEA], 10)[0])
        assert page.snippet.startswith("On *** tea")
        kept = rows_of(setting.cache, "SELECT body FROM answers")
        assert all(echo.encode() not in zlib.decompress(body) for (body,) in kept)

    @pytest.mark.parametrize("fault", ["moved", "hang up", "slow", "500", "malformed"])
    def test_no_exception_carries_it(self, fault, double, setting) -> None:
        setting.patience, double.faults = IMPATIENT, [[fault] * 4]
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


@pytest.mark.parametrize("url", ["http://example.org", "http://127.evil.example:80/v1"])
def test_a_key_goes_to_no_other_machine_in_the_clear(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="in the clear"):
        Service("the service", url, ResponseCache(tmp_path), "a-key-of-ours")
    # without a key there is nothing to lose, and over TLS nobody reads it
    Service("the service", url, ResponseCache(tmp_path))
    Service("the service", url.replace("http:", "https:"), ResponseCache(tmp_path), "a-key-of-ours")
    monkeypatch.setenv("SICETNON_KEYS_OVER_HTTP", "yes")
    Service("the service", url, ResponseCache(tmp_path), "a-key-of-ours")


# it is killed by itself: when a reader of what it says kills it, it may have gone on
HALF_WAY = """
import os, signal, sys
from pathlib import Path
from sicetnon.records import Topic
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import Patience

def progress(what, done, total):
    print(what, done, flush=True)
    if f"{what} {done}" == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

quick = Patience(per_second=1e6)
retriever = ChatNoirRetriever(Path(sys.argv[1]), progress=progress, patience=quick)
topics = [Topic(str(n), f"question {n}") for n in range(8)]
for ranking in retriever.retrieve(topics, 200):
    retriever.records(ranking.best(5))
    print(*ranking.ids, flush=True)
"""


class TestResuming:
    def test_a_killed_run_asks_for_nothing_twice(self, double, tmp_path: Path) -> None:
        double.total, double.delay = 150, 0.02
        command = [sys.executable, "-c", HALF_WAY, str(tmp_path / "kept.sqlite"), "never"]
        environment = os.environ | {"CHATNOIR_API_KEY": KEY, "CHATNOIR_URL": double.url}
        for stop in ("topics 3", "topics 8", "pages of topic 1 of 8 2"):
            killed = subprocess.run(
                [*command[:-1], stop], capture_output=True, text=True, env=environment
            )
            assert killed.returncode == -signal.SIGKILL
            assert killed.stdout.splitlines()[-1] == stop
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
        retriever.records(retriever.retrieve([TEA], 3)[0])
        rows = rows_of(setting.cache, "SELECT request, fetched FROM answers")
        requests, dates = zip(*rows, strict=True)
        assert len(requests) == 4
        assert all(date[:2] == "20" and date.endswith("+00:00") for date in dates)
        assert sum("/api/v1/_search" in request for request in requests) == 1

    def test_a_full_cache_needs_neither_key_nor_network(self, double, setting) -> None:
        first = setting.chatnoir(double)
        names = first.retrieve([TEA], 10)[0].ids
        double.__exit__()
        assert setting.chatnoir(double, key="").retrieve([TEA], 10)[0].ids == names

    def test_other_addresses_have_other_answers(self, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with ServiceDouble(total=3) as other:
            assert len(setting.chatnoir(other).retrieve([TEA], 10)[0]) == 3


class TestCache:
    @pytest.mark.parametrize("older", [False, True])
    def test_others_cannot_read_it(self, older: bool, double, setting) -> None:
        if older:
            setting.cache.parent.mkdir()
            ResponseCache(setting.cache).close()
            setting.cache.chmod(0o644)
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.cache.stat().st_mode & 0o777 == 0o600
        if not older:
            assert setting.cache.parent.stat().st_mode & 0o777 == 0o700

    def test_a_pipe_is_no_cache(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataError, match="is no regular file"):
            ResponseCache(tmp_path / "pipe")

    def test_keeps_and_replaces(self, tmp_path: Path) -> None:
        cache = ResponseCache(tmp_path)
        assert cache.path.parent == tmp_path
        assert cache.get("a") is None
        cache.put("a", "{}", b"one")
        cache.put("a", "{}", b"two")
        assert cache.get("a") == b"two"
        cache.close()

    def test_a_foreign_file_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a database, and long enough to look like something else\n" * 50)
        with pytest.raises(DataError, match="cannot be used"):
            ResponseCache(path)
        assert path.read_text().startswith("not a database")

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE more (x)",
            "CREATE VIEW more AS SELECT 1",
            "CREATE TRIGGER more AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
            "DROP TABLE answers; CREATE VIEW answers AS SELECT 1 AS key, 'x' AS body",
        ],
    )
    def test_tables_of_others_are_refused(self, tmp_path: Path, statement: str) -> None:
        path = tmp_path / "kept.sqlite"
        ResponseCache(path).close()
        with opened_database(path) as database:
            database.executescript(statement)
        with pytest.raises(DataError, match=r"it was changed; delete it to fetch all again"):
            ResponseCache(path)

    @pytest.mark.parametrize("size", [1, 40, 90])
    def test_the_log_of_another_file_gives_no_wrong_answer(self, tmp_path: Path, size: int) -> None:
        bodies = {f"{name} {n}": os.urandom(9000) for name in ("one", "other") for n in range(90)}
        for name, most in (("one", size), ("other", 90)):
            with closing(ResponseCache(tmp_path / name)) as cache:
                for number in range(most):
                    cache.put(f"{name} {number}", "{}", bodies[f"{name} {number}"])
        with opened_database(tmp_path / "other") as database:
            database.execute("PRAGMA cache_size = 1")
            database.execute("UPDATE answers SET body = zeroblob(9000) WHERE key > 'other 50'")
            log = (tmp_path / "other-journal").read_bytes()
            database.rollback()
        (tmp_path / "one-journal").write_bytes(log)
        with suppress(DataError), closing(ResponseCache(tmp_path / "one")) as cache:
            for key, body in bodies.items():
                assert cache.get(key) in (None, body)

    def test_a_log_that_names_another_file_removes_none(self, tmp_path: Path) -> None:
        ResponseCache(tmp_path).close()
        log, other = tmp_path / "answers.sqlite-journal", tmp_path / "other"
        log.write_bytes(bytes(512))
        other.write_text("precious")
        naming(log, other)
        with pytest.raises(DataError, match="names another file, which SQLite would remove"):
            ResponseCache(tmp_path)
        assert other.read_text() == "precious"

    def test_a_link_in_the_folder_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "answers.sqlite").symlink_to(tmp_path / "outside")
        with pytest.raises(DataError, match="is a link"):
            ResponseCache(tmp_path / "folder")
        assert not (tmp_path / "outside").exists()

    def test_an_answer_that_is_cut_short_is_none(self, tmp_path: Path) -> None:
        with closing(ResponseCache(tmp_path)) as cache:
            cache.put("a", "{}", os.urandom(9000))
            with opened_database(cache.path) as database:
                database.execute("UPDATE answers SET body = substr(body, 1, 5000)")
            assert cache.get("a") is None

    @pytest.mark.parametrize("damaged", ["x'00'", "'text'", "7"])
    def test_a_damaged_answer_is_fetched_again(self, damaged: str, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with opened_database(setting.cache) as database:
            database.execute(f"UPDATE answers SET body = {damaged}")
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert double.asked("POST") == 2

    def test_an_answer_that_is_no_longer_accepted_is_fetched_again(self, double, setting) -> None:
        setting.chatnoir(double).retrieve([TEA], 10)
        with opened_database(setting.cache) as database:
            database.execute("UPDATE answers SET body = ?", (zlib.compress(b"[]"),))
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10


class CountingClock(Clock):
    """A second passes whenever somebody looks; waiting takes no time."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        self.seconds += 1
        return self.seconds

    def sleep(self, seconds: float, stopped: threading.Event) -> None:
        self.seconds += seconds


class TestFaults:
    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_is_survived(self, fault, double, setting) -> None:
        double.total, double.faults = 250, [[], [fault], [fault, fault]]
        ranking = setting.chatnoir(double).retrieve([TEA], 1000)[0]
        assert ranking.ids == tuple(trec_id(n) for n in range(250))
        assert double.asked("POST") == 6
        assert len(setting.said) == 3
        assert all(line.startswith("ChatNoir (127.0.0.1:") for line in setting.said)

    @pytest.mark.parametrize("fault", FAULTS, ids=str)
    def test_a_fault_that_stays_ends_in_one_clear_line(self, fault, double, setting) -> None:
        double.faults = [[], [fault] * 4]
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
        double.faults = [[fault]]
        with pytest.raises(ServiceError, match="status"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 1

    def test_waits_double(self, double, setting) -> None:
        double.faults = [["500"] * 3]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(1 + 2 + 4, abs=0.01)

    def test_retry_after_is_obeyed(self, double, setting) -> None:
        double.faults = [["429 37"]]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == pytest.approx(37, abs=0.01)
        assert setting.said[0].endswith("answered with status 429; try 2 of 4 in 37 s")

    def test_too_long_a_wait_is_left_to_the_user(self, double, setting) -> None:
        double.faults = [["429 7200"]]
        with pytest.raises(ServiceError, match="status 429 and asks to wait 7,200 s; what"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert setting.clock.slept == 0

    def test_retry_after_may_be_a_date(self, double, setting) -> None:
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
        double.faults = [[f"429 {soon}"]]
        setting.chatnoir(double).retrieve([TEA], 10)
        assert 100 < setting.clock.slept <= 200

    @pytest.mark.parametrize(
        "odd",
        [
            *("soon", "-5", "1.5", "Mon, 99 Foo 2026 00:00:00 GMT"),
            *("Mon, 02 Nov 99999999999 00:00:00 GMT", "9" * 5000),
        ],
    )
    def test_a_retry_after_that_says_nothing_is_ignored(self, odd: str, double, setting) -> None:
        double.faults = [[f"503 {odd}"]]
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert setting.clock.slept == pytest.approx(1, abs=0.01)

    def test_no_answer_in_time_is_a_fault(self, double, setting) -> None:
        setting.patience, double.faults = IMPATIENT, [["slow"] * 4]
        with pytest.raises(ServiceError, match=r"did not answer within 0.2 s, 4 times; what it"):
            setting.chatnoir(double).retrieve([TEA], 10)
        # each meets its fault; none is left for the next request
        double.wait_for("POST", 4)
        setting.patience = QUICK
        assert len(setting.chatnoir(double).retrieve([TEA], 10)[0]) == 10
        assert double.asked("POST") == 5

    def test_a_dripping_answer_is_given_up(self, double, tmp_path: Path) -> None:
        double.faults = [["drip"]]
        said: list[str] = []
        patience = replace(QUICK, whole_timeout=5)
        retriever = ChatNoirRetriever(
            tmp_path, KEY, double.url, say=said.append, patience=patience, clock=CountingClock()
        )
        assert len(retriever.retrieve([TEA], 10)[0]) == 10
        assert "took over 5 s to answer" in said[0]
        assert len(said) == 1

    def test_nobody_there(self, setting) -> None:
        with ServiceDouble() as gone:
            pass
        with pytest.raises(ServiceError, match="cannot be reached, 4 times"):
            setting.chatnoir(gone).retrieve([TEA], 10)

    def test_results_without_ids_or_scores(self, double, setting) -> None:
        good = double.chatnoir({"query": "x", "from": 0, "size": 3, "index": ["cw12"]})
        double.faults = [[]]
        for change in ({"trec_id": None}, {"trec_id": "a b"}, {"score": None}, {"score": "1"}):
            bad = json.loads(json.dumps(good))
            bad["results"][1] |= change
            double.faults[0].append(bad)
        with pytest.raises(ServiceError, match="results"):
            setting.chatnoir(double).retrieve([TEA], 10)
        assert double.asked("POST") == 4

    def test_requests_keep_their_distance(self) -> None:
        clock = PatientClock()
        pace = Pace(clock, 0.25)
        for _ in range(9):
            pace.take()
        assert clock.slept == pytest.approx(2.0)


@pytest.mark.parametrize("place", ["http://[", "http://a:b/", "//[::1", "http://[::1]x", "http:"])
def test_a_redirect_to_no_address_is_one_clear_line(place: str, setting) -> None:
    for ask in (setting.chatnoir, setting.argsme):
        faults = [[f"redirect {place}"] * 9]
        with ServiceDouble(faults=faults) as double, pytest.raises(ServiceError) as raised:
            ask(double).retrieve([TEA], 10)
        assert any(said in str(raised.value) for said in ("has moved to", "in a circle"))


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
        first, second = shown.split("In favour of coffee ")
        # a premise against the conclusion may be for the question
        for part in (first.partition("In favour of tea ")[2], second):
            assert part.count("favours it, against the claim: Tea should go") == 2

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
        double.faults = [["404"]]
        assert main(["search", "tea", "--source", "chatnoir"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "answered with status 404" in line

    def test_a_service_takes_no_index(self, capsys) -> None:
        assert main(["search", "tea", "--source", "argsme", "--index", "x"]) == 2
        assert (
            "none of --index, --objects, --ranker, --system and --stance" in capsys.readouterr().err
        )


def test_all_errors_are_for_users() -> None:
    assert issubclass(ServiceError, SicetnonError)
