"""What a document is called, and who said it."""

from __future__ import annotations

import pytest

from sicetnon.app.labels import Origin, name_of, origin_of
from sicetnon.records import Argument, Entry, Passage, Premise, ProcessedArgument, WebPage

CONTEXT = {
    "author": "Ada  Example",
    "authorOrganization": "Example Party",
    "discussionTitle": "Tenure",
    "sourceUrl": "https://www.debates.example/1",
    "date": "2011-05-04T10:00:00Z",
    "acquisitionTime": "2019-04-18T00:00:00Z",
}


def argument(**context: object) -> Argument:
    return Argument("1", "Tenure is good", (Premise("It protects.", "PRO"),), dict(context))


def test_an_argument_says_who_said_it_where_and_when() -> None:
    whole = argument(**CONTEXT)
    link = "https://www.debates.example/1"
    expected = Origin(
        "Ada Example (Example Party)", "Tenure", "debates.example", "2011-05-04", "2019-04-18", link
    )
    assert origin_of(whole) == origin_of(ProcessedArgument(whole, ())) == expected
    assert expected.by == "Ada Example (Example Party)"


@pytest.mark.parametrize(
    "record",
    [argument(), argument(author="  ", date=[2011]), Passage("p", "Text."), Entry("e", {"t": "T"})],
)
def test_what_is_not_known_is_said_to_be_not_known(record: Argument | Passage | Entry) -> None:
    assert origin_of(record) == Origin("", "", "", "", "", None)
    assert origin_of(record).by == "author not known"


def test_own_documents_may_name_an_author_and_a_year() -> None:
    entry = Entry(
        "1", {"text": "It works."}, {"by": "Ada", "year": 2011, "url": "http://a.example"}
    )
    assert origin_of(entry) == Origin("Ada", "", "a.example", "2011", "", "http://a.example")


def test_no_link_is_followed_to_something_else_than_a_page() -> None:
    assert origin_of(argument(sourceUrl="javascript:alert(1)")).link is None
    broken = origin_of(Passage("p", "Text.", "https://[broken"))
    assert broken.site == ""


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (argument(), "Tenure is good"),
        (WebPage("w", "A title", "Text."), "A title"),
        (Passage("page___1", "Short\n text."), "Short text."),
        (Passage("page___1", "word " * 40), "word " * 13 + "word…"),
        (Passage("page___1", "x" * 100), "x" * 71 + "…"),
    ],
)
def test_a_document_without_a_title_is_called_by_its_first_words(
    record: Argument | WebPage | Passage, name: str
) -> None:
    assert name_of(record) == name
