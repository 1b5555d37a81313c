"""The three rules and the measures, on runs made up for the purpose."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import MissingExtraError, UsageError
from sicetnon.evaluation import (
    OFFICIAL_NDCG,
    Measure,
    evaluate,
    load_qrels,
    parse_measure,
)
from sicetnon.records import Judgment, RunLine
from support.run_cases import DOCUMENTS, runs

# equal, equal in single precision only, far apart, and beyond single precision
SCORES = (0.0, -1.5, 1.0, 1.00000001, 1.0000001, 2.5, 1e-300, 1e300, -1e300)


def run_of(topics):
    """Lines from, for each topic, documents and scores in the order of their ranks."""
    return [
        RunLine(topic, "Q0", document, rank, score, "tag")
        for topic, lines in topics.items()
        for rank, (document, score) in enumerate(lines, start=1)
    ]


def qrels_of(topics):
    return [
        Judgment(topic, document, label)
        for topic, labels in topics.items()
        for document, label in labels.items()
    ]


def one(topics, labels, measure="nDCG@5", rule="official"):
    [score] = evaluate(run_of(topics), qrels_of(labels), [measure], rule=rule)
    return score


def test_official_orders_by_rank_and_trec_by_score():
    run, labels = {"1": [("a", 1.0), ("b", 2.0)]}, {"1": {"a": 1, "b": 0}}
    assert one(run, labels).mean == 1.0
    assert one(run, labels, rule="trec").mean == pytest.approx(1 / math.log2(3))


def test_trec_breaks_ties_by_falling_id():
    run, labels = {"1": [("a", 1.0), ("b", 1.0)]}, {"1": {"a": 0, "b": 1}}
    assert one(run, labels, rule="trec").mean == 1.0
    assert one(run, labels).mean == pytest.approx(1 / math.log2(3))


def test_official_cuts_first_and_drops_the_unjudged_then():
    run = {"1": [("x", 4.0), ("a", 3.0), ("b", 2.0)]}
    labels = {"1": {"a": 1, "b": 1}}
    ideal = 1 + 1 / math.log2(3)
    assert one(run, labels, "nDCG@2").mean == pytest.approx(1 / ideal)
    assert one(run, labels, "nDCG@2", "trec").mean == pytest.approx(1 / math.log2(3) / ideal)
    assert one(run, labels, "nDCG@2", "condensed").mean == 1.0
    assert {one(run, labels, "nDCG@2", rule).judged for rule in ("official", "trec")} == {0.5}


@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_a_topic_without_a_judged_document():
    run = {"1": [("a", 1.0)], "2": [("x", 1.0)]}
    labels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    score = one(run, labels)
    assert (score.mean, score.topics, score.values) == (1.0, 1, {"1": 1.0})
    for rule in ("trec", "condensed"):
        score = one(run, labels, rule=rule)
        assert (score.mean, score.topics) == (pytest.approx(1 / 3), 3)
    assert score.judged == 0.5  # of what the run returned; topic 3 has no share in it


def test_labels_below_zero_are_zero_and_the_ideal_is_of_all_judged_labels():
    run = {"1": [("a", 2.0), ("b", 1.0)]}
    labels = {"1": {"a": -2, "b": 2, "c": 1, "d": -2}}
    expected = 2 / math.log2(3) / (2 + 1 / math.log2(3))
    for rule in ("official", "trec", "condensed"):
        assert one(run, labels, rule=rule).mean == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "Bpref", "P@5"])
@pytest.mark.parametrize("rule", ["official", "trec", "condensed"])
def test_labels_that_are_all_below_zero(rule, measure):  # pytrec_eval may crash on them
    labels = {"1": {"a": -2, "b": -1}, "2": {"a": -2}}
    run = {topic: [(name, 1.0) for name in DOCUMENTS] for topic in labels}
    assert one(run, labels, measure, rule).values == {"1": 0.0, "2": 0.0}


def test_a_topic_with_nothing_relevant_counts_as_zero():
    score = one({"1": [("a", 1.0)]}, {"1": {"a": 0}})
    assert (score.mean, score.topics, score.low, score.high) == (0.0, 1, 0.0, 0.0)


@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_no_topic_that_counts_gives_no_number():
    score = one({"1": [("x", 1.0)]}, {"1": {"a": 1}})
    assert math.isnan(score.mean)
    assert score.topics == 0
    assert score.row()["mean"] is None
    assert score.row()["low"] is None


topics = runs(SCORES)
labels = st.dictionaries(
    st.sampled_from(["1", "2", "3", "4"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1),
    min_size=1,
)


@settings(max_examples=200)
@given(topics, labels, st.integers(1, 7), st.booleans())
@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_trec_and_condensed_are_pytrec_eval_on_any_run(topics, labels, depth, condensed):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    non_negative = {
        topic: {document: max(label, 0) for document, label in judged.items()}
        # with -J, trec_eval takes -2 for "unjudged"; and without a label from 0 on, it crashes
        if condensed or max(judged.values()) < 0
        else judged
        for topic, judged in labels.items()
    }
    theirs = pytrec_eval.RelevanceEvaluator(
        non_negative, [f"ndcg_cut_{depth}"], judged_docs_only_flag=condensed
    ).evaluate({topic: dict(lines) for topic, lines in topics.items()})
    expected = {
        topic: theirs.get(topic, {f"ndcg_cut_{depth}": 0.0})[f"ndcg_cut_{depth}"]
        for topic in labels
    }
    score = one(topics, labels, f"nDCG@{depth}", "condensed" if condensed else "trec")
    assert score.values == pytest.approx(expected, abs=1e-12)
    assert score.topics == len(labels)


@settings(max_examples=100)
@given(topics, labels, st.integers(1, 7), st.randoms())
@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_official_depends_on_nothing_but_ranks_and_the_judged_top(topics, labels, depth, random):
    lines = run_of(topics)
    expected = one(topics, labels, f"nDCG@{depth}").values
    changed = [
        RunLine(line.topic, "Q0", line.document, line.rank, random.random(), "tag")
        for line in lines
        if line.rank <= depth
    ]
    random.shuffle(changed)
    [score] = evaluate(changed, qrels_of(labels), [f"nDCG@{depth}"])
    assert dict(score.values) == expected


@settings(max_examples=100)
@given(topics, labels, st.integers(1, 7))
@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_our_ndcg_is_that_of_the_library_on_the_shortened_list(topics, labels, depth):
    # judged_only changes nothing once the unjudged are gone, but takes the path of the library
    ours = one(topics, labels, f"nDCG@{depth}")
    theirs = one(topics, labels, f"nDCG(judged_only=True)@{depth}")
    assert ours.values == pytest.approx(dict(theirs.values), abs=1e-12)
    assert ours.judged == pytest.approx(theirs.judged, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("nDCG@5", "nDCG@5"),
        ("NDCG @ 5", "nDCG@5"),
        ("nDCG(rule='official')@5", "nDCG(rule='official')@5"),
        ("nDCG(rule=official)@5", "nDCG(rule='official')@5"),
        ("P(rel=2,rule='condensed')@10", "P(rel=2,rule='condensed')@10"),
        ("MAP(rule='trec')", "AP"),
        ("RR(rule='official')", "RR(rule='official')"),
        ("nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@5"),
        ("IPrec@0.2", "IPrec@0.2"),
    ],
)
def test_a_measure_prints_as_it_parses(text, printed):
    measure = parse_measure(text)
    assert str(measure) == printed
    assert parse_measure(printed) == measure


def test_a_measure_is_a_value():
    ir_measures = pytest.importorskip("ir_measures")
    assert parse_measure("nDCG@5", "official") == OFFICIAL_NDCG == Measure("nDCG@5", "official")
    assert str(OFFICIAL_NDCG @ 10) == "nDCG(rule='official')@10"
    assert parse_measure(ir_measures.nDCG @ 5, "official") == OFFICIAL_NDCG
    assert (OFFICIAL_NDCG.depth, parse_measure("AP").depth) == (5, None)


@pytest.mark.parametrize(
    "text",
    [
        *("", "nDCG@", "nDCG@0", "nDCG@-1", "nDCG@True", "nDCG(x=1)@5", "nDCG(rule='mine')@5"),
        *("P", "RBP", "foo@5", "a.b", "5", "nDCG@5;AP", "__import__('os')", "import os"),
    ],
)
def test_a_measure_that_is_none(text):
    with pytest.raises(UsageError, match=r"measure|rule|computes") as error:
        parse_measure(text)
    assert "\n" not in str(error.value)


def test_an_unknown_rule():
    with pytest.raises(UsageError, match="found the rule 'mine'; expected official, trec"):
        one({"1": [("a", 1.0)]}, {"1": {"a": 1}}, rule="mine")


def test_a_measure_of_a_library_that_is_not_there(monkeypatch):
    ir_measures = pytest.importorskip("ir_measures")
    provider = ir_measures.providers.registry["pyndeval"]
    monkeypatch.setattr(provider, "is_available", lambda: False)
    with pytest.raises(MissingExtraError, match=r"sicetnon\[measures\]"):
        parse_measure("alpha_nDCG@7")


@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_other_measures_on_the_list_that_a_rule_leaves():
    run = {"1": [("x", 4.0), ("a", 3.0), ("b", 2.0), ("y", 1.0)], "2": [("z", 1.0)]}
    labels = {"1": {"a": 0, "b": 1}, "2": {"c": 1}}
    means = {
        (measure, rule): one(run, labels, measure, rule).mean
        for measure in ("RR", "P@2", "AP", "Judged@4", "NumRet")
        for rule in ("official", "trec", "condensed")
    }
    assert means == pytest.approx(
        {
            ("RR", "official"): 1 / 2,
            ("RR", "trec"): 1 / 3 / 2,
            ("RR", "condensed"): 1 / 2 / 2,
            ("P@2", "official"): 0.0,
            ("P@2", "trec"): 0.0,
            ("P@2", "condensed"): 1 / 2 / 2,
            ("AP", "official"): 1 / 2,
            ("AP", "trec"): 1 / 3 / 2,
            ("AP", "condensed"): 1 / 2 / 2,
            # what counts the retrieved is not robbed of the unjudged, nor of a topic
            ("Judged@4", "official"): 1 / 2 / 2,
            ("Judged@4", "trec"): 1 / 2 / 2,
            ("Judged@4", "condensed"): 1 / 2 / 2,
            ("NumRet", "official"): 5,
            ("NumRet", "trec"): 5,
            ("NumRet", "condensed"): 5,
        }
    )


def test_pairs_are_unordered():
    run = {"1": [("b__2,a__1", 2.0), ("c__1,d__1", 1.0)]}
    labels = {"1": {"a__1,b__2": 1, "c__1,d__1": 1}}
    for measure in ("nDCG@5", "AP"):
        for rule in ("official", "trec", "condensed"):
            score = one(run, labels, measure, rule)
            assert (score.mean, score.judged) == (1.0, 1.0)


def test_a_comma_is_just_a_comma_where_ids_are_of_no_sentences():
    run, labels = {"1": [("b,a", 2.0), ("a,b", 1.0)]}, {"1": {"a,b": 1, "b,a": 0}}
    score = one(run, labels, "P@1")
    assert (score.mean, score.judged) == (0.0, 1.0)
    # but not in a file that is named after the task with pairs
    name = "touche-2022-task-1-relevance.qrels"
    judgments = load_qrels(labels, name)
    assert (judgments.pairs, judgments.grades, judgments.differing) == (True, {"1": {"a,b": 0}}, 1)


def test_a_comma_is_just_a_comma_where_not_all_ids_are_pairs():
    score = one({"1": [("b__2,a__1", 2.0), ("e", 1.0)]}, {"1": {"a__1,b__2": 1, "e": 0}})
    assert (score.mean, score.judged) == (0.0, 0.5)


def test_a_pair_twice_counts_once():
    first, second = "a__PREMISE__1,b_sent2", "b_sent2,a__PREMISE__1"
    run, labels = {"1": [(first, 2.0), (second, 1.0)]}, {"1": {first: 1, "c__1,d__1": 1}}
    with pytest.warns(match="tag: 1 line repeats a document"):
        score = one(run, labels)
    assert score.mean == pytest.approx(1 / (1 + 1 / math.log2(3)))
