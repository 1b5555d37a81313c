"""Paragraphs, tables and progress in terminals; no line is too wide."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console
from rich.text import Text

from sicetnon.app.answers import Answer
from sicetnon.contracts import CONTRACTS
from sicetnon.evaluation import PairedComparison, Score
from sicetnon.evaluation.leaderboard import Leaderboard, RankedRow, Row, Table, leaderboard_of
from sicetnon.evaluation.scores import print_scores
from sicetnon.records import Entry
from sicetnon.terminal.console import ProgressBar
from sicetnon.terminal.console import console as terminal_console
from sicetnon.terminal.results import show_answers, show_leaderboard
from sicetnon.text.snippets import Snippet
from sicetnon.text.unicode import one_line, print_paragraph, shortened

WIDTHS = [60, 80, 120]
TASK = "touche-2021-task-1"


def screen(width: int = 80, **options: bool) -> Console:
    return Console(file=io.StringIO(), width=width, **options)  # type: ignore[arg-type]


def lines(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def score(name: str, compared: bool = False) -> Score:
    comparison = PairedComparison("base.txt", 0.02, 50, 30, 0, 20, 0.01, 0.01, 0.02, 0.03)
    return Score(
        name, "tag", "a/very/deep/folder/touche-2020-task-1-relevance-args-me-corrected.qrels",
        "relevance", "official", "nDCG(dcg='exp-log2')@5", 0.5, 0.4, 0.6, 50, 0.99, {},
        comparison=comparison if compared else None,
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_a_paragraph_wraps_with_an_indent(width: int) -> None:
    shown = screen(width)
    print_paragraph(Text("word " * 50), shown)
    first, *rest = lines(shown)
    assert first.startswith("word")
    assert rest
    assert all(line.startswith("  word") for line in rest)
    assert max(map(len, (first, *rest))) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_scores_fit_and_say_what_p_is(width: int) -> None:
    shown = screen(width)
    print_scores([score("base.txt"), score("some/other/run.txt", compared=True)], shown)
    found = lines(shown)
    assert max(map(len, found)) <= width
    # an empty line, then the heading
    assert found[1].startswith("nDCG")
    if width < 120:
        assert found[2].startswith("  ")
    text = " ".join(" ".join(found).split())
    assert "two-sided, corrected for the number of runs compared (Holm)" in text
    assert "judgments: touche-2020-task-1" in text


def test_a_long_question_is_cut() -> None:
    shown = screen()
    show_answers("Is it true " * 150, [], shown)
    assert len(lines(shown)) < 6
    assert "…" in "".join(lines(shown))
    assert shortened("x" * 10, 5) == "xxxx…"
    assert shortened("short", 5) == "short"


def answer(claim: str, title: str = "") -> Answer:
    texts = {"title": title, "text": "It is warm."} if title else {"text": "It is warm."}
    record = Entry("e1", texts, stance="CON", claim=claim)
    snippet = Snippet("It is warm.", ())
    heading = claim or title
    return Answer(1, 1.5, "e1", "CON", heading, snippet, "", record, None, "FOR", 0.912)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_reason_names_its_side_and_the_claim(width: int) -> None:
    shown = screen(width)
    claim = "against: tea, which everybody drinks and nobody should, in school or at home"
    show_answers("tea", [answer(claim)], shown)
    found = lines(shown)
    head = found.index(next(line for line in found if line.startswith(" 1  ")))
    assert found[head].startswith(" 1  for (91%), against the claim: against: tea")
    assert max(map(len, found)) <= width
    # what does not fit goes on below the claim
    assert all(line.startswith("    ") for line in found[head + 1 :] if line)


def test_a_title_is_no_claim() -> None:
    shown = screen()
    show_answers("tea", [answer("", "Tea")], shown)
    assert " 1  for (91%): Tea" in lines(shown)
    assert "from its text alone" in lines(shown)[1]


@pytest.mark.parametrize("title", ["", "Tea"])
def test_the_id_is_shown_once(title: str) -> None:
    shown = screen()
    show_answers("tea", [answer("", title)], shown)
    found = lines(shown)
    assert (" 1  for (91%): Tea" if title else " 1  for (91%)") in found
    assert "    score 1.50  e1" in found


def test_no_text_takes_no_line() -> None:
    shown = screen()
    show_answers("tea", [replace(answer(""), snippet=Snippet("", ()))], shown)
    assert lines(shown)[-2:] == [" 1  for (91%)", "    score 1.50  e1"]


def test_an_address_can_be_copied_at_any_width() -> None:
    address = "https://example.org/" + "a-long-way/" * 8
    for width in WIDTHS:
        shown = screen(width)
        show_answers("tea", [replace(answer(""), source=address)], shown)
        assert [line.split()[-1] for line in lines(shown) if "http" in line] == [address]
        assert "    score 1.50  e1" in [line[:18] for line in lines(shown)]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_a_part_that_was_cut_ends_in_no_short_line(width: int) -> None:
    for words in range(40, 60):
        text = "cups " * words + "of\u00a0…"
        shown = screen(width)
        show_answers("tea", [replace(answer(""), snippet=Snippet(text, ()))], shown)
        body = [line for line in lines(shown) if "cups" in line]
        assert body[-1].endswith("…")
        assert len(body[-1]) > (width - 4) / 4
        assert max(map(len, body)) <= width


def test_a_text_that_was_not_cut_is_shown_to_its_last_word() -> None:
    shown = screen()
    text = "cups " * 15 + "last."
    show_answers("tea", [replace(answer(""), snippet=Snippet(text, ()))], shown)
    assert "    last." in lines(shown)


def test_the_sides_of_a_choice_are_its_objects() -> None:
    both = [answer("", "Tea"), replace(answer("", "Coffee"), side="AGAINST", rank=2)]
    shown = screen()
    show_answers("Which is better, tea or coffee?", both, shown)
    found = [line.rstrip("─ ") for line in lines(shown)]
    assert found.index("In favour of tea (1)") < found.index(" 1  favours it (91%): Tea")
    assert found.index("In favour of coffee (1)") < found.index(" 2  favours it (91%): Coffee")
    assert not any(line.startswith(("For", "Against")) for line in found)


def test_one_line_steers_nothing() -> None:
    assert one_line("a\n b\x1b[31m") == "a b\N{REPLACEMENT CHARACTER}[31m"


class TestProgress:
    def shown(self, **options: bool) -> str:
        console = screen(**options)
        with ProgressBar(console) as bar:
            bar.records(128, 500, 1000)
            bar.records(256, 1000, 1000)
            bar.fetching("pages\x1b[31m", 1, 2)
        assert isinstance(console.file, io.StringIO)
        return console.file.getvalue()

    def test_a_terminal_sees_each_stage(self) -> None:
        shown = self.shown(force_terminal=True)
        assert "256 records" in shown
        assert "Fetching pages" in shown
        assert "\x1b[31mpages" not in shown

    @pytest.mark.parametrize("options", [{}, {"quiet": True, "force_terminal": True}])
    def test_others_see_nothing(self, options: dict[str, bool]) -> None:
        assert self.shown(**options).strip() == ""


def test_no_score_is_a_dash() -> None:
    shown = screen()
    empty = Score("r", "t", "q", "relevance", "official", "AP", *[math.nan] * 3, 0, math.nan, {})
    print_scores([empty], shown)
    assert "–" in "".join(lines(shown))


@pytest.mark.parametrize("width", WIDTHS)
def test_own_runs_show_topics_and_judged_share(width: int) -> None:
    task, tag = "touche-2022-task-2", "mine"
    row = Row(task, "relevance", "", "", tag, "nDCG@5", 0.5, 0.4, 0.6, topics=48, judged=0.913)
    published = Row(task, "relevance", "", "Captain Levi", "levi", "nDCG@5", 0.7)
    places = (RankedRow(1, published), RankedRow(2, row, "mine.txt"))
    shown = screen(width)
    notes = ("other.txt is not placed by its nDCG@5 of 0.900 on q.qrels: " + "why " * 30,)
    show_leaderboard(Leaderboard(task, (Table("relevance", "", places),), notes), shown)
    found = lines(shown)
    assert max(map(len, found)) <= width
    assert "→ mine: 48 topics, judged 0.913" in found
    assert found[-1].startswith("  why")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("task", CONTRACTS)
def test_published_tables_fit_and_leave_out_what_is_not_known(task: str, width: int) -> None:
    board = leaderboard_of(task)
    shown = screen(width)
    show_leaderboard(board, shown)
    found = lines(shown)
    assert max(map(len, found)) <= width
    has_intervals = any(place.row.low for table in board.tables for place in table.places)
    assert any("95% interval" in line for line in found) is has_intervals


def test_a_long_name_breaks_after_punctuation() -> None:
    name = "seupd2021-rck-stop-kstem-doShingle-false-Dirichlet-mu-2000.0-topics-2021"
    row = Row(TASK, "relevance", "", "Pippin Took", name, "nDCG@5", 0.7, 0.6, 0.8)
    shown = screen(70)
    show_leaderboard(Leaderboard(TASK, (Table("relevance", "", (RankedRow(1, row),)),)), shown)
    # the head, a rule, then the name, with other columns beside its first line
    first, *rest = [line for line in lines(shown) if "-" in line or "2021" in line][1:]
    parts = [first.split()[3], *map(str.strip, rest)]
    assert "".join(parts) == name
    assert all(part.endswith("-") for part in parts[:-1])


@pytest.mark.parametrize(("columns", "width"), [("", 80), ("0", 80), ("120", 120), ("x", 80)])
def test_a_pipe_is_as_wide_as_columns_say(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.__stdout__", None)
    piped = terminal_console()
    assert (piped.width, piped.no_color) == (width, True)
