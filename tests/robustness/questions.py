"""Any text is a legal question: random ones are parsed and searched."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from random import Random

from robustness.commands import command
from robustness.trials import Trial
from sicetnon.app.index import Index
from sicetnon.arguments.comparative.question_parser import parse_question
from sicetnon.ranking.system import System
from sicetnon.records import Argument, Passage, Premise

_PLAIN = """
Which is better, a laptop or a desktop? vs versus than and or not is are should why what's the
difference between Python Java more good for against ? ! . , ; : ' ( ) [ ] { } - – — … / \\ %s {0}
<b> </b> &amp; --help @ # $ ^ & * + = | ~ ` 2020 1e999 NaN ½ ① İ ı ß ſ ﬁ K Å 学校 가나 العربية
עברית ไทย 🦁 👩‍👩‍👧‍👦
"""
WORDS = (
    *_PLAIN.split(),
    *('"', "\u202e", "\u2066", "\ufeff", "\u200b", "\u2028", "\u0301", "\U000e0041"),
    *("\x00", "\x1b[31m", "\x9b", "\t", "\n", "\r\n"),
)
PASSAGES = (
    "A laptop is better than a desktop when you travel, but a desktop is cheaper.",
    "Python is slower than Java. However, Python is easier to learn.",
    "Teachers should get tenure because it protects academic freedom.",
    "Tenure costs money, and bad teachers stay.",
    "学校 школа école Straße naïve 🦁",
)
SURROGATES = [chr(0xD800), chr(0xDFFF), chr(0xDC80)]


def question(rng: Random) -> str:
    """A random question: words, characters of all planes, halves of characters, or very long."""
    kind = rng.random()
    if kind < 0.45:
        words = rng.choices(WORDS, k=rng.randint(0, 25))
        return rng.choice((" ", " ", "")).join(words)
    if kind < 0.95:
        return "".join(_character(rng) for _ in range(rng.randint(0, 60)))
    return question(Random(rng.random() * 0.9))[:5000] * rng.choice((10, 100, 2000))


def _character(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return chr(rng.randint(1, 0x7F))
    if kind < 0.5:
        return rng.choice(SURROGATES)
    if kind < 0.8:
        return chr(rng.randint(0x80, 0x2FFF))
    return chr(rng.randint(0, 0x10FFFF))


def prepare(folder: Path) -> Trial:
    """Two small indexes: passages, whose systems compare, and arguments."""
    Index.build([Passage(f"p{n}", text) for n, text in enumerate(PASSAGES)], folder / "passages")
    arguments = [
        Argument(f"a{n}", text, (Premise(text, "PRO" if n % 2 else "CON"),))
        for n, text in enumerate(PASSAGES)
    ]
    Index.build(arguments, folder / "arguments")

    @functools.cache
    def system(name: str, _: int) -> tuple[Index, System]:
        index = Index.open(folder / name)
        return index, index.system()

    def trial(seed: int, _: Path) -> None:
        rng = Random(seed)
        asked = question(rng)
        parse_question(asked)
        name = rng.choice(("passages", "arguments"))
        # models and connections are the child's own
        index, chosen = system(name, os.getpid())
        for answer in index.search(asked, k=5, system=chosen):
            str(answer.snippet.text).encode()
        if rng.random() < 0.05:
            done = command("search", "--index", folder / name, "-k", 2, "--", asked)
            if done.status not in (0, 2):
                raise AssertionError(f"the question {asked!r} is refused: {done.error}")

    return trial
