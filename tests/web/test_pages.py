"""The pages, by a real server and without a browser: what they link, escape and refuse."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote_plus

import pytest

import sicetnon
from support.debates import AGAINST, FOR, QUESTION, argument, both_sides, indexed
from support.passages import QUESTION as BOATS
from support.passages import boats
from support.served import Client, served

HTML = {"Accept": "text/html"}
LEADS = re.compile(r"/(?!/)|#|https://a\.example/")
LOADED = re.compile(r'(?:href|src)="(/static/[^"]+)"')


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with served(both_sides(tmp_path_factory.mktemp("pages") / "index")) as running:
        yield running


class TestFrame:
    def test_a_page_loads_only_files_of_this_server(self, client: Client) -> None:
        page = client.get("/").data.decode()
        loaded = LOADED.findall(page)
        assert len(loaded) == 4
        for address in loaded:
            answer = client.get(address)
            assert answer.status == 200
            assert "immutable" in answer.headers["cache-control"]
        assert not re.search(r"https?://", page)

    def test_nothing_inline_runs_or_styles(self, client: Client) -> None:
        answer = client.get("/")
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        page = answer.data.decode()
        assert not re.search(r"<style|<script(?![^>]* src=)|\son\w+=|\sstyle=|javascript:", page)

    @pytest.mark.parametrize("name", ["none.css", "..%2Fassets.py", "LICENSE"])
    def test_other_files_are_not_served(self, client: Client, name: str) -> None:
        assert client.get(f"/static/{name}").status == 404

    def test_a_browser_gets_errors_as_pages(self, client: Client) -> None:
        answer = client.get("/nowhere", headers=HTML)
        assert answer.status == 404
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["x-request-id"] in answer.data.decode()

    def test_programs_get_errors_as_problems(self, client: Client) -> None:
        for path, headers in (("/nowhere", {}), ("/api/v1/documents/none", HTML)):
            answer = client.get(path, headers=headers)
            assert answer.headers["content-type"] == "application/problem+json"


class TestAsk:
    def test_the_page_says_what_the_library_says(self, client: Client) -> None:
        page = client.get("/", q=QUESTION).data.decode()
        found = client.json("/", q=QUESTION, format="json")
        assert found["found"] == found["shown"] == len(found["answers"]) == 8
        for answer in found["answers"]:
            assert f"/document?id={answer['id']}&amp;" in page
            assert answer["side"] == {"for": "FOR", "against": "AGAINST"}[answer["column"]]
            assert answer["sentence"] in answer["fields"]["text"]

    @pytest.mark.parametrize(
        ("fields", "shown"),
        [
            ({"side": "for"}, 4),
            ({"side": "for", "length": "short"}, 4),
            ({"side": "neither"}, 0),
            ({"length": "long"}, 0),
            ({"source": "nowhere.example"}, 0),
            ({"strength": "strong"}, 0),
            ({"aspect": "price"}, 0),
            ({"n": 3}, 3),
        ],
    )
    def test_filters(self, client: Client, fields: dict[str, str], shown: int) -> None:
        found = client.json("/", q=QUESTION, format="json", **fields)
        assert found["shown"] == shown
        assert client.get("/", q=QUESTION, **fields).status == 200

    @pytest.mark.parametrize("sort", ["shortest", "longest"])
    def test_orders(self, client: Client, sort: str) -> None:
        found = client.json("/", q=QUESTION, format="json", side="for", sort=sort)["answers"]
        lengths = [len(answer["fields"]["text"]) for answer in found]
        assert lengths == sorted(lengths, reverse=sort == "longest")

    @pytest.mark.parametrize(
        "fields",
        [{"side": "left"}, {"n": "0"}, {"n": "many"}, {"sort": "x"}, {"format": "xml"}, {"n": 999}],
    )
    def test_what_it_does_not_know_is_an_error(
        self, client: Client, fields: dict[str, str]
    ) -> None:
        answer = client.get("/", headers=HTML, q=QUESTION, **fields)
        assert answer.status == 422
        assert next(iter(fields)) in answer.data.decode()

    def test_long_and_empty_questions(self, client: Client) -> None:
        assert client.get("/", q="a" * 2001).status == 422
        assert "For example" in client.get("/", q="   ").data.decode()

    def test_markdown(self, client: Client) -> None:
        text = client.get("/", q=QUESTION, format="markdown").data.decode()
        assert text.startswith(f"# {QUESTION}\n")
        assert "## For\n" in text
        assert "## Against\n" in text

    def test_nothing_is_said_where_nothing_is(self, client: Client) -> None:
        page = client.get("/", q="quasars").data.decode()
        assert "There is no argument about this" in page
        assert "<bdi>quasars</bdi>" in page
        # what the index has instead
        _, _, held = page.partition("What this index has answers to")
        assert 'href="/?q=Teachers%20should%20get%20tenure"' in held

    def test_words_are_corrected_where_nothing_is_found_for_them(self, client: Client) -> None:
        wrong = "Should techers get tennure?"
        page = client.get("/", q=wrong).data.decode()
        assert f"<h1><bdi>{QUESTION}</bdi></h1>" in page
        assert f"<bdi>{wrong}</bdi></a>" in page
        assert "no argument about this" not in page
        found = client.json("/", q=wrong, format="json")
        assert (found["question"], found["misspelt"]) == (QUESTION, wrong)
        assert found["answers"] == client.json("/", q=QUESTION, format="json")["answers"]
        kept = client.get("/", q=wrong, spelling="kept").data.decode()
        assert f'Did you mean <a href="/?q={quote_plus(QUESTION)}' in kept
        assert "no argument about this" not in kept
        assert client.json("/", q=wrong, spelling="kept", format="json")["found"] == 0

    def test_sides_of_a_claim_say_what_they_do_with_it(self, client: Client) -> None:
        claim = "Tenure protects bad teachers from dismissal"
        page = client.get("/", q=claim).data.decode()
        assert f"They support the claim “{claim}”" in page
        assert f"They speak against the claim “{claim}”" in page
        for other in (QUESTION, "Tenure"):
            assert "the claim “" not in client.get("/", q=other).data.decode()

    def test_who_asks_for_what_is_not_there_sees_what_is(self, client: Client) -> None:
        page = client.get("/", q="quantum chromodynamics").data.decode()
        first = client.get("/").data.decode()
        examples = re.findall(r'<li><a href="(/\?q=[^"]*)"', first)
        assert examples
        assert re.findall(r'<li><a href="(/\?q=[^"]*)"', page) == examples

    def test_a_question_for_a_fact_has_no_sides(self, client: Client) -> None:
        page = client.get("/", q="What is tenure?").data.decode()
        assert "asks for a fact" in page
        assert 'id="for"' not in page


class TestComparisons:
    def test_sides_are_the_objects(self, tmp_path: Path) -> None:
        with served(boats(tmp_path / "index")) as client:
            found = client.json("/", q=BOATS, format="json")
            assert found["sides"] == {
                "for": "kayak",
                "against": "canoe",
                "neither": "Neither side",
            }
            assert found["bars"] == {"kayak": 2, "canoe": 1, "weighs both": 1}
            assert found["aspects"]["price"] == 2
            for name, count in found["aspects"].items():
                about = client.json("/", q=BOATS, format="json", aspect=name)
                assert about["shown"] == len(about["answers"]) == count
                assert all(name in answer["aspects"] for answer in about["answers"])
            # bars keep their scale, so that those of aspects can be compared
            widths = [
                max(map(int, re.findall(r'class="level" width="(\d+)"', page.data.decode())))
                for page in (client.get("/", q=BOATS), client.get("/", q=BOATS, aspect="price"))
            ]
            assert widths == [100, 50]
            # from a passage, also from one behind a bar, the way back keeps the aspect
            page = client.get("/", q=BOATS, aspect="price").data.decode()
            links = re.findall(r'href="(/document[^"#]*)', page)
            assert len(links) > 4
            for link in map(html.unescape, links):
                back = client.get(link).data.decode()
                assert re.search(r'href="/\?q=[^"]*aspect=price">All answers to', back)
            # what names neither object is about something else
            assert found["found"] == 5
            # bars count all that was found, however few are shown
            few = client.json("/", q=BOATS, format="json", n=2)
            assert (few["shown"], few["bars"]) == (2, found["bars"])
            assert "n=14" in client.get("/", q=BOATS, n=2).data.decode()

    def test_both_objects_are_shown_at_once_and_where_passages_speak_of_them(
        self, tmp_path: Path
    ) -> None:
        filling = "It was made in a year of rain and snow and nobody can say by whom it was. " * 9
        # each has words of its own: near duplicates would be folded
        words = (" ".join(f"thing{n}of{m}" for m in range(30)) for n in range(20))
        kayaks = [
            sicetnon.Passage(f"k{n}", f"A kayak is faster than a canoe. It has {each}.")
            for n, each in enumerate(words)
        ]
        said = "The canoe is more comfortable than the kayak. The canoe is cheaper than the kayak."
        canoe = sicetnon.Passage("long", filling + said + " " + filling)
        index = sicetnon.Index.build([*kayaks, canoe], tmp_path / "index")
        with served(index) as client:
            found = client.json("/", q=BOATS, format="json")
            assert {each["column"] for each in found["answers"]} == {"for", "against"}
            assert found["shown"] == 12
            page = client.get("/", q=BOATS).data.decode()
            card = page.partition('<section class="side against"')[2].partition("</article>")[0]
            assert "<mark>The canoe is more comfortable than the kayak.</mark>" in card
            quoted = card.partition("<blockquote")[2].partition("</blockquote>")[0]
            assert len(re.findall("a year of rain", quoted)) < 5
            # behind a bar stands a sentence of each passage that it counts
            bar = page.partition('<details class="for">')[2].partition("</details>")[0]
            assert bar.count("<li>") == 20
            priced = client.get("/", q=BOATS, aspect="price").data.decode()
            bar = priced.partition('<details class="against">')[2].partition("</details>")[0]
            assert re.findall(r"<li><bdi>([^<]*)</bdi>", bar) == [
                "The canoe is cheaper than the kayak."
            ]
            card = priced.partition('<section class="side against"')[2].partition("</article>")[0]
            assert "<mark>The canoe is cheaper than the kayak.</mark>" in card
            page = client.get("/document", id="long", q=BOATS).data.decode()
            assert "<dt>side</dt><dd>favours canoe</dd>" in page


class TestDocuments:
    def test_unknown_documents(self, client: Client) -> None:
        for path in ("/document", "/reply"):
            assert client.get(path, id="../../etc/passwd").status == 404
            assert client.get(path).status == 422

    def test_an_answer_says_why_it_stands_where_it_stands(self, client: Client) -> None:
        page = client.get("/document", id="0", q=QUESTION).data.decode()
        assert "Why it stands where it stands" in page
        assert "% sure" in page
        assert "not among the first" in client.get("/document", id="0", q="zoos").data.decode()
        assert "Why it stands" not in client.get("/document", id="0").data.decode()

    def test_an_answer_leads_to_its_sentence(self, client: Client) -> None:
        page = client.get("/", q=QUESTION).data.decode()
        found = client.json("/", q=QUESTION, format="json")["answers"]
        for answer in found:
            link = re.search(
                rf'href="(/document\?id={answer["id"]}&amp;[^"#]*)#(sentence-\d+)"', page
            )
            assert link
            text = client.get("/document", id=answer["id"], q=QUESTION).data.decode()
            (said,) = re.findall(rf'id="{link[2]}">([^<]+)<', text)
            assert answer["sentence"] == said

    def test_who_said_it_is_said_or_that_it_is_not_known(self, tmp_path: Path) -> None:
        texts = ("Tenure protects teachers, because it does so.", "Tenure costs a lot of money.")
        documents = [
            {"id": "1", "text": texts[0], "author": "Ada Example", "year": 1999},
            {"id": "2", "text": texts[1], "url": "https://www.a.example/page"},
        ]
        with served(sicetnon.Index.build(documents, tmp_path / "index", fields=["text"])) as client:
            pages = [
                client.get("/document", id=name, q="tenure").data.decode() for name in ("1", "2")
            ]
            asked = client.get("/", q="tenure").data.decode()
        assert "Ada Example" in pages[0]
        assert "1999" in pages[0]
        assert "author not known" in pages[1]
        assert '<a class="outside" href="https://www.a.example/page"' in pages[1]
        for said in ("Ada Example", "author not known", "a.example"):
            assert said in asked
        # a text without a title is called by its first words, not by its id
        assert f"<h1><bdi>{texts[1]}</bdi></h1>" in pages[1]


class TestReference:
    def test_the_api_is_readable_and_its_examples_work(self, client: Client) -> None:
        page = client.get("/api").data.decode()
        described = client.json("/api/v1/openapi.json")["paths"]
        for path, methods in described.items():
            assert f"<code>{path}</code>" in page
            assert all(method.upper() in page for method in methods)
        examples = re.findall(r'Try it: <a href="([^"]+)"', page)
        assert len(examples) >= 5
        for address in examples:
            assert client.get(html.unescape(address)).status == 200
        assert 'href="/api"' in client.get("/").data.decode()


class TestBrief:
    def test_it_leads_to_the_answers_where_no_other_sentence_can_be_quoted(
        self, tmp_path: Path
    ) -> None:
        asks = "Why should teachers have no tenure? Who would teach without tenure?"
        said = [(FOR[0], "PRO"), (asks, "PRO"), (AGAINST[0], "CON")]
        documents = [argument(place, text, side) for place, (text, side) in enumerate(said)]
        with served(indexed(documents, tmp_path / "index")) as other:
            page = other.get("/brief", q=QUESTION).data.decode()
        assert "No more reasons" not in page
        assert page.count("No other sentence of this side could be quoted.") == 2
        # the only answer against is quoted
        assert re.findall(r'href="/\?q=[^"]*side=(\w+)">Its answers: (\d+)<', page) == [
            ("for", "2")
        ]

    def test_it_can_be_kept_as_a_file_that_says_when_and_where(self, client: Client) -> None:
        page = client.get("/brief", q=QUESTION).data.decode()
        assert "/brief?q=Should+teachers+get+tenure%3F&amp;format=file" in page
        assert "Read in context" in page
        kept = client.get("/brief", q=QUESTION, format="file")
        assert (
            kept.headers["content-disposition"]
            == 'attachment; filename="should-teachers-get-tenure.html"'
        )
        text = kept.data.decode()
        assert re.search(r"Written on \d{1,2} \w+ \d{4} at http://127\.0\.0\.1:\d+/brief\?q=", text)
        assert "Read in context" not in text
        named = client.get("/brief", q="\u202e§?? 冗", format="file").headers["content-disposition"]
        assert named == 'attachment; filename="brief.html"'


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(1)> \u202e\u0000\x1b[31m {{ 7 * 7 }} "
    '"onmouseover="alert(1) tenure protects teachers, because it does so.\n\n</bdi></main>'
)


class Inspector(HTMLParser):
    """Finds what no page of ours holds: scripts, handlers, styles, images, links to run."""

    def __init__(self, page: str):
        super().__init__()
        self.faults: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag in ("img", "b", "iframe", "style", "base", "object"):
            self.faults.append(tag)
        if tag == "script" and not (given.get("src") or "").startswith("/static/"):
            self.faults.append(tag)
        for name, value in attributes:
            runs = name.startswith(("on", "hx-on")) or name == "style"
            leads = name in ("href", "src", "action") and not LEADS.match(value or "")
            if runs or leads:
                self.faults.append(f"{tag} {name}={value}")


class TestHostileTexts:
    def test_every_page_shows_them_as_text(self, tmp_path: Path) -> None:
        documents = [
            {"id": f"<b>{place}", "claim": HOSTILE, "side": "PRO", "link": link, "text": HOSTILE}
            for place, link in enumerate(("javascript:alert(1)", 'https://a.example/"><script>'))
        ]
        index = sicetnon.Index.build(
            documents, tmp_path / "index", fields=["text"], claim_field="claim", stance_field="side"
        )
        with served(index) as client:
            for path, fields in (
                ("/", {}),
                ("/", {"q": f"{HOSTILE} tenure"}),
                ("/brief", {"q": f"tenure {HOSTILE}"}),
                ("/document", {"id": "<b>0", "q": HOSTILE}),
                ("/document", {"id": "<b>1", "q": HOSTILE}),
                ("/reply", {"id": "<b>0", "q": HOSTILE}),
            ):
                answer = client.get(path, headers=HTML, **fields)
                assert answer.status == 200, answer.data
                page = answer.data.decode()
                assert not set("\x00\x1b\u202e") & set(page)
                assert Inspector(page).faults == []
                assert page.count("</main>") == 1


class TestCards:
    def test_a_side_that_is_a_guess_says_so(self, tmp_path: Path) -> None:
        documents = [{"id": str(n), "text": text} for n, text in enumerate(FOR + AGAINST)]
        index = sicetnon.Index.build(documents, tmp_path / "index", fields=["text"])
        with served(index) as other:
            answers = other.json("/", q="Tenure is bad", format="json")["answers"]
            page = other.get("/", q="Tenure is bad").data.decode()
        said = re.findall(r'<p class="doubt">Perhaps (\w+)[^<]*: (\d+)% sure</p>', page)
        unsure = [each for each in answers if each["probability"] < 0.7]
        assert sorted(said) == sorted(
            (each["column"], f"{100 * each['probability']:.0f}") for each in unsure
        )
        assert 0 < len(said) < len(answers)

    def test_sources_of_the_same_title_and_host_are_told_apart(self, tmp_path: Path) -> None:
        links = ("https://a.example/one/tenure", "https://a.example/two/tenure")
        documents = [
            {"id": str(n), "text": f"Tenure protects {what}, because it does so.", "url": link}
            for n, (what, link) in enumerate(zip(("teachers", "schools"), links, strict=True))
        ]
        with served(sicetnon.Index.build(documents, tmp_path / "index", fields=["text"])) as other:
            page = other.get("/", q="tenure").data.decode()
        assert sorted(re.findall(r'class="path"><bdi>([^<]*)', page)) == [
            "one/tenure",
            "two/tenure",
        ]
        # said once, not on each card
        assert "author not known" not in page
        assert page.count("does not name the authors") == 1

    def test_more_of_a_debate_is_offered_where_there_is_more(self, tmp_path: Path) -> None:
        says = ("Tenure protects good teachers.", "Tenure costs a lot.", "Tenure helps schools.")
        arguments = [
            sicetnon.Argument(name, "Tenure", (sicetnon.Premise(text, "PRO"),), {})
            for name, text in zip(("Sone-Aone", "Stwo-Aone", "Stwo-Atwo"), says, strict=True)
        ]
        with served(sicetnon.Index.build(arguments, tmp_path / "index")) as other:
            page = other.get("/", q="tenure").data.decode()
        offered = re.findall(r'href="/document\?id=([\w-]+)&amp;[^"]*#beside"', page)
        assert sorted(offered) == ["Stwo-Aone", "Stwo-Atwo"]
