"""The actions of assessors in a judging file: what can be saved, and what it changes.

Events and reservations are changed inside a transaction of the file; each is on the disk before it
is acknowledged.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from sicetnon.argument_checks import check_number, check_path
from sicetnon.databases import DAMAGE
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.identifiers import check_identifiers
from sicetnon.judging.pooling import place_of
from sicetnon.judging.schema import OpenedFile, Plan
from sicetnon.records import Topic

Kind = Literal["vote", "skip", "note", "undo"]
Outcome = Literal["saved", "repeated", "refused"]

LONGEST_NOTE = 2_000
LARGEST = 2**63
# decoders that are made at import: two threads that are the first to decode a type crash msgspec
_PLAN, _TOPIC = msgspec.json.Decoder(Plan), msgspec.json.Decoder(Topic)
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
class AssessorState:
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

    def state_of(self, assessor: int) -> AssessorState:
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
        return AssessorState(votes, skipped, {item for (item,) in reserved})

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


HOLD_SECONDS = 900.0
LONGEST_NAME = 60
MOST_ASSESSORS = 1_000


class JudgingFile:
    """A judging file, open for one process; others may have it open, too.

    Args:
        path: The file.
        hold_seconds: How long a document is kept for the assessor whom it was shown to.

    Raises:
        DataError: It is missing, or no sound judging file.
        NotSavedError: It cannot be written.
    """

    def __init__(self, path: Path | str, hold_seconds: float = HOLD_SECONDS):
        check_path(path, "the judging file")
        self.path = Path(path)
        self._opened = OpenedFile(self.path)
        self._database = self._opened.database
        try:
            (content,) = self._database.execute("SELECT content FROM plan").fetchone()
            self.plan = _PLAN.decode(content)
            rows = self._database.execute("SELECT content FROM topics ORDER BY place")
            topics = [_TOPIC.decode(row[0]) for row in rows]
            self.topics = {topic.number: topic for topic in topics}
            self._ledger = Ledger(self._database, self.plan, hold_seconds)
            items = self._database.execute("SELECT topic, document FROM items").fetchall()
            # no file of judgments can hold another id
            check_identifiers([*self.topics, *{name for pair in items for name in pair}])
            if unknown := {topic for topic, _ in items} - self.topics.keys():
                raise ValueError(f"has documents of the topic {min(unknown)!r}, which it lacks")
        except (*DAMAGE, TypeError, ValueError, UsageError) as error:
            self._opened.close()
            raise DataError(f"is no sound judging file: {error}", self.path) from None
        self._orders: dict[str, list[int]] = {}

    def __enter__(self) -> JudgingFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The database, for queries; nobody else of this process uses it meanwhile.

        Raises:
            DataError: The file is damaged.
            NotSavedError: Another one is in its place.
        """
        with self._opened.reading():
            yield self._database

    def assigned(self, name: str, count: int = 1) -> list[Item]:
        """The next documents of an assessor, which are kept for them for a while.

        Raises:
            UsageError: The name cannot be used.
            NotSavedError: The file cannot be written.
        """
        check_number(count, "count", 1)
        with self._opened.writing():
            assessor, now = self._assessor(name), time.time()
            self._ledger.release_lapsed(now)
            own = self._ledger.state_of(assessor)
            held = own.held
            open_items = [
                item
                for item in self._order(name)
                if item not in own.skipped
                and len(own.votes.get(item, ())) < len(self.plan.dimensions)
            ]
            chosen = [item for item in open_items if item in held][:count]
            left = self._left(len(held))
            free = (item for item in open_items if item not in held)
            for item in free:
                if len(chosen) == count or left == 0:
                    break
                if self._ledger.others(assessor, item, now) < self.plan.votes:
                    chosen.append(item)
                    left -= 1
            self._ledger.reserve(assessor, [item for item in chosen if item not in own.votes], now)
            return self._items(chosen, assessor, own.votes)

    def item(self, name: str, number: int) -> Item | None:
        """A document of the pool as an assessor has judged it, or None."""
        if not 0 < number < LARGEST:
            return None
        with self.reading() as database:
            found = database.execute(
                "SELECT items.id, assessors.id FROM items LEFT JOIN assessors ON name = ? "
                "WHERE items.id = ?",
                (name, number),
            ).fetchone()
            if found is None:
                return None
            item, assessor = found
            votes = dict(
                database.execute(
                    "SELECT dimension, label FROM standing "
                    "WHERE item = ? AND assessor = ? AND kind = 'vote'",
                    (item, assessor),
                )
            )
            return self._items([item], assessor, {item: votes})[0]

    @property
    def size(self) -> int:
        """The number of documents in the pool."""
        with self.reading() as database:
            (count,) = database.execute("SELECT COUNT(*) FROM items").fetchone()
        return int(count)

    @property
    def documents(self) -> list[str]:
        """The ids of all documents in the pool."""
        with self.reading() as database:
            return [row[0] for row in database.execute("SELECT DISTINCT document FROM items")]

    def record(self, name: str, actions: Sequence[Action]) -> list[Receipt]:
        """Save what an assessor does. The receipts are true once this returns.

        Args:
            name: The assessor.
            actions: In the order in which they were done. One that is refused stops no other.

        Raises:
            UsageError: The name cannot be used.
            NotSavedError: The file cannot be written; no action was saved then.
        """
        with self._opened.writing():
            assessor, now = self._assessor(name), time.time()
            return [self._ledger.record(assessor, action, now) for action in actions]

    def last(self, name: str) -> Action | None:
        """The last vote or skip of an assessor that was not undone."""
        with self.reading() as database:
            row = database.execute(
                "SELECT key, kind, item, dimension, label FROM kept "
                "WHERE assessor = (SELECT id FROM assessors WHERE name = ?) "
                "AND kind IN ('vote', 'skip') ORDER BY number DESC LIMIT 1",
                (name,),
            ).fetchone()
        return Action(*row) if row else None

    def done(self, name: str, item: int) -> list[str]:
        """The keys of the votes and the skip of an assessor on an item that were not undone."""
        with self.reading() as database:
            rows = database.execute(
                "SELECT key FROM kept WHERE item = ? "
                "AND assessor = (SELECT id FROM assessors WHERE name = ?) "
                "AND kind IN ('vote', 'skip') ORDER BY number DESC",
                (item, name),
            ).fetchall()
        return [key for (key,) in rows]

    def undo_all(self, name: str, topic: str | None = None, since: float | None = None) -> int:
        """Undo the votes and skips of an assessor.

        Args:
            name: The assessor.
            topic: Of this topic alone.
            since: Of this time on, in seconds since 1970.

        Returns:
            How many events were undone.

        Raises:
            UsageError: There is no such assessor or topic.
        """
        if topic is not None and topic not in self.topics:
            raise UsageError(f"found no topic {topic!r} in the pool")
        with self._opened.writing():
            found = self._database.execute("SELECT id FROM assessors WHERE name = ?", (name,))
            row = found.fetchone()
            if row is None:
                raise UsageError(f"found no assessor {name!r}; sicetnon judge status names them")
            events = self._database.execute(
                "SELECT key, item FROM kept JOIN items ON items.id = item WHERE assessor = ? "
                "AND kind IN ('vote', 'skip') AND (? IS NULL OR topic = ?) AND time >= ?",
                (row[0], topic, topic, since or 0.0),
            ).fetchall()
            now = time.time()
            for key, item in events:
                undo = Action(uuid.uuid4().hex, "undo", item, target=key)
                self._ledger.add(row[0], undo, now)
            # what is undone at once is free for everybody
            self._database.execute("DELETE FROM reservations WHERE assessor = ?", (row[0],))
            return len(events)

    def add_votes(self, name: str, votes: Sequence[tuple[int, str, str]]) -> int:
        """Save votes that were made elsewhere, where the quota of votes leaves room.

        Args:
            name: Whose they are.
            votes: Items, dimensions and labels.

        Returns:
            How many there was room for.
        """
        with self._opened.writing():
            assessor, now = self._assessor(name), time.time()
            saved = 0
            for item, dimension, label in votes:
                action = Action(uuid.uuid4().hex, "vote", item, dimension, label)
                if self._ledger.fault_of_vote(assessor, action, now, check_quota=False) is None:
                    self._ledger.add(assessor, action, now)
                    saved += 1
            return saved

    def _assessor(self, name: str) -> int:
        """The number of an assessor, who is enrolled where the name is new."""
        row = self._database.execute("SELECT id FROM assessors WHERE name = ?", (name,)).fetchone()
        if row is None:
            check_name(name)
            (count,) = self._database.execute("SELECT COUNT(*) FROM assessors").fetchone()
            if count >= MOST_ASSESSORS:
                raise UsageError(f"found {count:,} assessors; no more are enrolled")
            row = self._database.execute(
                "INSERT INTO assessors (name) VALUES (?) RETURNING id", (name,)
            ).fetchone()
        return int(row[0])

    def _left(self, held: int) -> int:
        """The number of documents that an assessor may still take; negative for no limit."""
        return -1 if self.plan.quota is None else max(self.plan.quota - held, 0)

    def _order(self, name: str) -> list[int]:
        """All items as this assessor sees them: topic by topic, both in an order of their own."""
        if name not in self._orders:
            seed = self.plan.seed
            rows = self._database.execute("SELECT id, topic, document FROM items").fetchall()
            rows.sort(
                key=lambda row: (
                    place_of(seed, name, row[1]),
                    place_of(seed, name, row[1], row[2]),
                )
            )
            self._orders[name] = [row[0] for row in rows]
        return self._orders[name]

    def _items(
        self, chosen: Sequence[int], assessor: int, votes: Mapping[int, dict[str, str]]
    ) -> list[Item]:
        found = []
        for item in chosen:
            topic, document = self._database.execute(
                "SELECT topic, document FROM items WHERE id = ?", (item,)
            ).fetchone()
            row = self._database.execute(
                "SELECT note FROM standing WHERE item = ? AND assessor = ? AND kind = 'note'",
                (item, assessor),
            ).fetchone()
            found.append(Item(item, topic, document, votes.get(item, {}), row[0] if row else ""))
        return found


def check_name(name: str) -> None:
    """Refuse a name that no assessor can have."""
    if not name or name != " ".join(name.split()) or not name.isprintable():
        raise UsageError(f"found the name {name!r}; expected words with single spaces between")
    if len(name) > LONGEST_NAME:
        raise UsageError(f"found a name of {len(name):,} letters; expected {LONGEST_NAME} at most")
