"""The cache of responses: killed runs resume, and no request is sent twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zlib
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sicetnon.errors import DataError
from sicetnon.services.http import ResponseCache
from support.databases import opened_database, rows_of
from support.judging_cases import naming
from support.service_double import ServiceDouble
from support.service_setting import KEY, TEA

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
