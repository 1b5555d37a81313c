"""The report of scores: one page, safe, readable, the same every time; and its inputs."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import subprocess
import sys

import pytest

from sicetnon.errors import UsageError
from sicetnon.evaluation import load_run
from sicetnon.records import Argument, Judgment, Premise, ProcessedArgument, RunLine, Sentence
from sicetnon.report import write_report
from sicetnon.report.contents import Texts, bare_names, gather, run_names
from sicetnon.report.page import breakable, number, signed, visible
from support.patience import HANGS
from support.report_cases import HOSTILE, QRELS, RUNS, Page, report, run_lines, scores_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


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
    assert not {"\x1b", "\u202e"} & set(text)
    assert "␀␛" in text  # they are shown
    joined = "".join(page.pieces["bdi"]) + "".join(page.pieces["mark"])
    assert "<b>coffee</b> &  esrever\ufffd $x^2$ שלום 茶" in joined.replace("\u00a0", " ")


def test_words_in_other_directions_are_isolated(text):
    # an override that is never ended ends with its bdi
    for place in (match.start() for match in re.finditer("\u202e", text)):
        before = text[:place]
        assert before.rfind("<bdi") > before.rfind("</bdi")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x07", "␇"),
        ("\x7f", "␡"),
        ("\x85\ufffe\udc80", "\ufffd\ufffd\ufffd"),
        ("tab\tline\n", "tab\tline\n"),
        (1, 1),
    ],
)
def test_control_characters_are_visible(given, shown):
    assert visible(given) == shown


def test_names_break_after_punctuation():
    assert breakable("a<b_c\x07") == "<bdi>a&lt;b_<wbr>c␇</bdi>"


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
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL))
    for name in set(re.findall(r'<(?:rect|path|circle|text) class="(\w+)"', drawn)):
        assert re.search(rf"\.{name}\b", text)


def test_extremes_are_named_beside_the_bars(text):
    figure = re.search(r'<figure>(?:(?!<figure>).)*id="difference-1-1-t".*?</figure>', text, re.S)
    shown = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", figure.group()))
    assert re.search(
        r"Best on 1 Is tea better than coffee\? \(\+0\.80\); 2 Why\?.*\(\+0\.80\); 10 \(\+0\.80\)",
        shown,
    )


def test_cells_say_what_they_show(page):
    tips = page.pieces["title"]
    asked = "topic 1, Is tea better than coffee?"
    assert f"good, {asked}: 1.000; judged@5 1.00" in tips
    assert "bad, topic 10: " in "".join(tip for tip in tips if "judged@5 0.67" in tip)
    # gains 0, 1 against 2, 1, 1: the unjudged document is dropped
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert f"{asked}: {1 - 1 / math.log2(3) / ideal:+.3f}" in tips


# figures


def row(text, label):
    """The cells of the leaderboard's row of a run."""
    found = re.search(rf"<tr>(?:(?!</tr>).)*<bdi>{label}</bdi>.*?</tr>", text, re.DOTALL)
    cells = re.findall(r"<t[dh].*?</t[dh]>", found.group(), re.DOTALL)
    return [re.sub("<[^>]*>", "", cell).strip() for cell in cells]


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
    table = re.search(r'<table class="confusion">\s*<caption><bdi>good.*?</table>', text, re.DOTALL)
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
    assert "two, topic 1, Is tea better than coffee?: does not count; judged@5 0.00" in made
    Page(made)


def test_runs_without_a_judged_document(tmp_path):
    runs = {"one": run_lines("one", "x"), "two": run_lines("two", "y", topics=("77",))}
    made = report(tmp_path, runs, {"relevance": QRELS["relevance"]})
    assert "Runs by topics</h3>" not in made
    Page(made)


# in a browser


def in_browser(path, folder):
    """The page as a browser has it after its scripts."""
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *("--disable-background-networking", f"--user-data-dir={folder}", path.as_uri()),
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=HANGS, check=True)
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


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_bars_and_cells_speak_without_a_mouse(tmp_path, text):
    script = """<script>
      const [map, bars] = ["heat-1-t", "difference-1-1-t"].map(
        (name) => document.getElementById(name).closest("svg"));
      const press = (picture, key) => picture.dispatchEvent(new KeyboardEvent("keydown", { key }));
      const seen = [];
      const see = () => seen.push(document.querySelector("output.said").textContent);
      bars.focus(); press(bars, "ArrowRight"); see(); press(bars, "ArrowRight"); see();
      map.focus(); press(map, "ArrowRight"); see(); press(map, "ArrowDown"); see();
      press(map, "Escape"); see();
      document.body.dataset.seen = seen.join("|");
    </script>"""
    path = tmp_path / "page.html"
    changed = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    path.write_text(changed.replace("</body>", script + "</body>"), "utf-8")
    seen = re.search('data-seen="([^"]*)"', in_browser(path, tmp_path / "profile")).group(1)
    parts = seen.split("|")
    assert parts[0] == "topic 1, Is tea better than coffee?: +0.798"
    assert re.fullmatch(r"topic 2, Why\?.*: \+0\.798", parts[1], re.S)
    assert parts[2].startswith("good, topic ")
    assert parts[3].split(", ")[1] == parts[2].split(", ")[1]
    assert parts[4] == ""


def test_of_two_runs_the_true_differences_are_drawn(tmp_path):
    runs = {name: RUNS[name] for name in ("good", "bad")}
    shown = re.sub(
        r"\s+",
        " ",
        re.sub("<[^>]*>", " ", report(tmp_path, runs, {"relevance": QRELS["relevance"]})),
    )
    assert "Topic by topic against bad" in shown
    assert "from +0.798" in shown


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
