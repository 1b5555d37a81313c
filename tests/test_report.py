"""The report of scores: one page that is whole, safe, readable and the same every time."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import subprocess
import sys
import warnings
from html.parser import HTMLParser

import pytest

from sicetnon.errors import MissingExtraError, UsageError
from sicetnon.evaluation import EvaluationWarning, evaluate, load_run
from sicetnon.evaluation.report.contents import gather, labels_of, short_names
from sicetnon.evaluation.report.markup import element, escape, number, signed, visible
from sicetnon.evaluation.report.texts import Texts
from sicetnon.records import (
    Argument,
    Judgment,
    Premise,
    ProcessedArgument,
    RunLine,
    Sentence,
    Topic,
)

pytest.importorskip("matplotlib", reason="matplotlib is not installed; it comes with the extra dev")
from sicetnon.evaluation.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
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


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return report(tmp_path_factory.mktemp("report"), baseline="bad")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


# one file that needs nothing else


def test_page_loads_nothing(text, page):
    attributes = [each for _, each in page.elements]
    assert not [each for each in attributes if {"src", "srcset", "data", "action"} & each.keys()]
    links = [each["href"] for each in attributes if "href" in each]
    assert links
    identities = {each["id"] for each in attributes if "id" in each}
    assert {link[0] for link in links} == {"#"}
    assert {link[1:] for link in links} <= identities
    assert not {"link", "iframe", "object", "embed", "base", "form", "img"} & {
        tag for tag, _ in page.elements
    }
    assert "url(" not in text
    assert "@import" not in text
    assert "://" not in text
    policy = next(each for each in page.all("meta") if "http-equiv" in each)["content"]
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy


def test_page_is_well_formed(text, page):
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    identities = [each["id"] for _, each in page.elements if "id" in each]
    assert len(identities) == len(set(identities))
    assert [name for name, _ in page.elements].count("script") == 1
    assert len(page.all("h1")) == 1
    text.encode("utf-8")


def test_without_baseline_titles_and_texts(tmp_path):
    plain = report(tmp_path, topics=None, texts=None)
    assert "the median of the runs" in plain
    assert "Fisher" not in plain
    assert 'class="text"' not in plain
    Page(plain)


def test_same_input_gives_the_same_bytes(tmp_path, text):
    assert report(tmp_path / "new" / "folder", baseline="bad") == text
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["index.html"]


def test_settings_of_the_user_change_nothing(tmp_path, text):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "path", "font.size": 30, "axes.facecolor": "red"}):
        assert report(tmp_path, baseline="bad") == text
        assert matplotlib.rcParams["font.size"] == 30


def test_a_failed_write_leaves_what_was_there(tmp_path):
    (tmp_path / "index.html").write_text("before", "utf-8")
    with pytest.raises(UsageError):
        write_report(tmp_path, scores_of(), runs={"good": RUNS["good"]}, qrels=QRELS)
    assert (tmp_path / "index.html").read_text("utf-8") == "before"
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(OSError, match="file"):
        report(tmp_path / "file" / "below")


# hostile text


def test_hostile_text_is_text(text, page):
    assert "<script>document" not in text
    assert "<img" not in text
    assert "<b>coffee" not in text
    assert not [each for _, each in page.elements if any(name.startswith("on") for name in each)]
    assert any(HOSTILE in word for word in page.words)
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "␀␛" in text  # they are shown
    joined = "".join(page.pieces["bdi"]) + "".join(page.pieces["mark"])
    assert "<b>coffee</b> & \u202eesrever\ufffd $x^2$ שלום 茶" in joined.replace("\u00a0", " ")


def test_words_in_other_directions_are_isolated(text):
    # an override that is never ended ends with its bdi
    for place in (match.start() for match in re.finditer("\u202e", text)):
        before = text[:place]
        assert before.rfind("<bdi") > before.rfind("</bdi")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("a<b", "a&lt;b"),
        ("\x07", "␇"),
        ("\x7f", "␡"),
        ("\x85\ufffe\udc80", "\ufffd\ufffd\ufffd"),
        ("tab\tline\n", "tab\tline\n"),
    ],
)
def test_escape(given, shown):
    assert escape(given) == shown


def test_element_escapes_all_but_markup():
    made = element(
        "a", "<", element("b", "&"), ["'", element("br")], href='"', class_=None, open=""
    )
    assert made == '<a href="&quot;" open>&lt;<b>&amp;</b>&#x27;<br></a>'
    assert visible("ok") == "ok"


def test_numbers():
    assert (number(-0.5), number(float("nan")), number(0.125, 2)) == ("−0.500", "–", "0.12")
    assert (signed(0.25), signed(-0.25), signed(-0.0001), signed(float("nan"))) == (
        "+0.250",
        "−0.250",
        "0.000",
        "–",
    )


# pictures


def test_pictures_have_words_for_those_who_do_not_see_them(text, page):
    pictures = page.all("svg")
    # per file of judgments a map of runs by topics, and each run but the baseline against it
    assert len(pictures) == 3 * (1 + 2)
    spoken = dict(re.findall(r'<(?:title|desc) id="([^"]*)">([^<]*)<', text))
    for picture in pictures:
        assert picture["role"] == "img"
        assert spoken[picture["aria-labelledby"]]
        assert len(spoken[picture["aria-describedby"]]) > 30
    assert spoken["difference-1-1-t"] == "good against bad"
    assert spoken["difference-1-1-d"].startswith(
        "Better on 3, worse on 0, the same on 0 of 3 topics"
    )


def test_pictures_take_their_colours_from_the_page(text):
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        assert "#" not in re.sub("&#x?[0-9a-f]+;", "", picture)
        assert "style=" not in picture
        assert "font-family" not in picture
    used = set(re.findall(r"\b[fs]-(?:ink|soft|rule|page|accent|gain|loss)\b", text))
    for name in used:
        assert f".{name} {{" in text


def test_cells_say_what_they_show(page):
    tips = page.pieces["title"]
    assert "good, topic 1: 1.000; judged@5 1.00" in tips
    assert "bad, topic 10: " in "".join(tip for tip in tips if "judged@5 0.67" in tip)
    # gains 0, 1 against 2, 1, 1: the unjudged document is dropped
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert f"topic 1: {1 - 1 / math.log2(3) / ideal:+.3f}" in tips


# figures


def row(text, label):
    """The cells of the leaderboard's row of a run."""
    found = re.search(rf"<tr>(?:(?!</tr>).)*<bdi>{label}</bdi>.*?</tr>", text, re.DOTALL)
    return [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", found.group())]


def test_leaderboard(text):
    good = {score.dimension: score for score in scores_of(baseline="bad") if score.run == "good"}
    cells = row(text, "good")
    score = good["relevance"]
    assert cells[:3] == ["1", "good", f"{score.mean:.3f}"]
    assert cells[4:8] == [f"{score.low:.3f}", f"{score.high:.3f}", "3", "1.00"]
    assert cells[8] == f"+{score.comparison.difference:.3f}"
    assert cells[-1] == "3, 0, 0"
    assert row(text, "bad")[1] == "badbaseline"


def test_confusion_of_stances(text):
    table = re.search(r'<table class="confusion"><caption><bdi>good.*?</table>', text, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", table.group())
    cells = [re.findall(r">(\w+)</t[dh]>", each) for each in rows]
    assert cells[0][-5:] == ["FIRST", "SECOND", "NEUTRAL", "NO", "other"]
    assert cells[1] == ["FIRST", "2", "0", "0", "0", "0"]
    assert cells[2] == ["SECOND", "2", "0", "0", "0", "0"]
    assert "Without any stance: <bdi>bad</bdi>." in text


def test_documents_with_their_labels(text):
    blocks = text.split('<details class="topic">')[1:]
    assert [re.search("<b><bdi>(.*?)</bdi>", block).group(1) for block in blocks] == [
        "1",
        "2",
        "10",
    ]
    plain = [re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", block)) for block in blocks]
    assert "5 documents, 1 unjudged" in plain[0]
    assert "a relevance 2 quality 0 stance FIRST run says FIRST" in plain[0]
    assert "b relevance 1 quality 1 stance SECOND run says FIRST" in plain[0]
    assert "x unjudged run says NO" in plain[0]
    # judged by one file only, and labels of others are not made up
    assert "a relevance 2 run says FIRST" in plain[2]
    assert 'class="chip wrong">run says FIRST' in blocks[0]


def test_texts_show_the_part_that_answers(text):
    assert "<mark>Tea</mark> is <mark>better</mark>" in text
    assert text.count("word word") < 40 * 9  # cut


def test_page_shows_a_topic_that_does_not_count(tmp_path):
    runs = {"one": RUNS["good"], "two": run_lines("two", "x", topics=("1",)) + RUNS["bad"][3:]}
    made = report(tmp_path, runs, {"relevance": QRELS["relevance"]})
    assert "two, topic 1: does not count; judged@5 0.00" in made
    Page(made)


def test_runs_without_a_judged_document(tmp_path):
    runs = {"one": run_lines("one", "x"), "two": run_lines("two", "y", topics=("77",))}
    made = report(tmp_path, runs, {"relevance": QRELS["relevance"]})
    assert "Runs by topics</h3>" not in made
    Page(made)


# what belongs together


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


def test_labels_are_tags_unless_they_repeat():
    scores = scores_of()
    assert labels_of(scores) == {"good": "tea", "bad": "coffee", HOSTILE: HOSTILE}
    same = [
        dataclasses.replace(score, tag="t", run=f"/x/{score.run[:1]}/r.txt.gz") for score in scores
    ]
    assert sorted(labels_of(same).values()) == ["</r", "b/r", "g/r"]


def test_short_names():
    assert short_names(["/a/b/c.txt", "/a/d/c.txt.gz"]) == {
        "/a/b/c.txt": "b/c",
        "/a/d/c.txt.gz": "d/c",
    }
    assert list(short_names(["r.txt", "r.txt.gz"]).values()) == ["r.txt", "r.txt.gz"]
    assert list(short_names(["/only/one.qrels"]).values()) == ["one"]
    assert list(short_names(["/a", "/a/b"]).values()) == ["a", "a/b"]


def test_texts_of_an_index():
    class OneArgument:
        """As much of an index as is asked."""

        from sicetnon.text.analysis import ANALYSES

        analysis = ANALYSES["plain"]

        def number(self, identifier):
            return 7 if identifier == "A" else None

        def records(self, numbers):
            argument = Argument("A", "Tea.", (Premise("It calms."),))
            sentences = (Sentence("A__PREMISE__1", "It calms."),)
            return [ProcessedArgument(argument, sentences) for _ in numbers]

    texts = Texts(OneArgument())
    assert texts.of(["A", "A__PREMISE__1", "A__PREMISE__9", "B", "A__PREMISE__1,A"]) == {
        "A": "Tea.\nIt calms.",
        "A__PREMISE__1": "It calms.",
        "A__PREMISE__1,A": "It calms. — Tea.\nIt calms.",
    }


def test_missing_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=re.escape('pip install "sicetnon[report]"')):
        report(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_picture_library_until_a_report_is_written():
    code = (
        "import sys, sicetnon.evaluation.report;"
        "sys.exit(bool({'matplotlib', 'numba'} & sys.modules.keys()))"
    )
    assert not subprocess.run([sys.executable, "-c", code], check=False).returncode


# in a browser


def in_browser(path, folder):
    """The page as a browser has it after its scripts."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *("--disable-background-networking", f"--user-data-dir={folder}", path.as_uri()),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"chromium does not work here: {error}")
    return done.stdout.decode("utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_script_runs_and_hostile_text_does_not(tmp_path, text):
    path = tmp_path / "page.html"
    path.write_text(text, "utf-8")
    shown = in_browser(path, tmp_path / "profile")
    assert "data-hacked" not in shown
    assert '<th scope="col"><button type="button">topic</button></th>' in shown
    assert ">Open all</button>" in shown


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_sorting(tmp_path, text):
    script = """<script>
      const table = document.querySelector("table.topics");
      const order = () => [...table.tBodies[0].rows].map((row) => row.cells[0].innerText).join();
      const button = (n) => table.tHead.rows[0].cells[n].querySelector("button");
      table.tBodies[0].rows[0].cells[3].dataset.v = 0.2;
      table.tBodies[0].rows[1].cells[3].dataset.v = "";
      table.tBodies[0].rows[2].cells[3].dataset.v = 0.9;
      const seen = [order()];
      button(3).click(); seen.push(order(), table.tHead.rows[0].cells[3].ariaSort);
      button(3).click(); seen.push(order(), table.tHead.rows[0].cells[3].ariaSort);
      button(0).focus(); document.activeElement.click(); seen.push(order());
      button(0).click(); seen.push(order());
      location.hash = "#topic-1";
      document.body.dataset.seen = seen.map((text) => text.replace(/[^0-9,a-z]/g, "")).join(" ");
    </script>"""
    path = tmp_path / "page.html"
    # its policy would refuse the script of the test
    changed = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    changed = re.sub('<span class="title">.*?</span>', "", changed)
    path.write_text(changed.replace("</body>", script + "</body>"), "utf-8")
    seen = re.search('data-seen="([^"]*)"', in_browser(path, tmp_path / "profile")).group(1)
    assert seen.split() == [
        *("1,2,10", "10,1,2", "descending", "1,10,2", "ascending", "1,2,10", "10,2,1"),
    ]
