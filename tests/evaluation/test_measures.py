"""The plain measures are those of ir_measures, and need no extra."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import MissingExtraError, UsageError
from sicetnon.evaluation import evaluate, parse_measure
from sicetnon.records import Judgment, RunLine
from support.run_cases import DOCUMENTS, runs

PLAIN = [
    *("AP", "AP@3", "AP(rel=2)", "Bpref", "Bpref(rel=2)", "IPrec@0.0", "IPrec@0.35", "IPrec@1.0"),
    *("Judged", "Judged@3", "nDCG", "nDCG@4", "nDCG(gains={1: 3, 2: 1})", "NumQ", "NumRel"),
    *("NumRet", "NumRelRet", "NumRet(rel=2)", "P@2", "P(rel=2)@3", "P(judged_only=True)@2"),
    *("R@2", "R(rel=2)@4", "Rprec", "Rprec(rel=2)", "RR", "RR(rel=2)", "RR@2", "SetAP", "SetF"),
    *("SetF(beta=2.0)", "SetP", "SetR", "Success@1", "Success(rel=3)@4", "AP(judged_only=True)"),
    *("nDCG(judged_only=True)@3", "SetP(judged_only=True)", "RR(judged_only=True)"),
]
RULES = ("official", "trec", "condensed")
# equal, and equal in single precision only
SCORES = (0.0, -1.5, 1.0, 1.00000001, 2.5)

topics = runs(SCORES)
labels = st.dictionaries(
    st.sampled_from(["1", "2", "3", "4"]),
    # one label of 4 a topic: trec_eval reads past its memory where `rel` is above all labels
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4)).map(lambda d: d | {"k": 4}),
    min_size=1,
)


def shortened(rule, lines, labels, measure):
    """What a rule leaves of a topic's lines, written down a second time, as ir_measures' input."""
    ir_measures = pytest.importorskip("ir_measures")
    if rule == "trec":
        return dict(lines)
    depth = measure.params.get("cutoff")
    # in single precision, as trec_eval holds scores
    falling = [name for _, name in sorted(((np.float32(s), d) for d, s in lines), reverse=True)]
    order = [name for name, _ in lines] if rule == "official" else falling
    if measure.NAME not in (ir_measures.Judged.NAME, ir_measures.NumRet.NAME):
        order = [name for name in order[: depth if rule == "official" else None] if name in labels]
    return {name: float(-place) for place, name in enumerate(order)}


@settings(max_examples=60)
@given(topics, labels, st.sampled_from(RULES))
@pytest.mark.filterwarnings("ignore::sicetnon.evaluation.EvaluationWarning")
def test_plain_measures_are_those_of_ir_measures(topics, labels, rule):
    ir_measures = pytest.importorskip("ir_measures")
    run = [
        RunLine(topic, "Q0", document, rank, score, "tag")
        for topic, lines in topics.items()
        for rank, (document, score) in enumerate(lines, start=1)
    ]
    judgments = [Judgment(t, d, label) for t, each in labels.items() for d, label in each.items()]
    scores = {score.measure: score for score in evaluate(run, [judgments], PLAIN, rule=rule)}
    assert len(scores) == len(PLAIN)
    kept = {
        topic: {d: label if rule == "trec" else max(label, 0) for d, label in each.items()}
        for topic, each in labels.items()
    }
    for name in PLAIN:
        measure = ir_measures.parse_measure(name)
        found = {
            topic: left
            for topic, lines in topics.items()
            if (left := shortened(rule, lines, labels.get(topic, {}), measure))
        }
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], kept, found)}
        ours = scores[str(parse_measure(name))].values
        assert ours == pytest.approx({topic: theirs[topic] for topic in ours}, abs=1e-9), name


def test_they_work_without_any_extra():
    code = """
import sys
from importlib.abc import MetaPathFinder

class Refusing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ("ir_measures", "pytrec_eval", "scipy", "pandas"):
            raise ImportError(name)

sys.meta_path.insert(0, Refusing())
from sicetnon.evaluation import evaluate
from sicetnon.records import Judgment, RunLine
run, qrels = [RunLine("1", "Q0", "a", 1, 2.0, "tag")], [Judgment("1", "a", 1)]
for score in evaluate([run], [qrels], sys.argv[1:]):
    print(score.measure, score.mean)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *PLAIN], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == len(PLAIN)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("ndcg@5", "nDCG@5"),
        ("judged@5", "Judged@5"),
        ("map", "AP"),
        ("mrr@10", "RR@10"),
        ("recall@100", "R@100"),
        ("precision@5", "P@5"),
        ("NumRelRet", "NumRet(rel=1)"),
        ("P(rel=1)@5", "P@5"),
        ("P(cutoff=5)", "P@5"),
        ("AP(judged_only=False)", "AP"),
        ("SetF(beta=2.0)", "SetF(beta=2.0)"),
    ],
)
def test_names_that_people_use(given, printed):
    assert str(parse_measure(given)) == printed
    assert parse_measure(printed) == parse_measure(given)


@pytest.mark.parametrize("name", PLAIN)
def test_objects_of_ir_measures(name):
    ir_measures = pytest.importorskip("ir_measures")
    assert parse_measure(ir_measures.parse_measure(name)) == parse_measure(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P@0", "found the measure 'P@0' with cutoff = 0; expected a whole number of at least 1"),
        ("P(rel=0)@5", "with rel = 0; expected a whole number of at least 1"),
        ("P(judged_only=1)@5", "with judged_only = 1; expected True or False"),
        ("nDCG(gains={1: -1})", "with gains = .*expected a gain of at least 0 for each label"),
        ("IPrec@2", "with recall = 2; expected a number from 0 to 1"),
        ("R", "found the measure 'R'; expected one like nDCG@5"),
    ],
)
def test_parameters_that_cannot_be(text, message):
    with pytest.raises(UsageError, match=message):
        parse_measure(text)


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("ndcg_cut_5", "nDCG@5"),
        ("P_10", "P@10"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("nDGC@7", "nDCG@7"),
        ("precison", "P@5 or Rprec or IPrec"),
        ("SetFF", "SetF or SetR or SetP"),
        ("foo", "one like nDCG@5, P(rel=2)@10, AP, RR"),
    ],
)
def test_a_mistyped_measure_is_not_known(text, nearest, is_there, monkeypatch):
    if not is_there:
        monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(UsageError) as raised:
        parse_measure(text)
    assert str(raised.value) == (
        f"found the measure {text!r}, which is not known; expected {nearest}"
    )


def test_every_measure_of_ir_measures_is_known():
    ir_measures = pytest.importorskip("ir_measures")
    for name in ir_measures.measures.registry:
        try:
            parse_measure(name)
        except UsageError as error:  # what it lacks is a parameter
            assert "is not known" not in str(error)  # noqa: PT017
        except MissingExtraError:
            pass


def test_a_rare_measure_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match=r"the measure ERR@7 needs.*sicetnon\[measures\]"):
        parse_measure("ERR@7")


@pytest.mark.parametrize(
    "text",
    [
        *("P@---1", "P@--1", "P(cutoff=---1)", "alpha_nDCG@---1", "numrelret@---1"),
        *("P@" + "-" * 5000 + "1", "P@" + "(" * 500 + "1", "P@" + "9" * 5000, "P@1e999", "P@1j"),
        *("nDCG(gains={[]:1})@5", "nDCG(gains={1:[]})@5", "P(rel=[1])@5", "P(rule=[1])@5", "@", ""),
        *("SetF(beta=1e400)@---1", "infAP(rel=99999999999999)", "P@5\x00", "P@\ud800", "P@5@6"),
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_odd_measures_are_one_line(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        evaluate({"1": {"a": 1.0}}, {"1": {"a": 1}}, text)
    assert len(str(raised.value).splitlines()) == 1
