"""A request to the page Ask: the question, and how its answers are filtered and sorted.

The address of the page holds all of it, and nothing else decides what it shows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Query

PAGE = 12
"""Answers that are shown first, and that each "more" adds."""

MOST = 96
"""Answers that are shown at most."""

Side = Literal["", "for", "against", "neither"]
Length = Literal["", "short", "medium", "long"]
Strength = Literal["", "strong", "fair", "weak"]
Spelling = Literal["", "kept"]
Order = Literal["best", "strongest", "surest", "shortest", "longest"]


@dataclass(frozen=True)
class Asked:
    """A request to the page, read from the query of its address.

    Attributes:
        q: The question; empty on the first visit.
        n: Number of answers.
        side: Only answers of this side, if one is named.
        source: Only answers from this source.
        length: Only answers of this length.
        strength: Only answers of this strength.
        aspect: Only passages that speak of this aspect.
        sort: The order within each side.
        spelling: `kept` where no word may be corrected.
    """

    q: str = ""
    n: Annotated[int, Query(ge=1, le=MOST)] = PAGE
    side: Side = ""
    source: Annotated[str, Query(max_length=200)] = ""
    length: Length = ""
    strength: Strength = ""
    aspect: Annotated[str, Query(max_length=200)] = ""
    sort: Order = "best"
    spelling: Spelling = ""

    def address(self, **changes: Any) -> str:
        """The address of the page with some of it changed."""
        return address_of("/", **asdict(replace(self, **changes)))

    def form(self, name: str) -> str:
        """The address of the page in another form: `json` or `markdown`."""
        return f"{self.address()}&format={name}"

    def page(self, path: str, identifier: str) -> str:
        """The address of a document's page, which leads back to these answers."""
        return address_of(path, id=identifier, **asdict(self))

    @property
    def unfiltered(self) -> str:
        """The address of the page with no answer left out."""
        return Asked(self.q, self.n, sort=self.sort, spelling=self.spelling).address()

    @property
    def is_filtered(self) -> bool:
        """Whether answers are left out."""
        return bool(self.side or self.source or self.length or self.strength or self.aspect)


_DEFAULTS = asdict(Asked())


def address_of(path: str, **fields: Any) -> str:
    """An address with its query; fields that are as usual are left out."""
    named = {name: value for name, value in fields.items() if value != _DEFAULTS.get(name, "")}
    return f"{path}?{urlencode(named)}" if named else path
