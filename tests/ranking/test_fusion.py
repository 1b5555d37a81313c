"""Fusion: what it promises on any runs, against plain transcriptions, on the official runs."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import UsageError
from sicetnon.evaluation import OFFICIAL_NDCG, load_qrels, load_run
from sicetnon.ranking.fusion import METHODS, NORMALISATIONS, Fusion, are_usable, fuse
from sicetnon.records import Ranking, Run, RunLine, Topic

STANCES = ("FIRST", "SECOND", "NEUTRAL", "NO", "Q0")
FUSIONS = [
    Fusion("rrf"),
    *itertools.starmap(Fusion, itertools.product(METHODS[1:], NORMALISATIONS)),
]
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 3.0, 7.5])


def ranked(*rows: tuple[str, float] | tuple[str, float, str]) -> Ranking:
    """A ranking of documents with their scores and, where they have one, stances."""
    stances = tuple(row[2] if len(row) > 2 else "Q0" for row in rows)
    scores = np.array([row[1] for row in rows], dtype=float)
    return Ranking(Topic("1", ""), tuple(row[0] for row in rows), scores, stances)


def named(rankings: dict[str, Ranking]) -> Run:
    """A run of rankings by the numbers of their topics."""
    each = {number: replace(one, topic=Topic(number, "")) for number, one in rankings.items()}
    return Run("run", "tag", each)


def run(**topics: Ranking) -> Run:
    return named({name.removeprefix("t"): each for name, each in topics.items()})


def plain(*documents: str) -> Run:
    """A run of one topic whose scores are as the ranks."""
    return run(t1=ranked(*((name, -place) for place, name in enumerate(documents))))


@st.composite
def topic_rankings(draw: st.DrawFn) -> Ranking:
    names = draw(st.lists(st.sampled_from("abcdefghijkl"), unique=True, min_size=1))
    number = st.integers(-3, 3).map(float) | st.floats(allow_nan=False)
    scores = draw(st.lists(number, min_size=len(names), max_size=len(names)))
    if draw(st.booleans()):
        scores.sort(reverse=True)
    stances = tuple(draw(st.sampled_from(STANCES)) for _ in names)
    kept = draw(st.sampled_from([None, stances]))
    return Ranking(Topic("1", ""), tuple(names), np.array(scores), kept)


RUNS = st.dictionaries(st.sampled_from(["1", "2", "10"]), topic_rankings(), min_size=1).map(named)


def content(fused: Run) -> dict[str, tuple[tuple[str, ...], tuple[str, ...], list[float]]]:
    return {
        topic: (each.ids, each.second_column, each.scores.tolist())
        for topic, each in fused.rankings.items()
    }


class TestPromises:
    """Each drawn set of runs is fused in all ways: to draw it takes longer than to fuse it."""

    @given(st.lists(st.tuples(RUNS, WEIGHTS), min_size=1, max_size=4), st.randoms())
    @settings(max_examples=30)
    def test_the_order_of_the_runs_does_not_matter(self, pairs, random) -> None:
        def fused(pairs, fusion):
            runs, weights = zip(*pairs, strict=True)
            return content(fuse(runs, Fusion(fusion.method, fusion.normalise, weights)))

        other = random.sample(pairs, len(pairs))
        for fusion in FUSIONS:
            assert fused(other, fusion) == fused(pairs, fusion), fusion

    @given(RUNS, st.integers(1, 3))
    @settings(max_examples=30)
    def test_a_run_fused_with_itself_keeps_its_order_and_stances(self, one, times) -> None:
        for fusion in FUSIONS:
            fused = fuse([one] * times, fusion)
            for topic, given_ranking in one.rankings.items():
                assert fused.rankings[topic].ids == given_ranking.ids, fusion
                assert fused.rankings[topic].second_column == given_ranking.second_column, fusion

    @given(RUNS, RUNS, RUNS)
    @settings(max_examples=30)
    def test_a_run_without_weight_is_left_out(self, first, second, third) -> None:
        for fusion in FUSIONS:
            weighted = Fusion(fusion.method, fusion.normalise, (1, 0, 2))
            without = Fusion(fusion.method, fusion.normalise, (1, 2))
            assert content(fuse([first, second, third], weighted)) == content(
                fuse([first, third], without)
            ), fusion

    @given(st.lists(RUNS, min_size=1, max_size=4), st.integers(1, 15))
    @settings(max_examples=30)
    def test_nothing_is_lost_or_doubled_and_scores_never_rise(self, runs, depth) -> None:
        topics = {topic for each in runs for topic in each.rankings}
        for fusion in FUSIONS:
            fused, whole = fuse(runs, fusion, depth), fuse(runs, fusion)
            assert list(fused.rankings) == sorted(topics, key=int), fusion
            for topic, each in whole.rankings.items():
                held = [one.rankings[topic].ids for one in runs if topic in one.rankings]
                assert Counter(each.ids) == Counter(set(itertools.chain(*held))), fusion
                assert np.isfinite(each.scores).all(), fusion
                assert (np.diff(each.scores) <= 0).all(), fusion
                assert fused.rankings[topic].ids == each.ids[:depth], fusion

    @given(st.lists(RUNS, min_size=2, max_size=4))
    def test_only_the_ratios_of_weights_matter(self, runs) -> None:
        weights = tuple(range(1, len(runs) + 1))
        doubled = tuple(2.0 * weight for weight in weights)
        assert content(fuse(runs, Fusion(weights=weights))) == content(
            fuse(runs, Fusion(weights=doubled))
        )

    @given(RUNS, RUNS)
    def test_a_document_both_put_first_is_first(self, one, other) -> None:
        fused = fuse([one, other])
        for topic in one.rankings.keys() & other.rankings.keys():
            first = one.rankings[topic].ids[0]
            if other.rankings[topic].ids[0] == first:
                assert fused.rankings[topic].ids[0] == first


def standard(scores: list[float]) -> list[float]:
    mean, deviation = statistics.mean(scores), statistics.pstdev(scores)
    return [(score - mean) / deviation for score in scores]


TRANSCRIBED: dict[str, Callable[[list[float]], list[float]]] = {
    "min-max": lambda s: [(x - min(s)) / (max(s) - min(s)) for x in s],
    "sum": lambda s: [(x - min(s)) / sum(y - min(s) for y in s) for x in s],
    "z-score": lambda s: [z - min(standard(s)) for z in standard(s)],
    "rank": lambda s: [1 - place / len(s) for place in range(len(s))],
}


@st.composite
def scored_lists(draw: st.DrawFn) -> dict[str, float]:
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=2))
    size = len(names)
    scores = draw(st.lists(st.integers(-99, 99), unique=True, min_size=size, max_size=size))
    return dict(zip(names, sorted(map(float, scores), reverse=True), strict=True))


WEIGHTED_LISTS = st.lists(st.tuples(scored_lists(), WEIGHTS), min_size=1, max_size=4)


class TestTranscriptions:
    """The formulas as they are printed, in plain Python."""

    @given(WEIGHTED_LISTS)
    def test_reciprocal_rank_fusion(self, given_lists) -> None:
        top = max(weight for _, weight in given_lists)
        expected: dict[str, float] = {}
        for scores, weight in given_lists:
            for rank, name in enumerate(scores, start=1):
                expected[name] = expected.get(name, 0) + weight / top / (60 + rank)
        self.check(Fusion("rrf"), given_lists, expected)

    @pytest.mark.parametrize("normalise", NORMALISATIONS)
    @given(WEIGHTED_LISTS)
    @settings(max_examples=25)
    def test_sum_and_mnz(self, normalise, given_lists) -> None:
        top = max(weight for _, weight in given_lists)
        expected: dict[str, float] = {}
        for scores, weight in given_lists:
            values = TRANSCRIBED[normalise](list(scores.values()))
            for name, value in zip(scores, values, strict=True):
                expected[name] = expected.get(name, 0) + weight / top * value
        self.check(Fusion("sum", normalise), given_lists, expected)
        for name in expected:
            expected[name] *= sum(name in scores for scores, _ in given_lists)
        self.check(Fusion("mnz", normalise), given_lists, expected)

    def check(self, fusion, given_lists, expected) -> None:
        runs = [run(t1=ranked(*scores.items())) for scores, _ in given_lists]
        weights = tuple(weight for _, weight in given_lists)
        fused = fuse(runs, Fusion(fusion.method, fusion.normalise, weights)).rankings["1"]
        found = dict(zip(fused.ids, fused.scores.tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-12)

    def test_the_paper_s_constant_in_numbers(self) -> None:
        fused = fuse([plain("a", "b"), plain("b", "c")]).rankings["1"]
        assert fused.ids == ("b", "a", "c")
        assert fused.scores.tolist() == pytest.approx([1 / 62 + 1 / 61, 1 / 61, 1 / 62])


class TestTies:
    def test_even_documents_go_by_best_rank_then_by_id(self) -> None:
        # b and d swap places 1 and 3, so that they are even, and so are y and x
        first, second = plain("d", "a", "b", "y", "x"), plain("b", "a", "d", "x", "y")
        fused = fuse([first, second])
        assert fused.rankings["1"].ids == ("b", "d", "a", "x", "y")
        # at equal sums the one that somebody puts higher
        fused = fuse([plain("a", "m", "z"), plain("z", "m", "a")], Fusion("sum", "min-max"))
        assert fused.rankings["1"].ids == ("a", "z", "m")

    def test_the_ranks_decide_among_tied_scores(self, tmp_path: Path) -> None:
        path = tmp_path / "run.txt"
        path.write_text("1 Q0 z 2 5 t\n1 Q0 y 1 5 t\n1 Q0 a 3 5 t\n1 Q0 b 4 4 t\n")
        for fusion in FUSIONS:
            assert fuse([load_run(path)], fusion).rankings["1"].ids == ("y", "z", "a", "b")

    @pytest.mark.parametrize(
        "scores",
        [[1.0, 2.0, 3.0], [7.0, 7.0, 7.0], [math.inf, 1.0, 0.0], [0.0, -1.0, -math.inf]],
    )
    def test_ranks_stand_in_for_scores_that_say_nothing(self, scores) -> None:
        odd = run(t1=ranked(*zip("abc", scores, strict=True)))
        assert not are_usable(odd.rankings["1"].scores)
        for fusion in FUSIONS:
            assert content(fuse([odd], fusion)) == content(fuse([plain("a", "b", "c")], fusion))

    def test_scores_at_the_ends_of_the_range_do_not_overflow(self) -> None:
        wide = run(t1=ranked(("a", 1.7e308), ("b", 0.0), ("c", -1.7e308)))
        fused = fuse([wide], Fusion("sum"))
        assert fused.rankings["1"].scores.tolist() == [1, 0.5, 0]


class TestStances:
    def elect(self, *votes: tuple[str, int], weights: tuple[float, ...] | None = None) -> str:
        """The stance of `x`, which each run holds at some place with some stance."""
        runs = []
        for stance, place in votes:
            names = [f"other{number}" for number in range(place)]
            rows = [(name, -float(n), "Q0") for n, name in enumerate(names)]
            runs.append(run(t1=ranked(*rows, ("x", -float(place), stance))))
        fused = fuse(runs, Fusion(weights=weights)).rankings["1"]
        return fused.second_column[fused.ids.index("x")]

    def test_most_votes_win(self) -> None:
        assert self.elect(("FIRST", 0), ("SECOND", 5), ("SECOND", 3)) == "SECOND"

    def test_votes_are_weighted(self) -> None:
        votes = ("FIRST", 9), ("SECOND", 0), ("SECOND", 0)
        assert self.elect(*votes, weights=(3, 1, 1)) == "FIRST"

    def test_q0_abstains(self) -> None:
        assert self.elect(("Q0", 0), ("Q0", 0), ("NO", 4)) == "NO"
        assert self.elect(("Q0", 0), ("Q0", 0)) == "Q0"

    def test_even_votes_go_to_the_better_rank_then_by_name(self) -> None:
        assert self.elect(("FIRST", 3), ("SECOND", 2)) == "SECOND"
        assert self.elect(("SECOND", 2), ("FIRST", 2)) == "FIRST"


class TestRuns:
    def test_a_topic_may_be_missing(self) -> None:
        one, other = run(t2=ranked(("a", 1))), run(t2=ranked(("b", 1)), t10=ranked(("c", 1)))
        fused = fuse([one, other])
        assert {topic: each.ids for topic, each in fused.rankings.items()} == {
            "2": ("a", "b"),
            "10": ("c",),
        }
        assert list(fused.rankings) == ["2", "10"]

    def test_topics_without_numbers_come_last(self) -> None:
        names = {"b": ranked(("x", 1)), "10": ranked(("x", 1)), "9": ranked(("x", 1))}
        assert list(fuse([named(names)]).rankings) == ["9", "10", "b"]

    def test_a_pair_is_one_however_it_is_written(self) -> None:
        runs = [plain("s__1,s__2", "s__3,s__4"), plain("s__2,s__1", "s__5,s__4")]
        expected = ("s__1,s__2", "s__3,s__4", "s__4,s__5")
        assert fuse(runs).rankings["1"].ids == expected
        assert fuse(runs, task="touche-2022-task-1").rankings["1"].ids == expected

    def test_commas_alone_make_no_pairs(self) -> None:
        fused = fuse([plain("b__1,a__1", "x"), plain("a__1,b__1", "x")])
        assert set(fused.rankings["1"].ids) == {"b__1,a__1", "a__1,b__1", "x"}

    def test_only_the_task_with_pairs_makes_pairs_of_any_two_names(self) -> None:
        runs = [plain("smith,john", "a,b"), plain("john,smith", "a,b")]
        for task in (None, "touche-2020-task-1"):
            assert set(fuse(runs, task=task).rankings["1"].ids) == {
                "smith,john",
                "john,smith",
                "a,b",
            }
        paired = fuse(runs, task="touche-2022-task-1").rankings["1"].ids
        assert paired == ("john,smith", "a,b")

    def test_records_will_do(self) -> None:
        records = [RunLine("1", "PRO", name, n, -n, "t") for n, name in enumerate("ab", start=1)]
        assert fuse([load_run(records, "r")]).rankings["1"].ids == ("a", "b")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fusion("borda"), "method 'borda'"),  # type: ignore[arg-type]
        (lambda: Fusion("sum", "max"), "normalisation 'max'"),  # type: ignore[arg-type]
        (lambda: Fusion(weights=(1, -1)), "weight -1"),
        (lambda: Fusion(weights=(1, math.nan)), "weight nan"),
        (lambda: Fusion(weights=(0, 0)), "no weight above 0"),
        (lambda: Fusion(constant=-1), "constant -1"),
        (lambda: fuse([]), "no run"),
        (lambda: fuse([plain("a")], Fusion(weights=(1, 1))), "2 weights for 1 run;"),
    ],
)
def test_what_cannot_be_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.fixture(scope="module")
def official(data: Path) -> list[Run]:
    return [load_run(file) for file in sorted(data.glob("runs/touche-2022-task-2/*/*.txt.gz"))]


class TestOfficialRuns:
    """On the 21 runs of 2022 task 2, which have ties, gaps, and tags with spaces."""

    def test_the_measured_score(self, official: list[Run], data: Path) -> None:
        qrels = load_qrels(data / "qrels" / "touche-2022-task-2-relevance.qrels")
        assert round(OFFICIAL_NDCG(fuse(official), qrels).mean, 3) == 0.629

    def test_each_alone_keeps_its_order(self, official: list[Run]) -> None:
        for one in official:
            for fusion in (Fusion("rrf"), Fusion("sum")):
                fused = fuse([one], fusion)
                assert {t: each.ids for t, each in fused.rankings.items()} == {
                    t: each.ids[:1000] for t, each in one.rankings.items()
                }

    def test_backwards_is_the_same(self, official: list[Run]) -> None:
        for fusion in (Fusion("rrf"), Fusion("sum")):
            assert content(fuse(official, fusion)) == content(fuse(official[::-1], fusion))
