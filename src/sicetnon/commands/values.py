"""What the arguments of several commands have in common: numbers, and where a command is added."""

from __future__ import annotations

import argparse
from typing import TypeAlias

# argparse has no public name for what add_subparsers gives
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_MOST_DIGITS = 10
_STANCES = ("rules", "learned")


def add_stance(command: argparse.ArgumentParser) -> None:
    """Add `--stance`: who says which of two objects a passage favours."""
    command.add_argument(
        "--stance",
        choices=_STANCES,
        help="who says which of two objects a passage favours: quick rules, or the model, which "
        "is right more often (extra model; default: what the system has, mostly rules)",
    )


def natural(text: str) -> int:
    """A whole number from 0."""
    if not (text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a whole number")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if text.strip("0") == "" or not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a whole number above 0")
    return natural(text)


def numbers(text: str) -> list[float]:
    """Numbers with commas between them."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        message = f"found {text[:40]!r}; expected numbers with commas between them, like 2,1,0.5"
        raise argparse.ArgumentTypeError(message) from None


def words(text: str) -> list[str]:
    """Words with commas between them."""
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        message = f"found {text[:40]!r}; expected words with commas between them"
        raise argparse.ArgumentTypeError(message)
    return found
