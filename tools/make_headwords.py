"""Make src/sicetnon/text/data/headwords.txt.gz from an installed WordNet 3.x.

    PYTHONPATH=src python tools/make_headwords.py /usr/share/wordnet [OUTPUT]

(Debian and Ubuntu: apt-get install wordnet-base.)  The same WordNet gives the same bytes.

A Krovetz stemmer stops at a headword, so the list decides what is conflated.  WordNet lists far
more derived words than a printed dictionary gives entries to (quickly, legalization), and some
plain inflections (years, testing).  They are left out where their meaning is plain from their
base, and stay where they lead a life of their own (goods, news, united, government).
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from sicetnon.text.krovetz import shorter_forms

OUTPUT = Path(__file__).parent.parent / "src/sicetnon/text/data/headwords.txt.gz"
WORD = re.compile(r"[A-Za-z]{2,}")
DATA_FILES = {"data.noun": "n", "data.verb": "v", "data.adj": "a", "data.adv": "r"}
# The digit after the % of a sense key, in cntlist.rev; 5 is a satellite adjective.
SENSE_KEY_POS = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
# Pointers from a derived word to what it comes from: related form, pertainym, participle.
DERIVED_FROM = frozenset("+\\<")
# Lexicographer files whose proper names turn up in arguments: groups, places, people, days.
NAME_FILES = frozenset({"14", "15", "18", "28"})


def words_in(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


# Closed-class words (and participles that serve as prepositions), which WordNet leaves out or
# takes for plain participles, and which an ending could be cut from.
FUNCTION_WORDS = words_in("""
    according anything being during everything has hers herself himself his including its itself
    myself nothing ours ourselves regarding something theirs themselves these this those thus
    unless us versus was whereas whose yours yourself yourselves other another either neither
    whether over under after never ever rather per yes always perhaps sometimes besides towards
    afterwards nowadays could should would concerning considering following provided supposed
""")

# Judged by hand, among the words on which the output differed from that of KStem (the PyPI package
# KrovetzStemmer 0.8).  Inflected forms that mean something else than their base where WordNet has
# no counted sense that says so, and comparatives that are words of their own.
KEPT = words_in("""
    aids arms boxing committed concerned costs damages driving effects engaged expenses forced
    forces funds games goods grounds informed interests involved justified limited living married
    minutes points powers qualified related resources rights sales schooling seconds smoking
    sports states statistics terms understanding united wages works
    greater higher inner later lesser lower outer upper
""")
# Inflected forms with a counted sense that is yet no other than that of their base.
PLAIN = words_in("""
    acres affairs archives authorities cows details dozens eggs hands hours leaders losses lots
    occasions operations polls profits reserves scores services shoes tons values viewers
    changing closing continuing cooling drinking feeding fighting functioning growing increasing
    looking opposing planning playing remaining selling shooting shopping starting testing voting
    waiting misleading accounting
""")


@dataclass(frozen=True)
class Inflection:
    """When a lemma with an inflectional ending is taken for no more than an inflection.

    Attributes:
        own: What the lemma may be (parts of speech); another part of speech makes it a headword.
        base: What the base must be.
        tags: It is a headword if it was tagged as a sense of its own more often than this.
    """

    own: str
    base: str
    tags: float


INFLECTED = {
    # WordNet's taggers brought years to year where they could: any tag is a sense of its own.
    "s": Inflection("nr", "nv", 0),
    "ed": Inflection("a", "v", 30),
    "ing": Inflection("na", "v", 3),
    "er": Inflection("ar", "a", inf),
    "est": Inflection("ar", "a", inf),
}


@dataclass(frozen=True)
class Limit:
    """How much use a derivative may have before it counts as a headword."""

    senses: int
    tags: int


# Derivatives more used than this are taken for headwords, whatever their links.
TRANSPARENT = {
    "ly": Limit(2, 6),
    "ness": Limit(5, 3),
    "ing": Limit(2, 6),
    "ization": Limit(3, 3),
    "isation": Limit(3, 3),
    "ation": Limit(2, 1),
    "ity": Limit(2, 1),
    "er": Limit(1, 3),
    "or": Limit(1, 3),
    "ment": Limit(1, 3),
    "ency": Limit(1, 3),
}


@dataclass
class Lemma:
    """What WordNet says of one word."""

    common: bool = False
    files: set[str] = field(default_factory=set)
    senses: Counter[str] = field(default_factory=Counter)
    tags: Counter[str] = field(default_factory=Counter)
    linked: Counter[str] = field(default_factory=Counter)
    synonyms: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Synset:
    """One line of a WordNet data file."""

    pos: str
    offset: str
    file: str
    words: list[str]
    pointers: list[list[str]]


def read_synsets(folder: Path) -> Iterator[Synset]:
    """Yield the synsets of the four data files (their format: man 5 wndb)."""
    for name, pos in DATA_FILES.items():
        for line in (folder / name).read_text("ascii", "replace").splitlines():
            if line.startswith(" "):  # the licence
                continue
            fields = line.split(" | ")[0].split()
            at = 4 + 2 * int(fields[3], 16)
            words = [re.sub(r"\(.*\)", "", word) for word in fields[4:at:2]]
            ends = at + 1 + 4 * int(fields[at])
            pointers = [fields[i : i + 4] for i in range(at + 1, ends, 4)]
            yield Synset(pos, fields[0], fields[1], words, pointers)


def read_lemmas(folder: Path) -> dict[str, Lemma]:
    """Return the single-word lemmas, lower-cased, with their links and tag counts."""
    synsets = list(read_synsets(folder))
    words_of = {(synset.pos, synset.offset): synset.words for synset in synsets}
    lemmas: dict[str, Lemma] = defaultdict(Lemma)
    for synset in synsets:
        for number, word in enumerate(synset.words, 1):
            if not WORD.fullmatch(word):
                continue
            lemma = lemmas[word.lower()]
            lemma.common |= word.islower()
            lemma.files.add(synset.file)
            lemma.senses[synset.pos] += 1
            lemma.synonyms.update(synset.words)
            targets = set()
            for symbol, offset, pos, ends in synset.pointers:
                if symbol in DERIVED_FROM and int(ends[:2], 16) == number:
                    words = words_of["a" if pos == "s" else pos, offset]
                    targets.add(words[int(ends[2:], 16) - 1].lower())
            lemma.linked.update(targets)
    for line in (folder / "cntlist.rev").read_text("ascii").splitlines():
        key, _, count = line.split()
        word, rest = key.split("%")
        if word in lemmas:
            lemmas[word].tags[SENSE_KEY_POS[rest[0]]] += int(count)
    return dict(lemmas)


def is_inflected(word: str, lemmas: dict[str, Lemma]) -> bool:
    """Tell whether *word* is an inflection little used beside its base (years, testing)."""
    lemma = lemmas[word]
    for ending, rule in INFLECTED.items():
        if not word.endswith(ending) or not set(lemma.senses) <= set(rule.own):
            continue
        for form in shorter_forms(word, derived=False):
            base = lemmas.get(form)
            if base and base.common and any(base.senses[pos] for pos in rule.base):
                return lemma.tags.total() <= rule.tags
    return word.endswith("er") and 2 * lemma.tags["r"] > lemma.tags.total()  # longer, sooner


def is_transparent(word: str, lemmas: dict[str, Lemma]) -> bool:
    """Tell whether *word* is a rare derivative, each sense of which is linked to one base."""
    lemma = lemmas[word]
    senses = lemma.senses.total()
    if word.endswith("ical") and word[:-2] in lemma.synonyms:  # genetical, beside genetic
        return lemmas[word[:-2]].tags.total() > lemma.tags.total()
    limits = (limit for ending, limit in TRANSPARENT.items() if word.endswith(ending))
    limit = next(limits, None)
    if limit is None or senses > limit.senses or lemma.tags.total() > limit.tags:
        return False
    forms = shorter_forms(word)
    return any(base in forms and count >= senses for base, count in lemma.linked.items())


def is_headword(word: str, lemmas: dict[str, Lemma]) -> bool:
    """Tell whether *word* gets an entry in the list."""
    lemma = lemmas[word]
    if not lemma.common:
        # A name is only needed to keep its ending (jesus), if that is no common word's (banks).
        forms = shorter_forms(word)
        plain = any(form in lemmas and lemmas[form].common for form in forms)
        return bool(lemma.files & NAME_FILES) and bool(forms) and not plain
    if len(word) == 2 and not lemma.senses["v"]:  # abbreviations, but for go, do, be
        return False
    return not is_inflected(word, lemmas) and not is_transparent(word, lemmas)


def select(lemmas: dict[str, Lemma]) -> set[str]:
    """Return the headwords."""
    chosen = {word for word in lemmas if is_headword(word, lemmas)}
    return (chosen - PLAIN) | FUNCTION_WORDS | KEPT


def main(arguments: list[str]) -> None:
    """Write the list."""
    words = select(read_lemmas(Path(arguments[0])))
    output = Path(arguments[1]) if len(arguments) > 1 else OUTPUT
    text = "\n".join(sorted(words)) + "\n"
    output.write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))
    print(f"{len(words)} headwords, {output.stat().st_size} bytes: {output}")


if __name__ == "__main__":
    main(sys.argv[1:])
