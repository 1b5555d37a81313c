"""Events and reservations: which action of an assessor can be saved, and what it changes.

Everything here is done inside a transaction of the judging file.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from sicetnon.judging.schema import Plan

Kind = Literal["vote", "skip", "note", "undo"]
Outcome = Literal["saved", "repeated", "refused"]

LONGEST_NOTE = 2_000
LARGEST = 2**63
_KEY = re.compile(r"[A-Za-z0-9-]{8,64}")
_OTHERS = (
    "SELECT COUNT(*) FROM ("
    "SELECT assessor FROM standing WHERE kind = 'vote' AND item = :item "
    "UNION SELECT assessor FROM reservations WHERE item = :item AND until > :now"
    ") WHERE assessor <> :assessor"
)
_IS_OWN = (
    "SELECT 1 FROM standing WHERE kind = 'vote' AND item = :item AND assessor = :assessor "
    "UNION SELECT 1 FROM reservations "
    "WHERE item = :item AND assessor = :assessor AND until > :now"
)
_HELD = (
    "SELECT COUNT(*) FROM ("
    "SELECT item FROM standing WHERE kind = 'vote' AND assessor = :assessor "
    "UNION SELECT item FROM reservations WHERE assessor = :assessor AND until > :now)"
)


class Action(msgspec.Struct, frozen=True):
    """Something that an assessor does.

    Attributes:
        key: Chosen by whoever sends it, 8 to 64 letters, digits and hyphens. The same key twice is
            saved once.
        kind: `vote`, `skip`, `note` or `undo`.
        item: The document, by its number in the file; for `undo` that of what is undone.
        dimension: The dimension of a vote.
        label: The label, for a vote.
        note: The text, for a note. It stands in the place of an earlier one.
        target: The key of what is undone.
    """

    key: str
    kind: Kind
    item: int
    dimension: str = ""
    label: str = ""
    note: str = ""
    target: str = ""

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """Dimension, label, note and target, as far as this kind of action has them."""
        vote, note = self.kind == "vote", self.kind == "note"
        return (
            self.dimension if vote else "",
            self.label if vote else "",
            self.note if note else "",
            self.target if self.kind == "undo" else "",
        )


class Receipt(msgspec.Struct, frozen=True):
    """The outcome of an action.

    Attributes:
        outcome: `saved`: it is on the disk. `repeated`: it was already. `refused`: nothing changed.
        reason: Why it was refused.
    """

    key: str
    outcome: Outcome
    reason: str = ""


class Item(msgspec.Struct, frozen=True):
    """A document that an assessor is to judge.

    Attributes:
        id: Its number in the file.
        votes: The assessor's labels that stand, by dimension.
    """

    id: int
    topic: str
    document: str
    votes: dict[str, str]
    note: str


@dataclass(frozen=True)
class Own:
    """The votes, skips and reservations of an assessor."""

    votes: Mapping[int, dict[str, str]]
    skipped: set[int]
    reserved: set[int]

    @property
    def held(self) -> set[int]:
        """The items that count for the assessor's quota."""
        return self.reserved | self.votes.keys()


class Ledger:
    """The events and reservations of a judging file.

    Args:
        hold_seconds: How long a document is kept for the assessor whom it was shown to.
    """

    def __init__(self, database: sqlite3.Connection, plan: Plan, hold_seconds: float):
        self._database, self._plan, self._hold = database, plan, hold_seconds
        self._labels = {str(scale.dimension): scale.values for scale in plan.scales}

    def own(self, assessor: int) -> Own:
        """The votes, skips and reservations of an assessor; lapsed reservations are included."""
        votes: dict[int, dict[str, str]] = {}
        skipped = set()
        for kind, item, dimension, label in self._database.execute(
            "SELECT kind, item, dimension, label FROM standing WHERE assessor = ?", (assessor,)
        ):
            if kind == "vote":
                votes.setdefault(item, {})[dimension] = label
            elif kind == "skip":
                skipped.add(item)
        reserved = self._database.execute(
            "SELECT item FROM reservations WHERE assessor = ?", (assessor,)
        )
        return Own(votes, skipped, {item for (item,) in reserved})

    def others(self, assessor: int, item: int, now: float) -> int:
        """The number of other assessors who voted on an item, or hold a reservation for it."""
        values = {"item": item, "assessor": assessor, "now": now}
        (count,) = self._database.execute(_OTHERS, values).fetchone()
        return int(count)

    def reserve(self, assessor: int, items: Sequence[int], now: float) -> None:
        """Keep items for an assessor for a while."""
        self._database.executemany(
            "INSERT OR REPLACE INTO reservations VALUES (?, ?, ?)",
            [(item, assessor, now + self._hold) for item in items],
        )

    def release_lapsed(self, now: float) -> None:
        """Forget the reservations whose time is over."""
        self._database.execute("DELETE FROM reservations WHERE until <= ?", (now,))

    def record(self, assessor: int, action: Action, now: float) -> Receipt:
        """Save an action, unless it was saved already or cannot be."""
        before = self._database.execute(
            "SELECT event.assessor, event.kind, event.item, event.dimension, event.label, "
            "event.note, COALESCE(undone.key, '') FROM events AS event "
            "LEFT JOIN events AS undone ON undone.number = event.undoes WHERE event.key = ?",
            (action.key,),
        ).fetchone()
        if before is not None:
            if before == (assessor, action.kind, action.item, *action.texts):
                return Receipt(action.key, "repeated")
            return Receipt(action.key, "refused", "the key was used for something else")
        fault = self._fault(assessor, action, now)
        if fault is not None:
            return Receipt(action.key, "refused", fault)
        self.add(assessor, action, now)
        return Receipt(action.key, "saved")

    def add(self, assessor: int, action: Action, now: float) -> None:
        """Add the event of an action that has no fault."""
        dimension, label, note, target = action.texts
        self._database.execute(
            "INSERT INTO events (key, time, assessor, kind, item, dimension, label, note, undoes) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT number FROM events WHERE key = ?))",
            (action.key, now, assessor, action.kind, action.item, dimension, label, note, target),
        )
        if action.kind == "undo":
            if self._fault_of_place(assessor, action.item, now) is None:
                self.reserve(assessor, [action.item], now)
        elif action.kind != "note":
            # a vote keeps the place from here on, and a skip gives it back
            self._database.execute(
                "DELETE FROM reservations WHERE item = ? AND assessor = ?", (action.item, assessor)
            )

    def fault_of_vote(
        self, assessor: int, action: Action, now: float, check_quota: bool = True
    ) -> str | None:
        """Why a vote cannot be saved, or None."""
        if action.label not in self._labels.get(action.dimension, ()):
            return "there is no such label on the scale"
        return self._fault_of_place(assessor, action.item, now, check_quota)

    def _fault(self, assessor: int, action: Action, now: float) -> str | None:
        """Why an action cannot be saved, or None."""
        if not _KEY.fullmatch(action.key):
            return "the key must have 8 to 64 letters, digits and hyphens"
        if not self._is_item(action.item):
            return "there is no such document in the pool"
        if action.kind == "vote":
            return self.fault_of_vote(assessor, action, now)
        if action.kind == "note" and len(action.note) > LONGEST_NOTE:
            return f"the note is longer than {LONGEST_NOTE:,} letters"
        if action.kind == "undo":
            target = self._database.execute(
                "SELECT assessor, item FROM kept WHERE key = ?", (action.target,)
            ).fetchone()
            if target != (assessor, action.item):
                return "there is nothing to undo: it was undone already, or is not yours"
        return None

    def _is_item(self, item: int) -> bool:
        if not 0 < item < LARGEST:
            return False
        found = self._database.execute("SELECT 1 FROM items WHERE id = ?", (item,))
        return found.fetchone() is not None

    def _fault_of_place(
        self, assessor: int, item: int, now: float, check_quota: bool = True
    ) -> str | None:
        """Why an item cannot count for an assessor, or None: it does already, or there is room."""
        values = {"item": item, "assessor": assessor, "now": now}
        if self._database.execute(_IS_OWN, values).fetchone():
            return None
        if self.others(assessor, item, now) >= self._plan.votes:
            return "the document has all its votes from others meanwhile"
        if check_quota and self._plan.quota is not None:
            (held,) = self._database.execute(_HELD, values).fetchone()
            if held >= self._plan.quota:
                return "your quota of documents is reached"
        return None
