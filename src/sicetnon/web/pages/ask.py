"""The page Ask: two sides and the rest, filters, bars, suggestions; as JSON and Markdown."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from sicetnon.app.brief import markdown_text
from sicetnon.app.comparing import ComparedPassages
from sicetnon.app.labels import guess, origin_of
from sicetnon.app.suggestions import Suggestions
from sicetnon.arguments.side.lexicon import is_name
from sicetnon.arguments.side.question_rewriting import matter_of
from sicetnon.errors import counted
from sicetnon.text.unicode import shortened
from sicetnon.web.pages.ask_search import MOST, PAGE, AskRequest, AskResult, address_of
from sicetnon.web.pages.cards import KINDS, Card, Kind, at_sentence, card_of
from sicetnon.web.rendering import page_answer
from sicetnon.web.state import Served, State

router = APIRouter(include_in_schema=False)

Form = Annotated[Literal["html", "json", "markdown"], Query(alias="format")]

_ORDERS = ("best", "strongest", "surest", "shortest", "longest")
_FILTERS: tuple[tuple[str, str, Callable[[Card], str]], ...] = (
    ("side", "Side", lambda card: card.kind),
    ("strength", "Strength", lambda card: card.strength),
    ("length", "Length", lambda card: card.length),
    ("source", "Source", lambda card: card.source),
)
# in this order where they are shown
_VALUES = ("for", "against", "neither", "strong", "fair", "weak", "short", "medium", "long")
_MOST_VALUES = 8
_FEWEST_WORDS, _CLAIM_LETTERS = 3, 120
_LETTERS = 48


@router.get("/", response_class=HTMLResponse)
async def ask(
    served: Served, wanted: Annotated[AskRequest, Depends()], form: Form = "html"
) -> Response:
    """The page Ask: answers to a question; without one, a box and examples."""
    if not wanted.q.strip():
        return await _start(served)
    # measured before it is read: an expression that is slow for a long text runs here
    question = matter_of(served.question(wanted.q))
    wanted = replace(wanted, q=question)
    found = await served.ask(question, wanted.n, wanted.spelling)
    if found.misspelt:
        wanted = replace(wanted, q=found.question)
    shown = await asyncio.to_thread(ask_page, wanted, found)
    if form == "json":
        return JSONResponse(as_json(shown))
    if form == "markdown":
        return PlainTextResponse(as_markdown(shown), media_type="text/markdown")
    held = () if shown.found else await served.examples()
    return await page_answer("ask.html.jinja", section="Ask", view=shown, held=held)


async def _start(served: State) -> Response:
    index, _ = await served.served_index.current()
    return await page_answer(
        "start.html.jinja", section="Ask", documents=len(index), examples=await served.examples()
    )


@dataclass(frozen=True)
class Choice:
    """A link that filters or sorts.

    Attributes:
        count: Number of answers; None for an order.
        address: The page once it is chosen, or once it no longer is.
    """

    name: str
    count: int | None
    address: str
    is_chosen: bool


@dataclass(frozen=True)
class Group:
    """Links of which one can be chosen."""

    name: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Column:
    """The answers of a side.

    Attributes:
        meaning: How they relate to the claim of the question; empty where the name says it.
    """

    kind: Kind
    name: str
    meaning: str
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class AskPage:
    """The view of the page.

    Attributes:
        has_sides: Whether the question can be answered for or against.
        found: Number of answers before filters.
        passing: Number of answers that pass the filters.
        guess: A notice that the sides are guesses; empty where none is.
        groups: Filters, and last the order.
        bars: How many passages favour which object; empty where the question compares none.
        aspects: In which respects they do.
        misspelt: The question as it was asked, where its words were corrected; else empty.
        as_spelt: The address of the page for that.
        more: The address of the page with more answers, or None.
        paths: The part of an answer's address that tells its source from another one, by its id.
    """

    asked: AskRequest
    columns: tuple[Column, Column]
    neither: Column
    has_sides: bool
    found: int
    passing: int
    shown: int
    guess: str
    groups: tuple[Group, ...]
    bars: tuple[Bar, ...]
    aspects: tuple[Choice, ...]
    suggestions: Suggestions
    corrected: str | None
    misspelt: str
    as_spelt: str
    more: str | None
    brief: str
    paths: Mapping[str, str]

    @property
    def cards(self) -> tuple[Card, ...]:
        """All answers that are shown."""
        return tuple(card for each in (*self.columns, self.neither) for card in each.cards)

    @property
    def chosen(self) -> Column:
        """The column of the side that is chosen."""
        return next(each for each in (*self.columns, self.neither) if each.kind == self.asked.side)

    @property
    def names_authors(self) -> bool:
        """Whether the author of an answer is known."""
        return any(card.origin.author for card in self.cards)

    @property
    def are_objects(self) -> bool:
        """Whether the question compares two objects, which then are its sides."""
        return self.columns[0].name != "For"

    @property
    def summary(self) -> str:
        """The number of answers, in words."""
        every = counted(self.found, "answer")
        found = every if self.passing == self.found else f"{self.passing:,} of {every}"
        return found if self.shown == self.passing else f"the first {self.shown:,} of {found}"


def ask_page(asked: AskRequest, found: AskResult) -> AskPage:
    """The view of the page."""
    every = [card_of(found, place, asked) for place in range(len(found.answers))]
    # what names neither object is about something else
    if found.comparison:
        named = {each.answer.id for each in found.comparison.passages if each.names_one}
        every = [each for each in every if each.answer.id in named]
    passing = _ordered([each for each in every if _passes(each, asked)], asked)
    shown = _shared(passing, asked.n)
    is_more = len(passing) > len(shown) or found.is_more
    first, second, neither = (
        tuple(each for each in shown if each.kind == kind) for kind in ("for", "against", "neither")
    )
    names, meanings = found.names, _meanings(found)
    corrected = found.suggestions.corrected
    return AskPage(
        asked=asked,
        columns=(
            Column("for", names[0], meanings[0], first),
            Column("against", names[1], meanings[1], second),
        ),
        neither=Column("neither", "Neither side", "", neither),
        has_sides=found.has_sides,
        found=len(every),
        passing=len(passing),
        shown=len(shown),
        guess=guess(found.answers),
        groups=(*_groups(every, asked, names), _orders(every, asked)),
        bars=bars(found.comparison, replace(asked, q=found.question)) if found.comparison else (),
        aspects=_aspects(every, asked),
        suggestions=found.suggestions,
        corrected=address_of("/", q=corrected) if corrected else None,
        misspelt=found.misspelt,
        as_spelt=address_of("/", q=found.misspelt, spelling="kept"),
        more=asked.address(n=min(asked.n + PAGE, MOST)) if is_more and asked.n < MOST else None,
        brief=address_of("/brief", q=found.question),
        paths=paths_of(shown),
    )


def _passes(card: Card, asked: AskRequest, but: str = "") -> bool:
    """Whether an answer passes all filters except a given one."""
    chosen = all(
        name == but or not getattr(asked, name) or value(card) == getattr(asked, name)
        for name, _, value in _FILTERS
    )
    return chosen and (but == "aspect" or not asked.aspect or asked.aspect in card.aspects)


def _shared(cards: Sequence[Card], n: int) -> list[Card]:
    """The first answers, of which a third are of each side as far as it has so many."""
    sides = [[each for each in cards if each.kind == kind] for kind in KINDS]
    first = [each for side in sides for each in side[: n // len(sides)]]
    taken = {each.answer.id for each in first}
    rest = [each for each in cards if each.answer.id not in taken]
    taken.update(each.answer.id for each in rest[: n - len(first)])
    return [each for each in cards if each.answer.id in taken]


def _ordered(cards: Sequence[Card], asked: AskRequest) -> list[Card]:
    keys: dict[str, Callable[[Card], float]] = {
        "best": lambda card: card.answer.rank,
        "strongest": lambda card: -(card.answer.reasons or {}).get("strength", 0.0),
        "surest": lambda card: -(card.answer.side_probability or 0.0),
        "shortest": lambda card: len(card.answer.record.default_text()),
        "longest": lambda card: -len(card.answer.record.default_text()),
    }
    return sorted(cards, key=keys[asked.sort])


def _groups(cards: Sequence[Card], asked: AskRequest, names: tuple[str, str]) -> list[Group]:
    """The filters that have something to choose."""
    words = {"for": names[0], "against": names[1], "neither": "neither"}
    groups = []
    for name, title, value in _FILTERS:
        counts = Counter(value(each) for each in cards if _passes(each, asked, name))
        chosen = getattr(asked, name)
        values = [each for each, _ in counts.most_common(_MOST_VALUES) if each]
        values += [chosen] if chosen and chosen not in values else []
        values.sort(key=lambda each: _VALUES.index(each) if each in _VALUES else len(_VALUES))
        if len(values) > 1 or chosen:
            choices = tuple(
                Choice(
                    words.get(each, each) if name == "side" else each,
                    counts[each],
                    asked.address(**{name: "" if each == chosen else each}),
                    each == chosen,
                )
                for each in values
            )
            groups.append(Group(title, choices))
    return groups


def _orders(cards: Sequence[Card], asked: AskRequest) -> Group:
    can = {
        "strongest": any(each.strength for each in cards),
        "surest": any(each.answer.side_probability is not None for each in cards),
    }
    return Group(
        "Order",
        tuple(
            Choice(f"{order} first", None, asked.address(sort=order), order == asked.sort)
            for order in _ORDERS
            if can.get(order, True)
        ),
    )


def _aspects(cards: Sequence[Card], asked: AskRequest) -> tuple[Choice, ...]:
    """The aspects that answers speak of, each with as many answers as it leaves."""
    passing = [each for each in cards if _passes(each, asked, "aspect")]
    counts = Counter(aspect for each in passing for aspect in each.aspects)
    if asked.aspect:
        counts[asked.aspect] += 0
    return tuple(
        Choice(name, count, asked.address(aspect="" if chosen else name), chosen)
        for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        for chosen in [name == asked.aspect]
    )


def _meanings(found: AskResult) -> tuple[str, str]:
    """The meanings of the sides for a claim; empty for a question, or two objects."""
    claim = found.question.strip()
    is_claim = not claim.endswith("?") and len(claim.split()) >= _FEWEST_WORDS
    if found.names != ("For", "Against") or not is_claim or is_name(claim):
        return "", ""
    said = shortened(claim, _CLAIM_LETTERS)
    return f"They support the claim “{said}”", f"They speak against the claim “{said}”"


@dataclass(frozen=True)
class BarSentence:
    """A sentence that a bar counts.

    Attributes:
        source: The name of its source; empty where that is not known.
        address: The page of its document at the sentence.
    """

    text: str
    source: str
    address: str


@dataclass(frozen=True)
class Bar:
    """A bar.

    Attributes:
        kind: The side, as a class of the page.
        share: Of the longest bar, in per cent.
        sentences: The sentences that it counts, one of each passage.
    """

    kind: str
    name: str
    count: int
    share: int
    sentences: tuple[BarSentence, ...]


def bars(comparison: ComparedPassages, asked: AskRequest) -> tuple[Bar, ...]:
    """The bars of both objects, and of the passages that weigh both.

    Args:
        comparison: The passages by the object that they favour.
        asked: The request. Only passages that speak of its aspect are counted, if one is named,
            each with a sentence that does. The scale stays that of all passages, so that bars of
            two aspects can be compared.
    """
    first, second = comparison.objects
    rows = (
        ("FIRST", "for", first),
        ("SECOND", "against", second),
        ("NEUTRAL", "neither", "weighs both"),
    )
    every = comparison.counts()
    longest = max(1, *(every[stance] for stance, _, _ in rows))
    comparison = comparison.about(asked.aspect) if asked.aspect else comparison
    counts = comparison.counts()
    return tuple(
        Bar(
            kind,
            name,
            counts[stance],
            round(100 * counts[stance] / longest),
            _sentences(comparison, stance, asked),
        )
        for stance, kind, name in rows
    )


def _sentences(
    comparison: ComparedPassages, stance: str, asked: AskRequest
) -> tuple[BarSentence, ...]:
    return tuple(
        BarSentence(
            (text := each.sentence_about(asked.aspect)),
            origin_of(each.answer.record).site,
            at_sentence(asked.page("/document", each.answer.id), text, each.answer),
        )
        for each in comparison.passages
        if each.answer.stance == stance
    )


def paths_of(cards: Sequence[Card]) -> dict[str, str]:
    """The part of each address that tells it from others of the same title and host.

    Returns:
        The part by the id of the answer; answers whose source is told apart already are not in it.
    """
    same = defaultdict(list)
    for card in cards:
        if card.origin.link:
            same[card.origin.title, card.origin.site].append((card.answer.id, card.origin.link))
    found: dict[str, str] = {}
    for group in same.values():
        links = list(dict.fromkeys(link for _, link in group))
        if len(links) > 1:
            parts = _parts(links)
            found.update((identifier, parts[link]) for identifier, link in group)
    return found


def _parts(links: Sequence[str]) -> dict[str, str]:
    """The last part of each address; its path, or path and query, if these are equal."""
    split = [_split(link.strip()) for link in links]
    paths = [each.path.strip("/") for each in split]
    queries = [
        f"{path}?{each.query}" if each.query else path
        for path, each in zip(paths, split, strict=True)
    ]
    ways = ([path.rpartition("/")[2] for path in paths], paths, queries)
    best = next((way for way in ways if len(set(way)) == len(way)), queries)
    return {link: _end(part) for link, part in zip(links, best, strict=True)}


def _split(link: str) -> SplitResult:
    try:
        return urlsplit(link)
    except ValueError:  # such as http://[
        return SplitResult("", "", link, "", "")


def _end(part: str) -> str:
    """The end of a part, which differs more often than its begin."""
    return part if len(part) <= _LETTERS else f"…{part[1 - _LETTERS :]}"


def as_json(shown: AskPage) -> dict[str, Any]:
    """The answers of the page, as `search --json` gives them, with what the page adds."""
    suggestions = shown.suggestions
    return {
        "question": shown.asked.q,
        "misspelt": shown.misspelt or None,
        "found": shown.found,
        "shown": shown.shown,
        "sides": {column.kind: column.name for column in (*shown.columns, shown.neither)},
        "bars": {bar.name: bar.count for bar in shown.bars},
        "aspects": {each.name: each.count for each in shown.aspects},
        "answers": [_answer(card) for card in shown.cards],
        "corrected": suggestions.corrected,
        "unknown": list(suggestions.unknown),
        "shorter": [question for question, _ in suggestions.shorter],
        "nearest": list(suggestions.nearest),
    }


def _answer(card: Card) -> dict[str, Any]:
    added = {"column": card.kind, "sentence": _text(card) if card.is_sentence else None}
    return card.answer.as_json() | added | {"aspects": list(card.aspects)}


def as_markdown(shown: AskPage) -> str:
    """The answers of the page as Markdown (CommonMark)."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: AskPage) -> Iterator[str]:
    yield from (f"# {markdown_text(shown.asked.q)}", "", f"{shown.summary}. {shown.guess}".strip())
    for bar in shown.bars:
        yield from ("", f"- **{markdown_text(bar.name)}**: {bar.count}")
    for column in (*shown.columns, shown.neither):
        if not column.cards:
            continue
        yield from ("", f"## {markdown_text(column.name)}")
        for place, card in enumerate(column.cards, start=1):
            yield from ("", f"{place}. {markdown_text(_text(card))}  ", f"   {_cited(card)}")
    if not shown.found:
        yield from ("", "There is no argument about this in this index.")
        yield from (f"- {markdown_text(each)}" for each in shown.suggestions.nearest)


def _text(card: Card) -> str:
    return "".join(text for text, _ in card.pieces)


def _cited(card: Card) -> str:
    claim = (
        f"{'Against' if card.denies else 'On'} “{markdown_text(card.heading)}”"
        if card.is_named
        else ""
    )
    said = (
        claim,
        markdown_text(card.origin.author),
        markdown_text(card.answer.source),
        markdown_text(card.answer.id),
    )
    return " · ".join(filter(None, said))
