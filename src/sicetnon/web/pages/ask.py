"""The page Ask: two sides and a quiet third place, filters, bars, suggestions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sicetnon.arguments.side.statements import is_name
from sicetnon.errors import counted
from sicetnon.library.suggestions import Suggestions
from sicetnon.library.wording import guess
from sicetnon.text.unicode import shortened
from sicetnon.web.pages.asked import MOST, PAGE, Asked, address_of
from sicetnon.web.pages.bars import Bar, bars
from sicetnon.web.pages.cards import KINDS, Card, Kind, card
from sicetnon.web.pages.finding import Found
from sicetnon.web.pages.sources import paths_of

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
        passing: Number of answers behind them.
        guess: A notice that the sides are guesses; empty where none is.
        groups: Filters, and last the order.
        bars: How many passages favour which object; empty where the question compares none.
        aspects: In which respects they do.
        misspelt: The question as it was asked, where its words were corrected; else empty.
        as_spelt: The address of the page for that.
        more: The address of the page with more answers; None where there are none.
        paths: The part of an answer's address that tells its source from another one, by its id.
    """

    asked: Asked
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


def ask_page(asked: Asked, found: Found) -> AskPage:
    """The view of the page."""
    every = [card(found, place, asked) for place in range(len(found.answers))]
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


def _passes(card: Card, asked: Asked, but: str = "") -> bool:
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


def _ordered(cards: Sequence[Card], asked: Asked) -> list[Card]:
    keys: dict[str, Callable[[Card], float]] = {
        "best": lambda card: card.answer.rank,
        "strongest": lambda card: -(card.answer.reasons or {}).get("strength", 0.0),
        "surest": lambda card: -(card.answer.side_probability or 0.0),
        "shortest": lambda card: len(card.answer.record.default_text()),
        "longest": lambda card: -len(card.answer.record.default_text()),
    }
    return sorted(cards, key=keys[asked.sort])


def _groups(cards: Sequence[Card], asked: Asked, names: tuple[str, str]) -> list[Group]:
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


def _orders(cards: Sequence[Card], asked: Asked) -> Group:
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


def _aspects(cards: Sequence[Card], asked: Asked) -> tuple[Choice, ...]:
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


def _meanings(found: Found) -> tuple[str, str]:
    """The meanings of the sides for a claim; empty for a question, or two objects."""
    claim = found.question.strip()
    is_claim = not claim.endswith("?") and len(claim.split()) >= _FEWEST_WORDS
    if found.names != ("For", "Against") or not is_claim or is_name(claim):
        return "", ""
    said = shortened(claim, _CLAIM_LETTERS)
    return f"They support the claim “{said}”", f"They speak against the claim “{said}”"
