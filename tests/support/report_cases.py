"""A small evaluation with hostile names and texts, its report, and a strict parser of pages."""

from __future__ import annotations

import warnings
from html.parser import HTMLParser

from sicetnon.evaluation import EvaluationWarning, evaluate
from sicetnon.records import Judgment, RunLine, Topic
from sicetnon.report import write_report

VOID = {"meta", "br", "wbr", "col", "link", "img", "input"}
HOSTILE = "</script><script>document.body.dataset.hacked=1</script>\"'<img src=x onerror=hack()>"
TEXT = "Tea is better\x00\x1b than <b>coffee</b> & \u202eesrever\ud800 $x^2$ שלום 茶"


def run_lines(tag, *documents, stance="Q0", topics=("1", "2", "10")):
    return [
        RunLine(topic, stance, document, rank, 10.0 - rank, tag)
        for topic in topics
        for rank, document in enumerate(documents, start=1)
    ]


RUNS = {
    "good": run_lines("tea", "a", "b", "c", stance="FIRST"),
    "bad": run_lines("coffee", "d", "c", "x"),
    HOSTILE: run_lines(HOSTILE, "d", "x", "a", stance="NO"),
}
GRADES = {"a": 2, "b": 1, "c": 1, "d": 0}
STANCES = {"a": "FIRST", "b": "SECOND", "c": "NEUTRAL", "d": "NO"}
QRELS = {
    "relevance": [Judgment(t, d, g) for t in ("1", "2", "10") for d, g in GRADES.items()],
    "quality.qrels": [Judgment(t, d, 2 - g) for t in ("1", "2") for d, g in GRADES.items()],
    "stance": [Judgment(t, d, s) for t in ("1", "2") for d, s in STANCES.items()],
}
TOPICS = [Topic("1", "Is tea better than coffee?"), Topic("2", f"Why? {HOSTILE}")]
TEXTS = {"a": TEXT, "x": HOSTILE, "b": "word " * 500}


class Page(HTMLParser):
    """Parses a page strictly: what is opened must be closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words, self.pieces = [], [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"{tag} repeats an attribute"
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        self.pieces.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def scores_of(runs=None, qrels=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvaluationWarning)
        return evaluate(runs or RUNS, qrels or QRELS, **options)


def report(folder, runs=None, qrels=None, *, baseline=None, **options):
    scores = scores_of(runs, qrels, baseline=baseline)
    options.setdefault("topics", TOPICS)
    options.setdefault("texts", TEXTS)
    path = write_report(
        folder, scores, runs=runs or RUNS, qrels=qrels or QRELS, baseline=baseline, **options
    )
    return path.read_text("utf-8")
