"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sicetnon.commands import add_output_options
from sicetnon.errors import UsageError, counted

if TYPE_CHECKING:
    from sicetnon.app.index import Index
    from sicetnon.cluster.address import Address

# argparse has no public name for what add_subparsers gives
Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Run: TypeAlias = Callable[[argparse.Namespace], None]

_MOST_DIGITS = 10
_MOST_PORTS = 65_535
_LEAST_WIDTH, _HELP_WIDTH = 11, 100
_STANCE_CLASSIFIERS = ("rules", "learned")


def describe(
    command: argparse.ArgumentParser, run: Run, description: str, *examples: str
) -> argparse.ArgumentParser:
    """Give a command its function, its description, examples, `--quiet` and `--verbose`."""
    width = max(_LEAST_WIDTH, min(shutil.get_terminal_size().columns - 2, _HELP_WIDTH))
    # this formatter wraps no text, so that each example stays on its own line
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.description = textwrap.fill(description, width)
    command.epilog = "\n  ".join(["examples:" if len(examples) > 1 else "example:", *examples])
    command.set_defaults(command=run)
    add_output_options(command)
    return command


def add_stance(command: argparse.ArgumentParser) -> None:
    """Add `--stance`: the classifier of the stances of passages and of pairs of sentences."""
    command.add_argument(
        "--stance",
        choices=_STANCE_CLASSIFIERS,
        help="the stance classifier: quick rules, or the model, which is right more often "
        "(default: the system's own: the model for pairs of sentences, mostly rules for passages)",
    )


def add_partial(command: argparse.ArgumentParser) -> None:
    """Add `--partial`."""
    command.add_argument(
        "--partial",
        action="store_true",
        help="on a cluster: answer without the shards that give no answer in time, and say so "
        "(default: an error)",
    )


def add_index(
    command: argparse.ArgumentParser, line: str = "an index (default: the sample)"
) -> None:
    """Add `--index`: an index that is there."""
    command.add_argument("--index", type=existing_place, metavar="INDEX", help=line)


def add_ranker(command: argparse.ArgumentParser) -> None:
    """Add the option that names a ranker of one's own."""
    command.add_argument(
        "--ranker",
        type=existing_folder,
        metavar="DIR",
        help="the folder of a ranker, from `sicetnon train ranker`, for the system answers",
    )


def use_ranker(index: Index, ranker: Path | None, system: str | None = None) -> None:
    """Let the answers of an index be ranked by a ranker, if one is named.

    Raises:
        DataError: The folder holds none.
        UsageError: The system, or that of the answers, ranks by none.
    """
    if ranker is None:
        return
    from sicetnon.ranker.model import read_model
    from sicetnon.tasks.registry import shown_system
    from sicetnon.tasks.task import ANSWERS

    if (system or shown_system(index)) != ANSWERS:
        found = system or f"{shown_system(index)}, for {index.manifest.records}"
        raise UsageError(f"the system {found}, has no ranker; --ranker goes with {ANSWERS}")
    read_model(ranker)
    index.ranker = ranker


def add_address(command: argparse.ArgumentParser, line: str, default: int | None) -> None:
    """Add `--host`, `--allow-host` and `--port` of a server."""
    command.add_argument(
        "--host",
        type=host,
        default="127.0.0.1",
        help="the address to bind (default: this machine alone)",
    )
    command.add_argument(
        "--allow-host",
        nargs="+",
        type=host,
        default=[],
        metavar="NAME",
        help="names of the server in the network, beside its addresses and this machine's name",
    )
    command.add_argument("--port", type=port, metavar="N", default=default, help=line)


def notices(options: argparse.Namespace) -> Callable[[str], None]:
    """A function that prints a line on standard error, unless `--quiet` is given."""

    def say(line: str) -> None:
        # what prints lines takes time to load, and is seldom needed
        from sicetnon.terminal.console import console, line_printer

        line_printer(console(stderr=True, quiet=options.quiet))(line)

    return say


def warn_of_pairs(say: Callable[[str], None], name: str, differing: int) -> None:
    """Say how many pairs have two labels in judgments, if any."""
    if differing:
        pairs = counted(differing, "pair has", "pairs have")
        say(f"sicetnon: warning: {name}: {pairs} another label in each order; the later holds")


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    from sicetnon.text.unicode import json_text

    print(json_text(value, indent=1))  # noqa: T201


def natural(text: str) -> int:
    """A whole number from 0."""
    if not (text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS):
        most = f"a whole number of at most {_MOST_DIGITS - 1} digits"
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected {most}")
    return int(text)


def positive(text: str) -> int:
    """A whole number from 1."""
    if text.strip("0") == "" or not (text.isascii() and text.isdecimal()):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a whole number above 0")
    return natural(text)


def fraction(text: str) -> tuple[int, int]:
    """The number of a part and the number of all parts, such as `2/4`."""
    number, slash, of = text.partition("/")
    if not slash or positive(number) > positive(of):
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}; expected a part of all, like 2/4")
    return int(number), int(of)


def port(text: str) -> int:
    """The number of a port."""
    found = natural(text)
    if found > _MOST_PORTS:
        raise argparse.ArgumentTypeError(f"found {found}; expected a port up to {_MOST_PORTS}")
    return found


def host(text: str) -> str:
    """An address or a name of a machine, without a port."""
    found = text.removeprefix("[").removesuffix("]")
    try:
        # an address of IP version 6 has colons, a name with its port has one
        is_right = found.encode("idna") and found.isprintable() and found.count(":") != 1
    except UnicodeError:
        is_right = False
    if not is_right or not set(found).isdisjoint(" /@?#,"):
        message = f"found {text[:40]!r}; expected an address or a name, like 0.0.0.0, without port"
        raise argparse.ArgumentTypeError(message)
    return found


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


def folder(text: str) -> Path:
    """The path of a folder that is there or can be made.

    Raises:
        UsageError: It is a file, or an address. argparse lets this pass, so that one line is all
            that is printed.
    """
    path = existing_folder(text)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{text}: is a file; expected a folder")
    return path


def existing_folder(text: str) -> Path:
    """The path of a folder; a missing one is reported when it is opened.

    Raises:
        UsageError: It is an address.
    """
    if _is_address(text):
        raise UsageError("found the address of a cluster; expected a folder on this machine")
    return Path(text)


def place(text: str) -> Path | Address:
    """The folder of an index, or its address on a cluster.

    Raises:
        UsageError: It is a file, or no sound address.
    """
    return existing_place(text) if _is_address(text) else folder(text)


def existing_place(text: str) -> Path | Address:
    """As `place`; a missing or damaged folder is reported when it is opened."""
    if not _is_address(text):
        return Path(text)
    from sicetnon.cluster.address import parse_address

    return parse_address(text)


def _is_address(text: str) -> bool:
    from sicetnon.cluster.address import is_address

    return is_address(text)
