"""Pools, and what assessors do with them."""

from __future__ import annotations

import json
import multiprocessing
import random
import sqlite3
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from sicetnon.errors import DataError, UsageError
from sicetnon.evaluation import load_qrels
from sicetnon.judging import (
    Action,
    JudgingFile,
    NotSavedError,
    export_judgments,
    import_judgments,
    make_pool,
    scales_of,
)
from sicetnon.judging.votes import agreement, disagreements, events, progress, standing_votes
from sicetnon.records import Topic
from support.databases import opened_database
from support.judging_cases import TOPICS, judge_all, key, outcomes, pool, runs, undo, vote


@pytest.fixture
def file(tmp_path: Path):
    with JudgingFile(pool(tmp_path / "pool.sqlite")) as opened:
        yield opened


class TestPools:
    def test_a_pool_holds_the_first_documents_of_each_run(self, tmp_path: Path) -> None:
        size = make_pool(tmp_path / "p", runs(), TOPICS, depth=2)
        assert (size.topics, size.documents) == (2, 8)
        with JudgingFile(tmp_path / "p") as file:
            found = {(item.topic, item.document) for item in file.assigned("anna", 99)}
        assert found == {(t, f"d{t}-{n}") for t in TOPICS for n in (0, 1, 3, 4)}

    def test_ranks_count_not_scores(self, tmp_path: Path) -> None:
        (tmp_path / "run").write_text("1 Q0 a 1 0.1 tag\n1 Q0 b 2 0.9 tag\n")
        make_pool(tmp_path / "p", [tmp_path / "run"], TOPICS, depth=1)
        with JudgingFile(tmp_path / "p") as file:
            assert [item.document for item in file.assigned("anna", 9)] == ["a"]

    def test_a_pair_is_in_the_pool_once(self, tmp_path: Path) -> None:
        both = {"x": {"1": {"a,b": 1.0}}, "y": {"1": {"b,a": 1.0}}}
        make_pool(tmp_path / "p", both, TOPICS, task="touche-2022-task-1")
        with JudgingFile(tmp_path / "p") as file:
            assert [item.document for item in file.assigned("anna", 9)] == ["a,b"]
            assert file.plan.dimensions == ("relevance", "quality", "coherence")

    def test_a_file_with_votes_is_not_written_over(self, file: JudgingFile) -> None:
        with pytest.raises(UsageError, match="is there already"):
            pool(file.path)
        assert len(file.assigned("anna", 99)) == 18

    def test_a_run_with_other_topics(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="not among the topics"):
            make_pool(tmp_path / "p", {"run": {"9": {"a": 1.0}}}, TOPICS)
        assert not list(tmp_path.iterdir())

    def test_the_file_tells_no_ranks(self, tmp_path: Path) -> None:
        make_pool(tmp_path / "p", {"one": runs(40)["one"]}, TOPICS, depth=40)
        with JudgingFile(tmp_path / "p") as file, file.reading() as database:
            ids = [row[0] for row in database.execute("SELECT document FROM items ORDER BY id")]
        in_order = [f"d1-{n}" for n in range(40)]
        assert sorted(ids[:40]) == sorted(in_order)
        assert ids[:40] != in_order

    def test_scales(self) -> None:
        (relevance,) = scales_of("touche-2020-task-1")
        assert relevance.values == ("-2", "0", "1", "2")
        assert [scale.dimension for scale in scales_of("touche-2022-task-2")] == [
            "relevance",
            "quality",
            "stance",
        ]
        for task in ("", "touche-2021-task-2", "touche-2022-task-1"):
            for scale in scales_of(task, ("relevance", "quality", "coherence", "stance", "side")):
                keys = [label.key for label in scale.labels]
                assert len(set(keys)) == len(keys)
                assert not {"u", "s", "n"} & set(keys)
        for wrong in (("taste",), ("quality", "quality")):
            with pytest.raises(UsageError):
                scales_of("", wrong)


class TestOrders:
    def test_each_assessor_has_an_order_of_their_own(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", votes=3)) as file:
            first, second = (
                [item.document for item in file.assigned(name, 99)] for name in ("anna", "bert")
            )
        assert sorted(first) == sorted(second)
        assert first != second
        with JudgingFile(tmp_path / "p") as file:
            assert [item.document for item in file.assigned("anna", 99)] == first
        # topic by topic
        assert sum(a[:2] != b[:2] for a, b in pairwise(first)) == 1

    def test_another_seed_is_another_order(self, tmp_path: Path) -> None:
        orders = []
        for seed in range(3):
            with JudgingFile(pool(tmp_path / f"p{seed}", seed=seed)) as file:
                orders.append(tuple(item.document for item in file.assigned("anna", 99)))
        assert len(set(orders)) == 3


class TestVotes:
    def test_what_is_saved_stands(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        (receipt,) = file.record("anna", [vote(item.id, "2")])
        assert receipt.outcome == "saved"
        with JudgingFile(file.path) as other:
            (found,) = standing_votes(other)
        assert (found.assessor, found.document, found.label) == ("anna", item.document, "2")
        assert item.id not in {each.id for each in file.assigned("anna", 99)}

    def test_the_same_key_is_saved_once(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        action = vote(item.id)
        assert outcomes(file.record("anna", [action, action])) == ["saved", "repeated"]
        assert outcomes(file.record("anna", [action])) == ["repeated"]
        other = vote(item.id, "2", key=action.key)
        assert outcomes(file.record("anna", [other])) == ["refused"]
        assert outcomes(file.record("bert", [action])) == ["refused"]
        assert len(list(events(file))) == 1

    def test_a_later_vote_stands_in_place_of_an_earlier_one(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        first, second = vote(item.id, "0"), vote(item.id, "2")
        file.record("anna", [first, second])
        assert [each.label for each in standing_votes(file)] == ["2"]
        file.record("anna", [undo(second)])
        assert [each.label for each in standing_votes(file)] == ["0"]
        file.record("anna", [undo(first)])
        assert standing_votes(file) == []
        kinds = [each["kind"] for each in events(file)]
        assert kinds == ["vote", "vote", "undo", "undo"]

    def test_events_cannot_be_changed(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        file.record("anna", [vote(item.id)])
        with opened_database(file.path) as database:
            for statement in ("UPDATE events SET label = '2'", "DELETE FROM events"):
                with pytest.raises(sqlite3.IntegrityError):
                    database.execute(statement)

    def test_undo(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        action = vote(item.id)
        file.record("anna", [action])
        last = file.last("anna")
        assert last is not None
        assert last.key == action.key
        taken_back = undo(action)
        assert outcomes(file.record("bert", [undo(action)])) == ["refused"]
        assert outcomes(file.record("anna", [taken_back, taken_back])) == ["saved", "repeated"]
        assert outcomes(file.record("anna", [undo(action)])) == ["refused"]
        assert file.last("anna") is None
        assert file.assigned("anna")[0].id == item.id

    def test_skip_and_note(self, file: JudgingFile) -> None:
        (item,) = file.assigned("anna")
        note = Action(key(), "note", item.id, note="who says so?")
        assert outcomes(file.record("anna", [note])) == ["saved"]
        assert file.assigned("anna")[0].note == "who says so?"
        skip = Action(key(), "skip", item.id)
        file.record("anna", [skip])
        assert item.id not in {each.id for each in file.assigned("anna", 99)}
        (anna,) = progress(file).assessors
        assert (anna.judged, anna.skipped, anna.notes) == (0, 1, 1)
        file.record("anna", [undo(skip)])
        assert item.id in {each.id for each in file.assigned("anna", 99)}

    @pytest.mark.parametrize(
        "action",
        [
            Action("short", "vote", 1, "relevance", "1"),
            Action("a key of words", "vote", 1, "relevance", "1"),
            Action("key-of-mine", "vote", 99, "relevance", "1"),
            Action("key-of-mine", "vote", -(2**70), "relevance", "1"),
            Action("key-of-mine", "vote", 1, "quality", "1"),
            Action("key-of-mine", "vote", 1, "relevance", "3"),
            Action("key-of-mine", "note", 1, note="x" * 2001),
            Action("key-of-mine", "undo", 1, target="key-of-none"),
        ],
    )
    def test_what_cannot_be_saved_is_refused(self, file: JudgingFile, action: Action) -> None:
        (receipt,) = file.record("anna", [action])
        assert receipt.outcome == "refused"
        assert receipt.reason
        assert list(events(file)) == []

    @pytest.mark.parametrize("name", ["", " a", "a  b", "a\nb", "x" * 61, "\u202eanna"])
    def test_names_that_nobody_can_have(self, file: JudgingFile, name: str) -> None:
        with pytest.raises(UsageError):
            file.assigned(name)

    def test_all_dimensions_make_a_document_complete(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", task="touche-2021-task-1")) as file:
            (item,) = file.assigned("anna")
            file.record("anna", [vote(item.id, "2")])
            (again,) = file.assigned("anna")
            assert (again.id, again.votes) == (item.id, {"relevance": "2"})
            assert progress(file).judged == 0
            file.record("anna", [vote(item.id, "1", "quality")])
            assert progress(file).judged == 1
            assert file.assigned("anna")[0].id != item.id

    def test_bulk_undo(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", votes=2)) as file:
            judge_all(file, "anna")
            judge_all(file, "bert", most=4)
            assert file.undo_all("anna", topic="1") == 9
            assert progress(file).votes == 13
            moment = list(events(file))[20]["time"]
            assert file.undo_all("anna", since=moment + 1e6) == 0
            assert file.undo_all("anna") == 9
            assert {each.assessor for each in standing_votes(file)} == {"bert"}
            assert judge_all(file, "anna") == 18
            with pytest.raises(UsageError):
                file.undo_all("nobody")
            with pytest.raises(UsageError):
                file.undo_all("anna", topic="9")


class TestQuota:
    def test_a_document_gets_as_many_votes_as_are_wanted(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", votes=2)) as file:
            assert [judge_all(file, name) for name in ("anna", "bert", "cleo")] == [18, 18, 0]
            (receipt,) = file.record("cleo", [vote(1)])
            assert receipt.outcome == "refused"
            assert progress(file).judged == 18

    def test_what_is_shown_to_one_is_not_shown_to_another(self, file: JudgingFile) -> None:
        first = {item.id for item in file.assigned("anna", 10)}
        second = {item.id for item in file.assigned("bert", 10)}
        assert (len(first), len(second)) == (10, 8)
        assert not first & second
        assert outcomes(file.record("bert", [vote(min(first))])) == ["refused"]

    def test_what_is_not_judged_in_time_goes_to_others(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p"), hold_seconds=0) as file:
            (item,) = file.assigned("anna")
            assert item.id in {each.id for each in file.assigned("bert", 18)}
            assert outcomes(file.record("bert", [vote(item.id)])) == ["saved"]
            assert outcomes(file.record("anna", [vote(item.id)])) == ["refused"]

    def test_an_assessor_judges_no_more_than_the_quota(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", quota=5)) as file:
            assert len(file.assigned("anna", 99)) == 5
            assert judge_all(file, "anna") == 5
            free = file.assigned("bert", 1)[0].id
            assert file.assigned("anna") == []
            assert outcomes(file.record("anna", [vote(free)])) == ["refused"]
            last = file.last("anna")
            assert last is not None
            file.record("anna", [undo(last)])
            assert judge_all(file, "anna") == 1

    def test_undoing_a_skip_is_no_way_around_the_quota(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", quota=1)) as file:
            (item,) = file.assigned("anna")
            skip = Action(key(), "skip", item.id)
            file.record("anna", [skip])
            (other,) = file.assigned("anna", 9)
            file.record("anna", [undo(skip), vote(other.id), vote(item.id)])
            assert len(standing_votes(file)) == 1

    @pytest.mark.parametrize("votes", [1, 2])
    def test_it_holds_with_many_at_once(self, tmp_path: Path, votes: int) -> None:
        path = pool(tmp_path / "p", count=20, votes=votes, quota=12)

        def work(number: int) -> int:
            # every second assessor shares an open file with another one, as in a server
            with JudgingFile(path) as file:
                return judge_all(file, f"assessor {number}", str(number % 3))

        with ThreadPoolExecutor(8) as threads:
            done = list(threads.map(work, range(8)))
        with JudgingFile(path) as file:
            counts = Counter(each.document for each in standing_votes(file))
        assert max(counts.values()) <= votes
        assert max(done) <= 12
        assert sum(done) == min(votes * 60, 8 * 12)

    def test_it_holds_over_processes(self, tmp_path: Path) -> None:
        path = pool(tmp_path / "p", count=10)
        context = multiprocessing.get_context("spawn")
        with context.Pool(3) as processes:
            done = processes.starmap(_judge, [(path, f"a{n}") for n in range(3)])
        assert sum(done) == 30
        with JudgingFile(path) as file:
            assert len(standing_votes(file)) == 30


def _judge(path: Path, name: str) -> int:
    with JudgingFile(path) as file:
        return judge_all(file, name)


def test_nothing_an_assessor_does_breaks_the_rules(tmp_path: Path) -> None:
    """Random actions of three assessors: no quota is exceeded, nothing acknowledged is lost."""
    for seed in range(2):
        rng = random.Random(seed)
        with JudgingFile(
            pool(tmp_path / str(seed), 4, votes=2, quota=5), hold_seconds=0.02
        ) as file:
            acknowledged: list[Action] = []
            for _ in range(150):
                name = rng.choice(["anna", "bert", "cleo"])
                item = rng.randint(1, 12)
                action = rng.choice(
                    [
                        vote(item, rng.choice(["0", "1", "2"])),
                        Action(key(), "skip", item),
                        undo(rng.choice(acknowledged)) if acknowledged else vote(item),
                    ]
                )
                if rng.random() < 0.3:
                    file.assigned(name, rng.randint(1, 4))
                if outcomes(file.record(name, [action])) == ["saved"]:
                    acknowledged.append(action)
                votes = standing_votes(file)
                assert max(Counter(v.document for v in votes).values(), default=0) <= 2
                assert max(Counter(v.assessor for v in votes).values(), default=0) <= 5
            assert len(list(events(file))) == len(acknowledged) > 30


class TestExchange:
    @pytest.mark.parametrize("task", ["", "touche-2020-task-1"])
    def test_a_comma_in_an_id_costs_no_vote(self, tmp_path: Path, task: str) -> None:
        documents = {"smith,john": 1.0, "john,smith": 0.5}
        make_pool(tmp_path / "p", {"x": {"1": documents}}, TOPICS, task=task)
        (tmp_path / "known.qrels").write_text("1 0 smith,john 2\n1 0 john,smith 0\n")
        with JudgingFile(tmp_path / "p") as file:
            found = import_judgments(file, tmp_path / "known.qrels", "known")
            assert (found.saved, found.outside) == (2, 0)
            (written,) = export_judgments(file, tmp_path / "out")
            assert load_qrels(written.path).grades["1"] == {"smith,john": 2, "john,smith": 0}

    def test_a_pair_is_one_in_any_order_in_its_task(self, tmp_path: Path) -> None:
        task = "touche-2022-task-1"
        make_pool(tmp_path / "p", {"x": {"1": {"s,t": 1.0}}}, TOPICS, task=task)
        with JudgingFile(tmp_path / "p") as file:
            (tmp_path / "relevance.qrels").write_text("1 0 t,s 2\n")
            assert import_judgments(file, tmp_path / "relevance.qrels", "known").saved == 1
            (written,) = export_judgments(file, tmp_path / "out")
            qrels = load_qrels(written.path)
            assert (qrels.pairs, qrels.grades["1"]) == (True, {"s,t": 2})
            (tmp_path / "two.qrels").write_text("1 0 s,t 2\n1 0 s,t 0\n")
            with pytest.raises(DataError, match="line 1 has 2"):
                import_judgments(file, tmp_path / "two.qrels", "other")

    def test_judgments_go_out_and_in(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", dimensions=("relevance", "side"), votes=3)) as file:
            for name, grade, side in (("a", "0", "FOR"), ("b", "2", "FOR"), ("c", "2", "NONE")):
                for item in file.assigned(name, 99):
                    file.record(name, [vote(item.id, grade), vote(item.id, side, "side")])
            written = export_judgments(file, tmp_path / "out")
            assert [(each.path.name, each.judgments) for each in written] == [
                ("judgments-relevance.qrels", 18),
                ("judgments-side.qrels", 18),
            ]
            qrels = load_qrels(written[0].path)
            assert set(qrels.grades["1"].values()) == {2}
            lowest = export_judgments(file, tmp_path / "low", "lowest")
            assert set(load_qrels(lowest[0].path).grades["1"].values()) == {0}
            rows = (tmp_path / "out" / "votes.jsonl").read_text().splitlines()
            assert len(rows) == 108
            assert json.loads(rows[0])["assessor"] == "a"
        with JudgingFile(pool(tmp_path / "q", dimensions=("relevance", "side"))) as fresh:
            for each in written:
                found = import_judgments(fresh, each.path, "known")
                assert (found.saved, found.outside, found.full) == (18, 0, 0)
            assert progress(fresh).judged == 18
            assert fresh.assigned("anna") == []
            again = import_judgments(fresh, written[0].path, "known")
            assert (again.saved, again.known) == (0, 18)
            other = import_judgments(fresh, written[0].path, "other")
            assert (other.saved, other.full) == (0, 18)
            assert len(list(events(fresh))) == 36

    def test_ties_of_words_are_left_out(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", dimensions=("side",), votes=2)) as file:
            for name, side in (("a", "FOR"), ("b", "NONE")):
                file.record(name, [vote(1, side, "side")])
            (written,) = export_judgments(file, tmp_path / "out", "median")
            assert (written.judgments, written.ties) == (0, 1)

    def test_without_a_vote_nothing_is_written(self, file: JudgingFile, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="found no vote"):
            export_judgments(file, tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_judgments_that_do_not_fit(self, file: JudgingFile, tmp_path: Path) -> None:
        for text, error in (("1 0 d1-1 5\n", DataError), ("1 0 d1-1 FIRST\n", UsageError)):
            (tmp_path / "relevance.qrels").write_text(f"1 0 d1-0 1\n{text}")
            with pytest.raises((DataError, UsageError)):
                import_judgments(file, tmp_path / "relevance.qrels", "known")
            (tmp_path / "relevance.qrels").write_text(text)
            with pytest.raises(error):
                import_judgments(file, tmp_path / "relevance.qrels", "known")
        assert list(events(file)) == []

    def test_agreement_and_disagreements(self, tmp_path: Path) -> None:
        with JudgingFile(pool(tmp_path / "p", votes=2)) as file:
            for item in file.assigned("anna", 99):
                file.record("anna", [vote(item.id, "2" if item.id % 2 else "0")])
            for item in file.assigned("bert", 99):
                grade = "1" if item.id == 1 else "2" if item.id % 2 or item.id == 2 else "0"
                file.record("bert", [vote(item.id, grade)])
            file.record("bert", [Action(key(), "note", 1, note="hard to say")])
            (found,) = agreement(file)
            assert found.documents == 18
            assert [(p.first, p.second, p.documents) for p in found.pairs] == [("anna", "bert", 18)]
            assert 0.7 < found.pairs[0].kappa < 0.9 < 1 > found.alpha > 0.7
            furthest, next_one = disagreements(file)
            assert furthest.votes == {"anna": "0", "bert": "2"}
            assert next_one.notes == {"bert": "hard to say"}
            assert disagreements(file, "relevance") == [furthest, next_one]
            with pytest.raises(UsageError):
                disagreements(file, "quality")


def _long_note(item: int) -> Action:
    return Action(key(), "note", item, note="why? " * 300)


def _fill(file: JudgingFile, make: Callable[[int], Action], saved: list[str]) -> None:
    for number in range(100_000):
        (receipt,) = file.record("anna", [make(1 + number % 180)])
        assert receipt.outcome == "saved"
        saved.append(receipt.key)


class TestFiles:
    def test_a_full_disk(self, small_disk: Path) -> None:
        with JudgingFile(pool(small_disk / "p", count=60, votes=99)) as file:
            saved: list[str] = []
            # a note that is too long for what is left, then votes up to the last byte
            for make in (_long_note, vote):
                with pytest.raises(NotSavedError):
                    _fill(file, make, saved)
        with opened_database(small_disk / "p") as database:
            found = {row[0] for row in database.execute("SELECT key FROM events")}
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert len(found) > 10
        assert found == set(saved)

    def test_a_disk_with_no_room_for_a_pool(self, small_disk: Path) -> None:
        (small_disk / "filler").write_bytes(bytes(1 << 20))
        with pytest.raises(NotSavedError):
            pool(small_disk / "p")
        assert [path.name for path in small_disk.iterdir()] == ["filler"]

    def test_files_that_are_no_judging_file(self, file: JudgingFile, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="found no judging file"):
            JudgingFile(tmp_path / "none")
        (tmp_path / "text").write_text("1 0 d 1\n" * 200)
        (tmp_path / "empty").write_text("")
        with opened_database(tmp_path / "other") as database:
            database.execute("CREATE TABLE events (x)")
        file.close()
        data = file.path.read_bytes()
        for name, place, what in (("head", 0, b"x"), ("version", 63, b"\x09")):
            (tmp_path / name).write_bytes(data[:place] + what + data[place + 1 :])
        for name in ("text", "empty", "other", "head", "version"):
            with pytest.raises(DataError):
                JudgingFile(tmp_path / name)

    def test_tables_of_others_are_refused(self, file: JudgingFile) -> None:
        file.close()
        with opened_database(file.path) as database:
            database.execute("DROP TRIGGER events_stay")
        with pytest.raises(DataError, match="it was changed"):
            JudgingFile(file.path)

    def test_damage_is_one_error(self, file: JudgingFile, tmp_path: Path) -> None:
        for item in file.assigned("anna", 99):
            file.record("anna", [vote(item.id)])
        file.close()
        data = bytearray(file.path.read_bytes())
        for seed in range(100):
            rng = random.Random(seed)
            damaged = bytearray(data)
            for _ in range(rng.randint(1, 8)):
                damaged[rng.randrange(len(data))] = rng.randrange(256)
            path = tmp_path / "damaged"
            path.write_bytes(damaged[: rng.randint(0, len(data))] if seed % 5 == 0 else damaged)
            try:
                with JudgingFile(path) as opened:
                    progress(opened)
                    agreement(opened)
                    opened.record("anna", [vote(1)])
                    list(events(opened))
            except (DataError, NotSavedError, UsageError):
                pass


@pytest.mark.parametrize("odd", ["a\nb", "a\r", "a b", "\t", "", "\x00", "\u2028", "\x1b[31m"])
@pytest.mark.parametrize("column", ["document", "topic"])
def test_a_pool_with_an_id_that_no_file_can_hold_is_refused(
    odd: str, column: str, tmp_path: Path
) -> None:
    run, path = tmp_path / "run.txt", tmp_path / "pool.sqlite"
    run.write_text("1 Q0 a 1 2.0 t\n")
    make_pool(path, [run], [Topic("1", "Tea?")])
    with opened_database(path) as database:
        database.execute("PRAGMA foreign_keys = off")
        if column == "topic":
            content = json.dumps({"number": odd, "title": "Tea?"})
            database.execute("UPDATE topics SET number = ?, content = ?", (odd, content))
        database.execute(f"UPDATE items SET {column} = ?", (odd,))
        database.commit()
    with pytest.raises(DataError, match="no sound judging file"):
        JudgingFile(path)


def test_a_pool_whose_documents_have_no_topic_is_refused(tmp_path: Path) -> None:
    run, path = tmp_path / "run.txt", tmp_path / "pool.sqlite"
    run.write_text("1 Q0 a 1 2.0 t\n")
    make_pool(path, [run], [Topic("1", "Tea?")])
    with opened_database(path) as database:
        database.execute("PRAGMA foreign_keys = off")
        database.execute("UPDATE items SET topic = '2'")
        database.commit()
    with pytest.raises(DataError, match="the topic '2', which it lacks"):
        JudgingFile(path)
