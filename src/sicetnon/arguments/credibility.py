"""Credibility of web pages by signals such as PageRank, spam rank, host and advertising.

A signal is from 0 (not credible) to 1; 0.5 where it is unknown. PageRank as a sign of trust
is from UvATask2SVM (CLEF 2020); the spam rank from Cormack, Smucker and Clarke (2011), who call
pages below 70 spam.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sicetnon.errors import UsageError
from sicetnon.records import WebPage

HostKind = Literal["forum", "blog", "encyclopaedia", "shop", "other"]
Signal = Callable[[Sequence[WebPage]], NDArray[np.float64]]

_UNKNOWN = 0.5
_SPAM_BELOW = 70.0
_ENOUGH_WORDS = 300
_ADVERTISING_AT_MOST = 3.0
_SMOOTHING_WORDS = 50
# words in the address; word boundaries exclude "workshop" and "bishop" from the shops
_KINDS: tuple[tuple[HostKind, re.Pattern[str]], ...] = (
    (
        "encyclopaedia",
        re.compile(
            r"wikipedia\.|encyclop|britannica\.|\bwiki\b|dictionary|reference\.com|about\.com"
        ),
    ),
    (
        "forum",
        re.compile(
            r"forum|\bboards?\b|message-?board|phpbb|vbulletin|showthread|viewtopic|\bthreads?\b"
            r"|\bdiscuss|answers\.|\bquestions?\b|stackexchange|stackoverflow|reddit\.|quora\."
            r"|\bcommunity\b|usenet|groups\."
        ),
    ),
    ("blog", re.compile(r"blog|wordpress\.|typepad\.|livejournal\.|tumblr\.|xanga\.|medium\.com")),
    (
        "shop",
        re.compile(
            r"\bshop\b|\bshopping\b|\bstores?\b|\bcart\b|\bbuy\b|\bcheckout\b|\bproducts?\b"
            r"|amazon\.|ebay\.|bizrate|nextag|pricegrabber|\bdeals?\b|\bcoupons?\b|alibaba\."
        ),
    ),
)
_TRUST: Mapping[HostKind, float] = {
    "encyclopaedia": 1.0,
    "other": 0.5,
    "forum": 0.5,
    "blog": 0.5,
    "shop": 0.0,
}
_ADVERTISING = re.compile(
    r"\b(?:buy now|order (?:now|today|online)|add to (?:cart|basket)|free shipping|best price"
    r"|lowest price|low prices|special offer|limited time|click here|sign up now|subscribe now"
    r"|money[- ]back|discounts?|coupons?|promo(?:tion)?s?|clearance|bargains?|on sale|% off"
    r"|in stock|call (?:us )?(?:now|today)|act now|sponsored|advertis\w+|affiliate|credit card"
    r"|risk[- ]free|no obligation|free (?:trial|quote|sample|gift)s?|checkout|wholesale)\b",
    re.IGNORECASE,
)


def host_kind(page: WebPage) -> HostKind:
    """The kind of a page's host, by its address. The first kind that matches is taken."""
    address = f"{page.host} {page.url}".lower()
    return next((kind for kind, sign in _KINDS if sign.search(address)), "other")


def by_page_rank(pages: Sequence[WebPage]) -> NDArray[np.float64]:
    """The share of the other pages with a lower PageRank; a page with an equal one counts half.

    PageRank depends on the size of the crawl and is skewed, so only the order counts.
    """
    known = np.array([page.page_rank for page in pages if page.page_rank is not None])
    ordered = np.sort(known.astype(np.float64))
    values = np.full(len(pages), _UNKNOWN)
    if len(ordered) < 2:
        return values
    for place, page in enumerate(pages):
        if page.page_rank is not None:
            below = np.searchsorted(ordered, page.page_rank, "left")
            equal = np.searchsorted(ordered, page.page_rank, "right") - below - 1
            values[place] = (below + equal / 2) / (len(ordered) - 1)
    return values


def _each(measure: Callable[[WebPage], float]) -> Signal:
    """The signal that measures each page alone."""

    @functools.wraps(measure)
    def signal(pages: Sequence[WebPage]) -> NDArray[np.float64]:
        return np.array([measure(page) for page in pages], dtype=np.float64)

    return signal


@_each
def by_spam_rank(page: WebPage) -> float:
    """0 for a spam rank of 70 and less, 1 for 100."""
    if page.spam_rank is None:
        return _UNKNOWN
    return min(max((page.spam_rank - _SPAM_BELOW) / (100 - _SPAM_BELOW), 0.0), 1.0)


@_each
def by_host_kind(page: WebPage) -> float:
    """1 for an encyclopaedia, 0 for a shop."""
    return _TRUST[host_kind(page)]


@_each
def by_https(page: WebPage) -> float:
    """1 for an encrypted page."""
    return float(page.url.lower().startswith("https:")) if page.url else _UNKNOWN


@_each
def by_length(page: WebPage) -> float:
    """log(1 + words) / log(1 + 300), at most 1. A page without text has 0.5."""
    if not page.text:
        return _UNKNOWN
    return min(math.log1p(len(page.text.split())) / math.log1p(_ENOUGH_WORDS), 1.0)


@_each
def by_advertising(page: WebPage) -> float:
    """1 without words of advertising, 0 for three or more per hundred words.

    Fifty words are added to the length, so that one phrase does not dominate a short text.
    """
    text = page.default_text()
    density = 100 * len(_ADVERTISING.findall(text)) / (len(text.split()) + _SMOOTHING_WORDS)
    return 1 - min(density / _ADVERTISING_AT_MOST, 1.0)


SIGNALS: Mapping[str, Signal] = {
    "page-rank": by_page_rank,
    "spam-rank": by_spam_rank,
    "host-kind": by_host_kind,
    "https": by_https,
    "length": by_length,
    "advertising": by_advertising,
}
# https says little of pages of 2012, when hardly any was encrypted
WEIGHTS: Mapping[str, float] = {
    "page-rank": 1.0,
    "spam-rank": 1.0,
    "host-kind": 1.0,
    "https": 0.25,
    "length": 0.5,
    "advertising": 1.0,
}


class Credibility:
    """The weighted mean of signals.

    Args:
        weights: The weight of each signal, 0 or more; a signal without a weight does not count.
            `WEIGHTS` when left out: they are set by hand, not learned.

    Raises:
        UsageError: A signal is unknown, a weight is below 0, or no weight is above 0.
    """

    def __init__(self, weights: Mapping[str, float] = WEIGHTS):
        if unknown := sorted(set(weights) - set(SIGNALS)):
            raise UsageError(f"unknown signal {', '.join(unknown)}; there are {', '.join(SIGNALS)}")
        if min(weights.values(), default=0) < 0 or not sum(weights.values()):
            raise UsageError(
                f"found the weights {dict(weights)}; expected some above 0, none below"
            )
        self._weights = {name: weight for name, weight in weights.items() if weight}

    def __call__(self, pages: Sequence[WebPage]) -> NDArray[np.float64]:
        """From 0 to 1 for each page; PageRanks are compared among these pages."""
        total = sum(self._weights.values())
        parts = [weight / total * SIGNALS[name](pages) for name, weight in self._weights.items()]
        return np.sum(parts, axis=0)  # type: ignore[no-any-return]
