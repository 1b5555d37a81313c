"""The pages Judge and Runs as people use them: keys, forms, lost connections, a real browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import sicetnon
from sicetnon.judging import Action, JudgingFile
from sicetnon.judging.votes import events, standing_votes
from sicetnon.web.settings import Settings
from support import browser as browsers
from support.browser import NARROW, WIDE, Browser, Visitor, expect
from support.debates import both_sides
from support.judging_cases import key
from support.judging_in_browser import (
    another,
    asks_for,
    document,
    expect_document,
    judge,
    waits_until_saved,
)
from support.judging_pages import sample_pool
from support.ports import free_ports
from support.served import program, served

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

IDS = [str(number) for number in range(8)]
Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("web") / "index")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return sample_pool(tmp_path / "pool.sqlite", IDS, dimensions=("relevance", "side"), votes=2)


@pytest.fixture
def visit(browser: Browser, index: sicetnon.Index, pool: Path) -> Iterator[Visit]:
    """Opens a page of a server with a pool."""
    with ExitStack() as stack:
        url = stack.enter_context(served(index, Settings(judging=pool))).url

        def opened(path: str = "/judge?assessor=anna", **setting: Any) -> Visitor:
            found = stack.enter_context(browsers.visitor(browser, **setting))
            found.page.goto(url + path)
            return found

        yield opened


def saved(pool: Path) -> list[tuple[str, str, str]]:
    """Documents, dimensions and labels of the votes that stand."""
    with JudgingFile(pool) as file:
        return [(each.document, each.dimension, each.label) for each in standing_votes(file)]


class TestEachState:
    @pytest.mark.parametrize("state", ["start", "card", "end", "overview", "agreement", "token"])
    def test_it_is_accessible_and_fits_the_window(
        self, visit: Visit, pool: Path, state: str
    ) -> None:
        with JudgingFile(pool) as file:
            for name, label in (("anna", "0"), ("bert", "2")):
                for item in file.assigned(name, 16 if name == "anna" else 3):
                    for dimension, value in (("relevance", label), ("side", "FOR")):
                        file.record(name, [Action(key(), "vote", item.id, dimension, value)])
                file.record(name, [Action(key(), "note", 1, note="what does it claim?")])
        path = {
            "start": "/judge",
            "card": "/judge?assessor=bert",
            "end": "/judge?assessor=anna",
            "overview": "/judge/overview?assessor=bert",
            "agreement": "/judge/agreement",
            "token": "/token",
        }[state]
        visitor = visit(path)
        if state in ("card", "end"):
            visitor.page.wait_for_load_state("networkidle")
        visitor.page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
        assert visitor.findings() == []
        assert visitor.complaints == []


class TestKeys:
    def test_one_key_saves_and_goes_on(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        first = document(page)
        page.keyboard.press("2")
        asks_for(page, "side")
        assert document(page) == first
        page.keyboard.press("1")
        another(page, first)
        # the heading of the next document is where a screen reader goes on
        expect(page.locator(".judged h1")).to_be_focused()
        expect(page.get_by_text("1 of 16 judged")).to_be_visible()
        assert sorted(label for _, _, label in saved(pool)) == ["2", "FOR"]

    def test_the_question_that_is_asked_is_seen_at_once(self, visit: Visit) -> None:
        page = visit().page
        for asked, key_of_label in (("relevance", "2"), ("side", "1")):
            asks_for(page, asked)
            steps = page.locator(".step")
            colours = steps.evaluate_all(
                "all => all.map(each => getComputedStyle(each).backgroundColor)"
            )
            assert len(set(colours)) == len(colours) == 2
            # only its keys are shown
            with_keys = [
                each.get_attribute("data-dimension")
                for each in steps.all()
                if each.locator("kbd").first.is_visible()
            ]
            assert with_keys == [asked]
            page.keyboard.press(key_of_label)

    def test_what_a_link_leads_to_is_its_name(self, visit: Visit) -> None:
        page = visit().page
        page.get_by_role("link", name="Download judgments").click()
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the judgments of all").click()
        assert download.value.suggested_filename.startswith("judgments")

    def test_the_whole_pool_by_keys(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        seen = [judge(page, "1", "2") for _ in range(16)]
        expect(page.get_by_role("heading", name="Nothing left for you")).to_be_visible()
        waits_until_saved(page)
        assert len(set(seen)) == 16
        assert len(saved(pool)) == 32
        topics = [each.partition(" ")[2].rpartition(" ")[0] for each in seen]
        assert topics == sorted(topics, key=topics.index)

    def test_undo_skip_and_note(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        first = document(page)
        page.keyboard.press("s")
        second = another(page, first)
        judge(page, "1", "2")
        another(page, second)
        # a document is undone whole
        page.keyboard.press("u")
        expect_document(page, second)
        asks_for(page, "relevance")
        waits_until_saved(page)
        assert saved(pool) == []
        page.keyboard.press("u")
        expect_document(page, first)
        page.keyboard.press("n")
        expect(page.get_by_label("For the discussion with other assessors")).to_be_focused()
        page.keyboard.type("u1s is no shortcut here")
        page.get_by_role("button", name="Save the note").click()
        judge(page, "0", "4")
        expect_document(page, second)
        waits_until_saved(page)
        assert sorted(label for _, _, label in saved(pool)) == ["0", "NONE"]
        with JudgingFile(pool) as file:
            kinds = Counter(each["kind"] for each in events(file))
            notes = [each["note"] for each in events(file) if each["kind"] == "note"]
        assert kinds == {"vote": 4, "skip": 1, "undo": 3, "note": 1}
        assert notes == ["u1s is no shortcut here"]

    def test_what_was_done_before_a_reload_can_be_undone(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        first = document(page)
        page.keyboard.press("2")
        waits_until_saved(page)
        page.reload()
        page.wait_for_load_state("networkidle")
        asks_for(page, "side")
        page.keyboard.press("u")
        page.wait_for_url("**item=*")
        asks_for(page, "relevance")
        assert document(page) == first
        assert saved(pool) == []

    def test_shortcuts_can_be_turned_off(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        page.get_by_label("Keyboard shortcuts").uncheck()
        page.locator(".judged h1").focus()
        for letter in "2su":
            page.keyboard.press(letter)
        page.reload()
        expect(page.get_by_label("Keyboard shortcuts")).not_to_be_checked()
        page.get_by_role("button", name="Highly relevant").click()
        waits_until_saved(page)
        assert len(saved(pool)) == 1


@pytest.mark.parametrize("width", [WIDE, NARROW])
@pytest.mark.parametrize("scripts", [True, False])
def test_from_a_name_to_votes(visit: Visit, pool: Path, scripts: bool, width: int) -> None:
    documents = 10 if scripts else 3
    page = visit("/judge", scripts=scripts, width=width).page
    page.get_by_label("Your name").fill("bert")
    page.keyboard.press("Enter")
    expect(page.locator("#judging.live" if scripts else "#judging")).to_be_visible()
    for number in range(documents):
        judged = document(page)
        page.get_by_role("button", name="Highly relevant").click()
        relevance = page.locator('.step[data-dimension="relevance"]')
        expect(relevance).to_have_attribute("data-label", "2")
        assert document(page) == judged
        page.get_by_role("button", name=re.compile("^3?\\s*Both")).click()
        another(page, judged)
        if not scripts:
            expect(page.locator("#count")).to_have_text(f"{number + 1} of 16 judged")
    expect(page.get_by_text(f"{documents} of 16 judged")).to_be_visible()
    page.get_by_role("button", name="Skip").click()
    expect(page.get_by_text("1 skipped")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: what you said of this document")).to_be_visible()
    if scripts:
        waits_until_saved(page)
    with JudgingFile(pool) as file:
        kinds = Counter(each["kind"] for each in events(file))
    assert kinds == {"vote": 2 * documents, "skip": 1, "undo": 1}
    assert len(saved(pool)) == 2 * documents


class TestLostConnections:
    def test_votes_wait_for_a_minute_and_are_sent_once(self, visit: Visit, pool: Path) -> None:
        visitor = visit(own=True)
        page = visitor.page
        page.clock.install()
        page.reload()
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        judged = [judge(page, "2", "1") for _ in range(8)]
        # both votes on the last document
        page.keyboard.press("u")
        expect_document(page, judged[-1])
        # a minute of tries that fail
        page.clock.run_for(60_000)
        waiting = page.get_by_text("No connection: 18 actions wait on this device")
        expect(waiting).to_be_visible()
        assert saved(pool) == []
        page.context.set_offline(False)
        waits_until_saved(page)
        assert len(saved(pool)) == 14
        with JudgingFile(pool) as file:
            assert len(list(events(file))) == 18

    def test_more_than_was_fetched(self, visit: Visit, pool: Path) -> None:
        page = visit(own=True).page
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        for _ in range(16):
            judge(page, "2", "1")
        # keys behind the last one do nothing
        for each in "21" * 4:
            page.keyboard.press(each)
        expect(page.get_by_text("Your votes wait on this device")).to_be_visible()
        page.context.set_offline(False)
        expect(page.get_by_text("You have judged every document")).to_be_visible()
        waits_until_saved(page)
        assert len(saved(pool)) == 32

    def test_a_page_that_is_closed_keeps_its_votes(self, visit: Visit, pool: Path) -> None:
        page = visit(own=True).page
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        first = judge(page, "2", "1")
        context, address = page.context, page.url
        page.close()
        assert saved(pool) == []
        context.set_offline(False)
        page = context.new_page()
        page.goto(address)
        waits_until_saved(page)
        another(page, first)
        assert len(saved(pool)) == 2

    def test_an_answer_that_is_lost(self, visit: Visit, pool: Path) -> None:
        page = visit().page
        lost = []

        def lose(route: Any) -> None:
            if len(lost) < 3:
                lost.append(route.fetch().json())
                route.abort()
            else:
                route.continue_()

        page.route("**/judge/actions", lose)
        judge(page, "2", "1")
        waits_until_saved(page)
        assert len(lost) == 3
        assert len(saved(pool)) == 2
        with JudgingFile(pool) as file:
            assert len(list(events(file))) == 2

    def test_a_vote_that_came_too_late_is_said(self, visit: Visit, pool: Path) -> None:
        page = visit(own=True).page
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        page.keyboard.press("2")
        asks_for(page, "side")
        item = int(page.locator(".judged").get_attribute("data-item"))
        with JudgingFile(pool, hold_seconds=0) as file:
            with file.reading() as database:
                database.execute("DELETE FROM reservations")
            for name in ("bert", "cleo"):
                file.record(name, [Action(key(), "vote", item, "relevance", "0")])
        page.context.set_offline(False)
        expect(page.get_by_text("has all its votes from others meanwhile")).to_be_visible()
        waits_until_saved(page)
        assert [label for _, _, label in saved(pool)] == ["0", "0"]


def test_a_server_that_is_killed_and_started_again(
    browser: Browser, index: sicetnon.Index, pool: Path
) -> None:
    (port,) = free_ports(1)
    with browsers.visitor(browser) as visitor:
        page = visitor.page
        with program(index.folder, pool, port):
            page.goto(f"http://127.0.0.1:{port}/judge?assessor=anna")
            page.wait_for_load_state("networkidle")
            page.keyboard.press("2")
            waits_until_saved(page)
        first = document(page)
        page.keyboard.press("1")
        another(page, first)
        page.keyboard.press("0")
        expect(page.get_by_text("No connection: 2 actions wait on this device")).to_be_visible()
        assert len(saved(pool)) == 1
        with program(index.folder, pool, port):
            waits_until_saved(page)
    assert sorted(label for _, _, label in saved(pool)) == ["0", "2", "FOR"]


class TestRuns:
    @pytest.fixture
    def files(self, tmp_path: Path) -> dict[str, Path]:
        lines = {
            "one.txt": [f"{t} Q0 {n} {n + 1} {9 - n} one" for t in (1, 2) for n in range(8)],
            "two.txt": [f"{t} Q0 {7 - n} {n + 1} {9 - n} two" for t in (1, 2) for n in range(8)],
            "relevance.qrels": [f"{t} 0 {n} {n % 3}" for t in (1, 2) for n in range(8)],
        }
        for name, rows in lines.items():
            (tmp_path / name).write_text("\n".join(rows) + "\n")
        return {name: tmp_path / name for name in lines}

    @pytest.mark.parametrize("scripts", [True, False])
    @pytest.mark.parametrize("width", [WIDE, NARROW])
    def test_from_files_to_two_runs_side_by_side(
        self, visit: Visit, files: dict[str, Path], width: int, scripts: bool
    ) -> None:
        visitor = visit("/runs", width=width, scripts=scripts)
        page = visitor.page
        # each of the pages once: they look at all widths
        findings = visitor.findings if scripts and width == WIDE else list[str]
        page.get_by_label("Runs, up to 20").set_input_files([files["one.txt"], files["two.txt"]])
        page.get_by_label("Judgments").set_input_files(files["relevance.qrels"])
        page.get_by_role("button", name="Score").click()
        expect(page.get_by_role("heading", name="2 runs, 2 topics")).to_be_visible()
        # a width is one of the page only once its style sheet has come
        page.wait_for_load_state()
        expect(page.locator("table.leaders tbody tr")).to_have_count(2)
        assert not visitor.overflows
        assert findings() == []
        page.get_by_role("button", name="Side by side").click()
        expect(page.get_by_role("heading", name="Topic by topic")).to_be_visible()
        page.wait_for_load_state()
        assert findings() == []
        page.locator(".topics-of a").first.click()
        expect(page.get_by_role("heading", name="Topic 1")).to_be_visible()
        page.wait_for_load_state()
        expect(page.locator(".pair-of-runs li")).to_have_count(16)
        assert not visitor.overflows
        assert findings() == []
        page.get_by_role("link", name="→").click()
        expect(page.get_by_role("heading", name="Topic 2")).to_be_visible()
        page.wait_for_load_state()
        expect(page.locator(".pair-of-runs li")).to_have_count(16)
        assert visitor.complaints == []
