"""The inputs of a report: runs, judgments, texts and names that belong together."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from sicetnon.errors import UsageError
from sicetnon.evaluation import load_run
from sicetnon.records import Argument, Judgment, Premise, ProcessedArgument, RunLine, Sentence
from sicetnon.report import write_report
from sicetnon.report.contents import Texts, bare_names, gather, run_names
from support.report_cases import HOSTILE, QRELS, RUNS, report, run_lines, scores_of


def test_order_of_documents_follows_the_rule():
    lines = [RunLine("1", "Q0", "a", 1, 1.0, "t"), RunLine("1", "Q0", "b", 2, 2.0, "t")]
    for rule, first in (("official", "a"), ("trec", "b")):
        scores = scores_of({"r": lines}, {"relevance": QRELS["relevance"]}, rule=rule)
        contents = gather(scores, {"r": lines}, {"relevance": QRELS["relevance"]}, None, None)
        assert contents.topics[0].hits["r"][0].document == first


def test_pairs_have_no_order(tmp_path):
    runs = {"r": run_lines("r", "A__1,B__2", topics=("1",))}
    qrels = {"coherence": [Judgment("1", "B__2,A__1", 2), Judgment("1", "C__1,D__1", 0)]}
    made = report(tmp_path, runs, qrels, texts={"A__1": "Left.", "B__2": "Right."})
    assert ">coherence 2<" in made
    assert "Left. — Right." in made


def test_baseline_outside_of_the_runs(tmp_path):
    others = {"good": RUNS["good"]}
    baseline = load_run(RUNS["bad"], "bad")
    scores = scores_of(others, baseline=baseline)
    for given in (baseline, None):
        path = write_report(tmp_path, scores, runs=others, qrels=QRELS, baseline=given)
        made = path.read_text("utf-8")
        assert "good against coffee" in made
        assert ("<h4><bdi>coffee" in made) is (given is not None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": []}, "no score"),
        ({"runs": {"good": RUNS["good"]}}, "not among the runs"),
        ({"qrels": {"relevance": QRELS["relevance"]}}, "not among the judgments"),
        ({"qrels": QRELS | {"relevance": QRELS["relevance"][:1]}}, "lacks topics"),
        ({"baseline": "nobody"}, "no score of the baseline nobody"),
        ({"baseline": "good"}, "compared with bad"),
    ],
)
def test_what_does_not_belong_together(tmp_path, change, message):
    given = {"scores": scores_of(baseline="bad"), "runs": RUNS, "qrels": QRELS} | change
    with pytest.raises(UsageError, match=message):
        write_report(tmp_path, given.pop("scores"), **given)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_of_one_name(tmp_path):
    scores = scores_of({"good": RUNS["good"]})
    with pytest.raises(UsageError, match="different names"):
        write_report(tmp_path, scores * 2, runs=RUNS, qrels=QRELS)


def test_names_are_tags_unless_they_repeat():
    scores = scores_of()
    assert run_names(scores) == {"good": "tea", "bad": "coffee", HOSTILE: HOSTILE}
    same = [
        dataclasses.replace(score, tag="t", run=f"/x/{score.run[:1]}/r.txt.gz") for score in scores
    ]
    assert sorted(run_names(same).values()) == ["</r", "b/r", "g/r"]


def test_short_names():
    assert bare_names(["/a/b/c.txt", "/a/d/c.txt.gz"]) == {
        "/a/b/c.txt": "b/c",
        "/a/d/c.txt.gz": "d/c",
    }
    assert list(bare_names(["r.txt", "r.txt.gz"]).values()) == ["r.txt", "r.txt.gz"]
    assert list(bare_names(["/only/one.qrels"]).values()) == ["one"]
    assert list(bare_names(["/a", "/a/b"]).values()) == ["a", "a/b"]


def test_texts_of_an_index():
    class OneArgument:
        """As much of an index as is asked."""

        from sicetnon.text.analysis import ANALYSES

        analysis = ANALYSES["plain"]

        def number(self, identifier):
            return 7 if identifier == "A" else None

        def records_at(self, numbers):
            argument = Argument("A", "Tea.", (Premise("It calms."),))
            sentences = (Sentence("A__PREMISE__1", "It calms."),)
            return [ProcessedArgument(argument, sentences) for _ in numbers]

    texts = Texts(OneArgument())
    assert texts.of(["A", "A__PREMISE__1", "A__PREMISE__9", "B", "A__PREMISE__1,A"]) == {
        "A": "Tea.\nIt calms.",
        "A__PREMISE__1": "It calms.",
        "A__PREMISE__1,A": "It calms. — Tea.\nIt calms.",
    }


def test_nothing_is_compiled_until_a_report_is_written():
    code = "import sys, sicetnon.report; sys.exit('numba' in sys.modules)"
    assert not subprocess.run([sys.executable, "-c", code], check=False).returncode


def test_only_words_that_say_what_a_question_is_about_are_marked():
    texts = Texts({"A": "It should be tea, since tea calms."})
    (pieces,) = texts.snippets(["A"], "Should it be tea?").values()
    assert [text for text, is_marked in pieces if is_marked] == ["tea", "tea"]
