"""The files of pools: logs of others, pools that are gone, tables of strangers, older versions."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sicetnon import databases
from sicetnon.cli import main
from sicetnon.errors import DataError, UsageError
from sicetnon.judging import Action, JudgingFile, NotSavedError
from sicetnon.judging.votes import events, progress
from support.databases import opened_database
from support.judging_cases import GONE, first_version, killed_log, naming, outcomes, pool, vote


def keys(path: Path) -> list[str]:
    with JudgingFile(path) as file:
        return [each["kind"] + str(each["document"]) for each in events(file)]


class TestLogs:
    @pytest.mark.parametrize("kind", ["wal", "journal"])
    def test_no_pool_is_made_beside_the_log_of_another(self, tmp_path: Path, kind: str) -> None:
        old = pool(tmp_path / "old", 60)
        log = killed_log(old, kind).rename(tmp_path / f"new-{kind}")
        with pytest.raises(UsageError, match=f"new-{kind}: is the log of a judging file"):
            pool(tmp_path / "new")
        assert not (tmp_path / "new").exists()
        assert log.stat().st_size
        log.unlink()
        assert keys(pool(tmp_path / "new")) == []

    def test_leftovers_without_content_are_removed(self, tmp_path: Path) -> None:
        for kind, content in (("wal", b""), ("shm", b"x" * 32768), ("journal", bytes(512))):
            (tmp_path / f"new-{kind}").write_bytes(content)
        assert keys(pool(tmp_path / "new")) == []
        assert [path.name for path in tmp_path.iterdir()] == ["new"]

    @pytest.mark.parametrize("kind", ["wal", "journal"])
    def test_the_log_of_another_pool_is_not_played_back(self, tmp_path: Path, kind: str) -> None:
        log = killed_log(pool(tmp_path / "old", 60), kind)
        new = pool(tmp_path / "new", 60)
        log.rename(tmp_path / f"new-{kind}")
        content = new.read_bytes()
        for command in ("status", "export"):
            words = ["judge", command, str(new)] + (["-o", str(tmp_path)] * (command == "export"))
            assert main(words) == 1
        with pytest.raises(DataError, match="is the log of another file"):
            JudgingFile(new)
        assert new.read_bytes() == content
        (tmp_path / f"new-{kind}").unlink()
        assert keys(new) == []

    def test_the_log_of_a_later_state_is_not_played_back(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool", 60)
        shutil.copy(path, tmp_path / "copy")
        with JudgingFile(path) as file:
            for item in (1, 2, 3):
                file.record("anna", [vote(item)])
        log = killed_log(path, "journal")
        shutil.copy(log, tmp_path / "copy-journal")
        with pytest.raises(DataError, match="or of another state"):
            JudgingFile(tmp_path / "copy")
        shutil.copy(log, tmp_path / "pool-journal")
        assert len(keys(path)) == 3

    def test_the_log_of_a_link_lies_beside_its_target(self, tmp_path: Path) -> None:
        (tmp_path / "inner").mkdir()
        log = killed_log(pool(tmp_path / "old", 60), "journal")
        log.rename(tmp_path / "inner" / "new-journal")
        pool(tmp_path / "new", 60).rename(tmp_path / "inner" / "new")
        (tmp_path / "new").symlink_to(tmp_path / "inner" / "new")
        with pytest.raises(DataError, match="is the log of another file"):
            JudgingFile(tmp_path / "new")

    def test_a_log_that_is_a_link_is_refused(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        (tmp_path / "pool-journal").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(DataError, match="is no regular file"):
            JudgingFile(path)
        assert not (tmp_path / "elsewhere").exists()

    @pytest.mark.parametrize("kind", ["wal", "shm", "journal"])
    def test_a_log_with_another_name_is_refused(self, tmp_path: Path, kind: str) -> None:
        path = pool(tmp_path / "pool")
        if kind != "journal":
            first_version(path)
            (tmp_path / f"pool-{kind}").unlink(missing_ok=True)
        # SQLite takes a log that begins with a zero for a finished one, and writes over it
        (tmp_path / "other").write_bytes(bytes(9000))
        os.link(tmp_path / "other", tmp_path / f"pool-{kind}")
        with pytest.raises(DataError, match=r"2 names \(hard links\)"):
            JudgingFile(path)
        assert (tmp_path / "other").read_bytes() == bytes(9000)

    @pytest.mark.parametrize("is_finished", [False, True])
    def test_a_log_that_names_another_file_removes_none(
        self, tmp_path: Path, is_finished: bool
    ) -> None:
        path, other = pool(tmp_path / "pool", 60), tmp_path / "other"
        other.write_text("precious")
        log = naming(killed_log(path, "journal"), other).rename(tmp_path / "pool-journal")
        if is_finished:
            log.write_bytes(bytes(512) + log.read_bytes()[512:])
        with pytest.raises(DataError, match="names another file, which SQLite would remove"):
            JudgingFile(path)
        assert other.read_text() == "precious"

    def test_a_large_log_is_not_read(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with (tmp_path / "pool-journal").open("wb") as log:
            log.write(b"x")
            log.truncate(1 << 40)
        with pytest.raises(DataError, match="is the log of another file"):
            JudgingFile(path)

    def test_a_second_name_is_refused(self, tmp_path: Path) -> None:
        os.link(pool(tmp_path / "pool"), tmp_path / "name")
        with pytest.raises(DataError, match="2 names"):
            JudgingFile(tmp_path / "name")


class TestGone:
    @pytest.mark.parametrize("gone", GONE)
    def test_nothing_is_acknowledged(self, tmp_path: Path, gone: Callable[[Path], None]) -> None:
        (tmp_path / "folder").mkdir()
        path = pool(tmp_path / "folder" / "pool")
        with JudgingFile(path) as file:
            assert outcomes(file.record("anna", [vote(1)])) == ["saved"]
            gone(path)
            for _ in range(2):
                with pytest.raises(NotSavedError, match="nothing was saved"):
                    file.record("anna", [vote(2)])
                with pytest.raises(NotSavedError, match="nothing was saved"):
                    file.assigned("anna")
                with pytest.raises(NotSavedError, match="nothing was saved"):
                    file.undo_all("anna")
        moved = tmp_path / "moved" / "pool"
        if moved.exists():
            assert len(keys(moved)) == 1
        elif path.exists() and path.stat().st_size > 4096:
            assert keys(path) == []

    def test_a_pool_that_is_written_over_meanwhile_takes_none(self, tmp_path: Path) -> None:
        path, other = pool(tmp_path / "pool"), pool(tmp_path / "other")

        def while_written() -> Iterator[Action]:
            yield vote(1)
            time.sleep(0.02)  # a tick of the clock of the file system
            path.write_bytes(other.read_bytes())

        with JudgingFile(path) as file, pytest.raises(NotSavedError, match="written over"):
            file.record("anna", while_written())  # type: ignore[arg-type]
        assert path.read_bytes() == other.read_bytes()

    def test_an_older_copy_in_its_place_takes_none(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        copy = path.read_bytes()
        with JudgingFile(path) as file:
            file.record("anna", [vote(1)])
            path.write_bytes(copy)
            with pytest.raises(NotSavedError, match="lacks the last event"):
                file.record("anna", [vote(2)])
        assert keys(path) == []

    def test_a_pool_written_over_is_not_read_as_the_one_before(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with JudgingFile(path) as file:
            assert progress(file).documents == 18
            path.write_bytes(pool(tmp_path / "other").read_bytes())
            with pytest.raises(NotSavedError, match="another pool"):
                progress(file)

    def test_the_log_of_the_pool_in_its_place_stays(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with JudgingFile(path):
            path.rename(tmp_path / "away")
            pool(path)
            (tmp_path / "pool-journal").write_bytes(b"x" * 512)
        assert (tmp_path / "pool-journal").exists()

    def test_copies_hold_all_that_was_acknowledged(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with JudgingFile(path) as file:
            for item in (1, 2, 3):
                file.record("anna", [vote(item)])
                shutil.copy(path, tmp_path / "copy")
                assert len(keys(tmp_path / "copy")) == item


class TestTables:
    @pytest.mark.parametrize(
        ("kind", "statement"),
        [
            (
                "trigger",
                "CREATE TRIGGER sqlite_stat9 AFTER INSERT ON events BEGIN "
                "INSERT INTO assessors (name) VALUES (hex(randomblob(9))); END",
            ),
            ("view", "CREATE VIEW sqlite_stat1 AS SELECT 1"),
            ("table", "CREATE TABLE sqlite_stat9 (x)"),
            ("table", "CREATE TABLE sqlite_stat1 (tbl, idx, stat, more)"),
        ],
    )
    def test_no_name_hides_them(self, tmp_path: Path, kind: str, statement: str) -> None:
        path = pool(tmp_path / "pool")
        with opened_database(path) as database:
            database.execute("PRAGMA writable_schema = ON")
            name = statement.split()[2]
            table = "events" if kind == "trigger" else name
            root = 2 if kind == "table" else 0
            row = (kind, name, table, root, statement)
            database.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)
        with pytest.raises(DataError, match=r"it was changed|damaged"):
            JudgingFile(path)

    def test_statistics_of_sqlite_are_none(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with opened_database(path) as database:
            database.execute("ANALYZE")
        assert keys(path) == []

    def test_queries_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(databases, "QUERY_SECONDS", 0.2)
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT x FROM n"
        begin = time.monotonic()
        with JudgingFile(pool(tmp_path / "pool")) as file:
            with pytest.raises(DataError, match="interrupted"), file.reading() as database:
                database.execute(f"SELECT COUNT(*) FROM ({endless})").fetchone()
            # the next one has its own time
            assert progress(file).documents == 18
        assert time.monotonic() - begin < 5


class TestVersions:
    def test_a_file_of_version_1_goes_on(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool")
        with JudgingFile(path) as file:
            file.record("anna", [vote(1)])
        first_version(path)
        with JudgingFile(path) as file:
            assert outcomes(file.record("anna", [vote(2)])) == ["saved"]
        assert len(keys(path)) == 2
        with opened_database(path) as database:
            assert database.execute("PRAGMA user_version").fetchone() == (2,)
        assert [each.name for each in tmp_path.iterdir()] == ["pool"]

    def test_votes_in_the_log_of_version_1_are_kept(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool", 60)
        first_version(path)
        killed_log(path, "wal").rename(tmp_path / "pool-wal")
        assert len(keys(path)) == 1

    def test_a_log_older_than_a_file_of_version_1(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "pool", 60)
        first_version(path)
        log = killed_log(path, "wal").rename(tmp_path / "pool-wal")
        os.utime(log, (1, 1))
        with pytest.raises(DataError, match="is the log of another file"):
            JudgingFile(path)
