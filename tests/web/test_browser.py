"""The pages as people use them, in a real browser over a real server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

import sicetnon
from support import browser as browsers
from support.browser import NARROW, WIDE, Browser, Visitor, expect
from support.passages import QUESTION as BOATS
from support.passages import boats
from support.served import served

pytestmark = pytest.mark.skipif(bool(browsers.missing()), reason=browsers.missing())

QUESTION = "Should teachers get tenure?"
ARGUMENTS = {
    "first visit": "/",
    "answers": "/?q=Should+teachers+get+tenure%3F",
    "filtered": "/?q=Is+homework+good+for+children%3F&sort=strongest&side=against",
    "misspelt": "/?q=Shuold+homewrok+be+abolished%3F",
    "no answer": "/?q=Shuold+homewrok+be+abolished%3F&spelling=kept",
    "a claim": "/?q=Tenure+protects+lazy+teachers+from+being+fired.",
    "a fact": "/?q=What+is+tenure%3F",
    "document": "/document?id=Sb75c433b-Aca48783c&q=Should+teachers+get+tenure%3F",
    "reply": "/reply?id=Sb75c433b-Aca48783c&q=Should+teachers+get+tenure%3F",
    "brief": "/brief?q=Should+teachers+get+tenure%3F",
    "problem": "/document?id=none",
    "runs": "/runs",
    "no pool": "/judge",
    "API": "/api",
}
PASSAGES = {
    "comparison": "/?q=Which+is+better%2C+a+kayak+or+a+canoe%3F",
    "aspect": "/?q=Which+is+better%2C+a+kayak+or+a+canoe%3F&aspect=price",
    "passage": "/document?id=page-one___1&q=Which+is+better%2C+a+kayak+or+a+canoe%3F",
}
STATES = sorted(ARGUMENTS | PASSAGES)
Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def addresses(
    tmp_path_factory: pytest.TempPathFactory, index: Path
) -> Iterator[Callable[[str], str]]:
    """The address of each state: over the sample, or over passages."""
    with ExitStack() as stack:
        opened = sicetnon.Index.open(index)
        small = boats(tmp_path_factory.mktemp("boats") / "index")
        first, second = (stack.enter_context(served(each)).url for each in (opened, small))
        every = {state: first + path for state, path in ARGUMENTS.items()}
        every |= {state: second + path for state, path in PASSAGES.items()}
        yield every.__getitem__


@pytest.fixture
def visit(browser: Browser, addresses: Callable[[str], str]) -> Iterator[Visit]:
    """Opens a state of a page."""
    with ExitStack() as stack:

        def opened(state: str, **setting: Any) -> Visitor:
            found = stack.enter_context(browsers.visitor(browser, **setting))
            found.page.goto(addresses(state))
            return found

        yield opened


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_accessible_and_needs_no_scripts(visit: Visit, state: str) -> None:
    visitor, plain = (visit(state, scripts=scripts) for scripts in (True, False))
    # a request's id is another one each time
    said = [
        re.sub(r"Request \w+", "", each.page.locator("main").inner_text())
        for each in (visitor, plain)
    ]
    assert said[0] == said[1]
    visitor.page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")
    assert visitor.findings() == []
    assert state == "problem" or visitor.complaints == []


class TestAsking:
    @pytest.mark.parametrize("scripts", [True, False])
    @pytest.mark.parametrize("width", [WIDE, NARROW])
    def test_from_the_box_to_a_source(self, visit: Visit, width: int, scripts: bool) -> None:
        page = visit("first visit", width=width, scripts=scripts).page
        page.get_by_label("A question or a claim").fill(QUESTION)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
        expect(page.locator("#for .card")).not_to_have_count(0)
        card = page.locator("#against .card").first
        expect(card.locator("blockquote")).to_have_text(re.compile(r"\S"), use_inner_text=True)
        claim = card.get_by_role("heading").get_by_role("link")
        name = claim.inner_text()
        said = card.locator("blockquote bdi").inner_text().strip("… ")
        claim.click()
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        link = page.locator(".question .source a")
        expect(link).to_have_attribute("href", re.compile("^https://"))
        expect(link).to_have_attribute("rel", "noopener noreferrer")
        # the sentence of the answer is marked, and in sight
        marked = page.locator(".text :target")
        expect(marked).to_be_in_viewport(ratio=1)
        assert marked.inner_text().strip() in said or said in marked.inner_text()
        assert 0 <= marked.bounding_box()["y"] < 900

    def test_an_example_is_a_click_away(self, visit: Visit) -> None:
        page = visit("first visit").page
        example = page.locator(".examples a").first
        asked = example.inner_text()
        example.click()
        expect(page.get_by_label("A question or a claim")).to_have_value(asked)
        expect(page.locator(".card")).not_to_have_count(0)

    def test_two_columns_when_wide_and_one_when_narrow(self, visit: Visit) -> None:
        visitor = visit("answers")
        for width, apart in ((WIDE, True), (NARROW, False)):
            visitor.resize(width)
            left, right = (
                visitor.page.locator(name).bounding_box() for name in ("#for", "#against")
            )
            assert (right["x"] > left["x"] + left["width"]) == apart
            assert (right["y"] > left["y"] + left["height"]) != apart

    def test_sides_have_a_word_and_a_colour(self, visit: Visit) -> None:
        for scheme in ("light", "dark"):
            page = visit("answers", scheme=scheme).page
            colours = page.locator(".side h2").evaluate_all(
                "all => all.map(each => getComputedStyle(each).color)"
            )
            assert len(set(colours)) == len(colours) >= 2
            assert [*map(str.strip, page.locator(".side h2 bdi").all_inner_texts())][:2] == [
                "For",
                "Against",
            ]

    @pytest.mark.parametrize("scripts", [True, False])
    def test_a_filter_changes_the_address_and_can_be_undone(
        self, visit: Visit, scripts: bool
    ) -> None:
        page = visit("answers", scripts=scripts).page
        before = page.locator("#answers .card").count()
        page.get_by_text("Filter and sort").click()
        page.get_by_role("navigation", name="Side").get_by_role("link", name="Against").click()
        page.wait_for_url(re.compile("side=against"))
        chosen = page.locator('#answers [aria-current="true"]', has_text="Against")
        expect(chosen).to_be_visible()
        expect(page.locator("#for .card")).to_have_count(0)
        after = page.locator("#answers .card").count()
        assert 0 < after < before
        expect(page.locator("#status")).to_contain_text(f"{after} of {before}")
        page.go_back()
        page.wait_for_url(re.compile(r"tenure%3F$"))
        expect(page.locator("#for .card").first).to_be_visible()

    @pytest.mark.parametrize("scripts", [True, False])
    def test_a_side_that_is_chosen_takes_the_full_width(self, visit: Visit, scripts: bool) -> None:
        page = visit("filtered", scripts=scripts).page
        assert page.locator("#for").count() == 0
        column, answers = (page.locator(name).bounding_box() for name in ("#against", "#answers"))
        assert column["width"] == answers["width"]
        near = page.get_by_role("link", name="These answers as JSON").get_attribute("href")
        assert "side=against" in near
        # the way back from a document keeps what was chosen
        address = page.url
        page.locator("#against .card h3 a").first.click()
        page.get_by_role("link", name="All answers to").click()
        expect(page.locator("#against .card").first).to_be_visible()
        assert sorted(page.url.split("&")) == sorted(address.split("&"))

    @pytest.mark.parametrize("scripts", [True, False])
    def test_all_filters_are_cleared_at_once(self, visit: Visit, scripts: bool) -> None:
        page = visit("filtered", scripts=scripts).page
        page.get_by_role("link", name="Clear filters").click()
        page.wait_for_url(re.compile(r"/\?q=[^&]*&sort=strongest$"))
        expect(page.locator("#for .card").first).to_be_visible()
        expect(page.get_by_role("link", name="Clear filters")).to_have_count(0)

    def test_a_filter_loads_no_page_where_scripts_run(self, visit: Visit) -> None:
        page = visit("answers").page
        page.evaluate("window.isSamePage = true")
        page.get_by_text("Filter and sort").click()
        page.get_by_role("link", name="longest first").click()
        page.wait_for_url(re.compile("sort=longest"))
        chosen = page.locator('#answers [aria-current="true"]', has_text="longest")
        expect(chosen).to_be_visible()
        assert page.evaluate("window.isSamePage")
        # the page in other forms is the filtered one
        near = page.get_by_text("This page as JSON")
        expect(near).to_have_attribute("href", re.compile("sort=longest"))
        # who goes on by keyboard stands where they were
        expect(chosen).to_be_focused()

    def test_a_part_that_cannot_be_loaded_says_why(self, visit: Visit) -> None:
        page = visit("answers").page

        def refuse(route: Any) -> None:
            route.fulfill(status=503, body="<h1>Service Unavailable</h1>", content_type="text/html")

        page.route("**/*side=against*", refuse)
        page.get_by_text("Filter and sort").click()
        page.get_by_role("navigation", name="Side").get_by_role("link", name="Against").click()
        expect(page.get_by_role("heading", name="Service Unavailable")).to_be_visible()

    @pytest.mark.parametrize("scripts", [True, False])
    def test_reply_and_debate(self, visit: Visit, scripts: bool) -> None:
        page = visit("answers", scripts=scripts).page
        card = page.locator("#against .card").first
        card.get_by_role("link", name="Replies to this").click()
        replies = (card if scripts else page).locator(".replies li")
        expect(replies.first).to_be_visible()
        if not scripts:
            page.go_back()
        card.get_by_role("link", name="More from this debate").click()
        expect((card if scripts else page).locator(".beside li").first).to_be_visible()
        assert ("document" in page.url) != scripts

    def test_the_reasons_open_by_keyboard(self, visit: Visit) -> None:
        page = visit("answers").page
        summary = page.locator(".why summary").first
        summary.focus()
        page.keyboard.press("Enter")
        reasons = page.locator(".why .reasons").first
        expect(reasons).to_contain_text("on topic", use_inner_text=True)

    def test_the_first_tab_leads_to_the_content(self, visit: Visit) -> None:
        page = visit("answers").page
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        expect(focused).to_have_text("Skip to the content")
        page.keyboard.press("Enter")
        expect(focused).to_have_id("main")

    def test_a_slip_of_the_pen_is_a_click_away(self, visit: Visit) -> None:
        page = visit("no answer").page
        page.locator(".meant").get_by_role("link", name="Should homework be abolished?").click()
        expect(page.locator(".card")).not_to_have_count(0)

    def test_a_question_is_answered_with_its_words_corrected(self, visit: Visit) -> None:
        page = visit("misspelt").page
        assert page.locator("h1").inner_text() == "Should homework be abolished?"
        assert page.locator(".card").count() >= 1
        page.get_by_role("link", name="Shuold homewrok be abolished?").click()
        page.wait_for_url(re.compile("spelling=kept"))
        expect(page.locator(".nothing")).to_be_visible()
        expect(page.locator(".card")).to_have_count(0)

    @pytest.mark.parametrize("form", ["JSON", "Markdown"])
    def test_other_forms(self, visit: Visit, form: str) -> None:
        page = visit("filtered").page
        link = page.locator("#forms").get_by_role("link", name=form).get_attribute("href")
        text = page.request.get(urljoin(page.url, link)).text()
        said = page.locator("#against blockquote").first.inner_text()
        assert said.split()[-2] in text
        assert "side=against" in link


class TestComparing:
    def test_bars_open_on_the_sentences_behind_them(self, visit: Visit) -> None:
        page = visit("comparison").page
        bar = page.locator(".bars details.for")
        assert bar.locator("summary").inner_text().split() == ["kayak", "2"]
        bar.locator("summary").click()
        expect(bar).to_contain_text("A kayak is faster than a canoe.", use_inner_text=True)
        bar.locator("a").first.click()
        expect(page.get_by_role("heading", level=1, name="A kayak is faster")).to_be_visible()
        marked = page.locator(".text :target")
        expect(marked).to_contain_text("A kayak is faster", use_inner_text=True)

    @pytest.mark.parametrize("scripts", [True, False])
    def test_an_aspect_filters_bars_and_passages(self, visit: Visit, scripts: bool) -> None:
        page = visit("comparison", scripts=scripts).page
        page.get_by_role("navigation", name="Aspects").get_by_text("price").click()
        page.wait_for_url(re.compile("aspect=price"))
        chosen = page.locator('.chips [aria-current="true"]', has_text="price")
        expect(chosen).to_be_visible()
        counts = page.locator(".bars .count")
        for at, count in enumerate(["1", "1", "0"]):
            expect(counts.nth(at)).to_have_text(count, use_inner_text=True)
        expect(page.locator(".card")).to_have_count(2)

    def test_more_passages_on_demand(self, visit: Visit) -> None:
        page = visit("comparison").page
        page.goto(page.url + "&n=3")
        page.locator("#more").scroll_into_view_if_needed()
        before = page.evaluate("scrollY")
        page.locator("#more").click()
        expect(page.locator(".card >> nth=4")).to_be_visible()
        expect(page).to_have_url(re.compile("n=15$"))
        # the reader stays where the new answers begin
        assert page.evaluate("scrollY") == before

    def test_what_names_no_object_is_not_shown(self, visit: Visit) -> None:
        text = visit("comparison").page.locator("main").inner_text()
        assert "closed deck" in text
        assert "dammed" not in text
        assert BOATS in text


class TestPaper:
    def test_a_brief_prints_on_one_page(self, visit: Visit) -> None:
        page = visit("brief").page
        page.emulate_media(media="print")
        page.wait_for_function("matchMedia('print').matches")
        expect(page.locator("form")).not_to_be_visible()
        expect(page.locator("nav").first).not_to_be_visible()
        assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) == 1


def test_a_page_is_light(visit: Visit) -> None:
    page = visit("answers", own=True).page
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(
        "['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))"
        ".map(each => each.decodedBodySize)"
    )
    assert 4 <= len(sizes) <= 5
    assert 0 < sum(sizes) < 100_000
