"""Credibility of web pages, and argumentativeness by cues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.arguments.argumentativeness import CUES, argumentativeness
from sicetnon.arguments.credibility import SIGNALS, Credibility, HostKind, host_kind
from sicetnon.errors import UsageError
from sicetnon.records import WebPage


def page(
    url: str = "",
    text: str = "",
    page_rank: float | None = None,
    spam_rank: float | None = None,
) -> WebPage:
    return WebPage("id", "", text, url, "", page_rank, spam_rank)


RANKS = st.none() | st.floats(0, 1e-3)
PAGES = st.lists(
    st.builds(
        page,
        st.sampled_from(["", "http://a.org/x", "https://shop.a.com", "http://[", "ftp://forum"]),
        st.text(max_size=80),
        RANKS,
        st.none() | st.floats(0, 100),
    ),
    max_size=20,
)


@given(PAGES, st.sampled_from(sorted(SIGNALS)))
def test_every_signal_lies_between_0_and_1(pages: list[WebPage], name: str) -> None:
    values = SIGNALS[name](pages)
    assert values.shape == (len(pages),)
    assert ((values >= 0) & (values <= 1)).all()


@given(PAGES)
def test_credibility_lies_between_0_and_1(pages: list[WebPage]) -> None:
    values = Credibility()(pages)
    assert values.shape == (len(pages),)
    assert ((values >= -1e-9) & (values <= 1 + 1e-9)).all()


@given(PAGES)
def test_a_page_with_more_page_rank_is_never_behind(pages: list[WebPage]) -> None:
    values = SIGNALS["page-rank"](pages)
    ranked = [(p.page_rank, v) for p, v in zip(pages, values, strict=True) if p.page_rank]
    for rank, value in ranked:
        for other, other_value in ranked:
            assert rank <= other or value > other_value


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://en.wikipedia.org/wiki/Laptop", "encyclopaedia"),
        ("http://www.flayme.com/forum/viewtopic.php?p=72", "forum"),
        ("http://www.naznet.com/community/showthread.php?7360", "forum"),
        ("http://blogs.psychcentral.com/2011/10/", "blog"),
        ("http://sexgeek.wordpress.com/", "blog"),
        ("http://shop.example.com/laptops", "shop"),
        ("http://example.com/store/laptops", "shop"),
        ("http://workshop.example.com/restored", "other"),
        ("http://www.economist.com/node/21547217", "other"),
        ("", "other"),
    ],
)
def test_kinds_of_hosts(url: str, kind: HostKind) -> None:
    assert host_kind(page(url)) == kind


def test_what_is_known_counts() -> None:
    spam = SIGNALS["spam-rank"]([page(spam_rank=100), page(), page(spam_rank=20)])
    assert spam.tolist() == [1.0, 0.5, 0.0]
    long, short = "word " * 400, "word " * 4
    assert np.diff(SIGNALS["length"]([page(text=short), page(text=long)]))[0] > 0
    offers = page(text="Buy now! Free shipping, best price, 50 % off")
    assert SIGNALS["advertising"]([offers, page(text="nothing")]).tolist() == [0.0, 1.0]
    assert SIGNALS["https"]([page("https://a.org"), page("http://a.org")]).tolist() == [1.0, 0.0]


def test_signals_can_be_switched_off() -> None:
    pages = [page("https://a.org", page_rank=2.0), page("http://a.org", page_rank=3.0)]
    assert Credibility({"https": 1.0})(pages).tolist() == [1.0, 0.0]
    assert Credibility({"https": 0.0, "page-rank": 2.0})(pages).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("weights", [{"fame": 1.0}, {"https": -1.0, "length": 2.0}, {}])
def test_wrong_weights_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Credibility(weights)


def test_an_argument_has_more_cues_than_a_description() -> None:
    argument = (
        "I think a laptop is better than a desktop because you can carry it. However, a desktop "
        "is cheaper, so if money counts, you should buy that. Each has pros and cons."
    )
    description = "The laptop has a screen of 15 inches, 8 GB of memory and two ports. It is grey."
    assert argumentativeness(argument) > 0.8
    assert argumentativeness(description) == 0
    for name in CUES:
        assert 0 < argumentativeness(argument, [name]) < argumentativeness(argument)


@given(st.text())
def test_argumentativeness_lies_between_0_and_1(text: str) -> None:
    assert 0 <= argumentativeness(text) <= 1


def test_unknown_cues_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown cues jokes"):
        argumentativeness("", ["jokes"])
