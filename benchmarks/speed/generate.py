"""Write a large synthetic args.me corpus by recombining the sentences of a real one.

Every new argument borrows the title, the conclusion, the stance and the page of a
randomly chosen argument of the same portal (its donor). Half of its sentences come
from the donor's discussion, so that words repeat within a text as they do in real
ones, and half from anywhere in the source. How many sentences it has is drawn from
the source's own arguments of that portal, all counts multiplied by one factor so that
the corpus reaches `--words` words an argument. A portal that is empty in the source
borrows from all others.

Recombination alone would never produce a word that the source does not have. About
one word in a hundred is therefore replaced by a made-up one, by Simon's process
(H. A. Simon, "On a class of skew distribution functions", Biometrika 42, 1955): a
quarter of these are new, the others repeat an earlier one drawn uniformly. That gives
a Zipf tail in which a bit over half of the made-up words occur once, and at 60 million
words a vocabulary near the one that Heaps' law predicts from the source (200,000).

The output depends only on the source, the options and the seed. Memory holds the
source, the repeated made-up words and one chunk of arguments, whatever the size.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

# Arguments of each portal in the official corpus of 2020-04-01, 387,740 in all.
PORTALS = {
    "debateorg": 338_620,
    "debatepedia": 21_197,
    "debatewise": 14_353,
    "idebate": 13_522,
    "parliamentary": 48,
}
CHUNK = 2_048  # arguments drawn at a time
TOPICAL = 0.5  # share of sentences taken from the donor's own discussion
RARE_PER_WORD = 0.0107  # share of words replaced by made-up ones
NEW_RARE = 0.25  # share of made-up words that are new, Simon's alpha
REMEMBERED = 1 << 20  # made-up words that can be repeated; older ones are overwritten
SHORT_WORDS = 24  # longest premise with --short, in words
ARGUMENTS_A_PAGE = 6.5  # arguments that share a source page in the official corpus

WORD = re.compile(r"\w+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")

# The function words of the Snowball project's English list, and the single letters
# that tokenisers leave behind at apostrophes. Every peer drops exactly these.
STOP_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been
    before being below between both but by can cannot could did do does doing down
    during each few for from further had has have having he her here hers herself him
    himself his how i if in into is it its itself me more most my myself no nor not of
    off on once only or other ought our ours ourselves out over own same she should so
    some such than that the their theirs them themselves then there these they this
    those through to too under until up very was we were what when where which while
    who whom why will with would you your yours yourself yourselves
    b c d e f g h j k l m n o p q r s t u v w x y z ll re ve don isn aren wasn weren
    hasn haven hadn doesn didn won wouldn shouldn couldn""".split()  # noqa: SIM905
)

Ints = npt.NDArray[np.int64]
Json = dict[str, object]


class Premise(msgspec.Struct, gc=False):
    """One premise of an argument, as far as the benchmarks read it."""

    text: str
    stance: str = "PRO"


class Context(msgspec.Struct, gc=False, rename="camel"):
    """The context of an argument, as far as the benchmarks read it."""

    discussion_title: str = ""
    source_url: str = ""


class Argument(msgspec.Struct, gc=False):
    """One argument in the official layout."""

    id: str
    conclusion: str
    premises: list[Premise]
    context: Context

    @property
    def title(self) -> str:
        """The discussion title, or the conclusion of an argument that has none."""
        return self.context.discussion_title or self.conclusion


class Portal(msgspec.Struct, gc=False):
    """One portal file in the official layout."""

    arguments: list[Argument]


@dataclass
class Donors:
    """The real arguments of a portal that the generator draws from, one entry an argument."""

    arguments: list[Argument] = field(default_factory=list)
    discussions: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)  # sentences a premise


@dataclass
class Source:
    """A corpus taken apart: its sentences by discussion, and its donors by portal."""

    sentences: list[str]
    words: Ints  # words of each sentence
    starts: Ints  # first sentence of each discussion, and the number of sentences
    donors: dict[str, Donors]
    titles: list[str]


def read_source(directory: Path) -> Source:
    """Read the five portal files of `directory` and split their premises.

    Raises:
        SystemExit: a file is missing or is not in the official layout.
    """
    decoder = msgspec.json.Decoder(Portal)
    by_discussion: list[list[str]] = []
    numbers: dict[str, int] = {}
    donors = {portal: Donors() for portal in PORTALS}
    for portal, lent in donors.items():
        path = directory / f"{portal}.json"
        try:
            arguments = decoder.decode(path.read_bytes()).arguments
        except OSError as error:
            raise SystemExit(f"{path}: {error.strerror}") from None
        except msgspec.MsgspecError as error:
            raise SystemExit(f"{path}: not in the official layout: {error}") from None
        for argument in arguments:
            text = " ".join(premise.text for premise in argument.premises)
            sentences = [s for s in SENTENCE_END.split(text) if WORD.search(s)]
            if not sentences:
                continue
            number = numbers.setdefault(argument.title, len(numbers))
            if number == len(by_discussion):
                by_discussion.append([])
            by_discussion[number].extend(sentences)
            lent.arguments.append(argument)
            lent.discussions.append(number)
            lent.lengths.append(len(sentences))
    if not by_discussion:
        raise SystemExit(f"{directory}: no argument with a premise in any portal file")
    flat = [sentence for group in by_discussion for sentence in group]
    words = np.array([len(WORD.findall(s)) for s in flat], dtype=np.int64)
    starts = np.cumsum([0] + [len(group) for group in by_discussion])
    everyone = Donors()
    for lent in donors.values():
        everyone.arguments += lent.arguments
        everyone.discussions += lent.discussions
        everyone.lengths += lent.lengths
    filled = {p: lent if lent.arguments else everyone for p, lent in donors.items()}
    return Source(flat, words, starts, filled, list(numbers))


def shares(total: int) -> dict[str, int]:
    """Split `total` arguments over the portals in the official proportions."""
    whole = sum(PORTALS.values())
    exact = {portal: total * count / whole for portal, count in PORTALS.items()}
    split = {portal: int(count) for portal, count in exact.items()}
    by_remainder = sorted(exact, key=lambda portal: split[portal] - exact[portal])
    for portal in by_remainder[: total - sum(split.values())]:
        split[portal] += 1
    return split


def length_factor(source: Source, words: float) -> float:
    """Find the factor on sentence counts that gives `words` words an argument on average."""
    sentence_words = float(source.words.mean())
    parts = []  # of each portal: its share, its mean heading in words, its sentence counts
    for portal, lent in source.donors.items():
        heads = [f"{a.conclusion} {a.context.discussion_title}" for a in lent.arguments]
        heading = np.mean([len(WORD.findall(head)) for head in heads])
        parts.append((PORTALS[portal] / sum(PORTALS.values()), heading, np.array(lent.lengths)))
    target = words - sum(share * heading for share, heading, _ in parts)
    low, high = 0.0, 64.0
    for _ in range(40):
        middle = (low + high) / 2
        sentences = sum(share * np.maximum(1, counts * middle).mean() for share, _, counts in parts)
        low, high = (middle, high) if sentences * sentence_words < target else (low, middle)
    return low


def spell(number: int) -> str:
    """Make a pronounceable word of a number; different numbers give different words."""
    consonants, vowels = "bcdfghjklmnprstvwxyz", "aeiou"
    syllables = 3 if number < 10**6 else 4
    rest = number * 618_033_989 % 100**syllables  # 618033989 and 100 share no factor
    word = ""
    for _ in range(syllables):
        rest, digit = divmod(rest, 100)
        word += consonants[digit // 5] + vowels[digit % 5]
    return word + "k" if syllables == 4 else word + "b"


class RareWords:
    """Simon's process over made-up words, one call a word."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.seen: list[int] = []
        self.made = 0
        self.calls = 0
        self.draws: list[float] = []

    def next(self) -> str:
        """Return the next made-up word."""
        if len(self.draws) < 2:
            self.draws = self.rng.random(1 << 14).tolist()
        chance, place = self.draws.pop(), self.draws.pop()
        if not self.seen or chance < NEW_RARE:
            number = self.made
            self.made += 1
        else:
            number = self.seen[int(place * len(self.seen))]
        if len(self.seen) < REMEMBERED:
            self.seen.append(number)
        else:
            self.seen[self.calls % REMEMBERED] = number
        self.calls += 1
        return spell(number)


def identifier(number: int, seed: int) -> str:
    """Scramble a 32-bit number into hexadecimal, one to one for a seed."""
    mixed = (number * 0x9E3779B1 + seed * 0x85EBCA6B) & 0xFFFFFFFF
    mixed ^= mixed >> 16
    return format(mixed * 0xC2B2AE35 & 0xFFFFFFFF, "x")


class Generator:
    """Draws arguments from a source; see the module's text for how."""

    def __init__(self, source: Source, words: float, short: bool, seed: int) -> None:
        self.source = source
        self.short = short
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.rare = RareWords(np.random.default_rng([seed, 1]))
        self.factor = 0.0 if short else length_factor(source, words)
        self.tokens = 0
        self.written = 0

    def arguments(self, portal: str, count: int) -> Iterator[Json]:
        """Draw `count` arguments of one portal."""
        for start in range(0, count, CHUNK):
            yield from self._chunk(portal, min(CHUNK, count - start), count)

    def _chunk(self, portal: str, count: int, total: int) -> Iterator[Json]:
        source, lent, rng = self.source, self.source.donors[portal], self.rng
        donors = rng.integers(len(lent.arguments), size=count)
        counts = np.array(lent.lengths)[rng.integers(len(lent.lengths), size=count)]
        drawn = np.maximum(1, (counts * self.factor + rng.random(count)).astype(np.int64))
        discussions = np.array(lent.discussions)[donors]
        pages = max(1, round(total / ARGUMENTS_A_PAGE / len(set(lent.discussions))))
        page = discussions * pages + rng.integers(pages, size=count)

        owner = np.repeat(discussions, drawn)
        topical = rng.random(owner.size) < TOPICAL
        low = np.where(topical, source.starts[owner], 0)
        high = np.where(topical, source.starts[owner + 1], len(source.sentences))
        picked = low + (rng.random(owner.size) * (high - low)).astype(np.int64)
        rare = rng.random(owner.size) < source.words[picked] * RARE_PER_WORD
        place = rng.random(owner.size)

        numbers, marks, places = picked.tolist(), rare.tolist(), place.tolist()
        end = 0
        for donor, number, length in zip(
            donors.tolist(), page.tolist(), drawn.tolist(), strict=True
        ):
            begin, end = end, end + length
            span = zip(numbers[begin:end], marks[begin:end], places[begin:end], strict=True)
            text = " ".join([self._sentence(*drawing) for drawing in span])
            yield self._argument(lent.arguments[donor], text, portal, number)

    def _sentence(self, number: int, rare: bool, place: float) -> str:
        """Sentence `number`, cut when short, with one made-up word when `rare`."""
        sentence, words = self.source.sentences[number], int(self.source.words[number])
        if rare or (self.short and words > SHORT_WORDS):
            parts = sentence.split()
            if self.short:
                parts = parts[:SHORT_WORDS]
            if rare:
                parts[int(place * len(parts))] = self.rare.next()
            sentence = " ".join(parts)
            words = len(WORD.findall(sentence))
        self.tokens += words
        return sentence

    def _argument(self, donor: Argument, text: str, portal: str, page: int) -> Json:
        self.tokens += len(WORD.findall(donor.conclusion)) + len(WORD.findall(donor.title))
        # Pages of different portals get different numbers by their last decimal digit.
        source = "S" + identifier(page * 10 + list(PORTALS).index(portal), self.seed)
        name = f"{source}-A{identifier(self.written, self.seed)}"
        self.written += 1
        stance = donor.premises[0].stance
        return {
            "id": name,
            "conclusion": donor.conclusion,
            "premises": [{"text": text, "stance": stance, "annotations": []}],
            "context": {
                "sourceId": source,
                "sourceTitle": donor.title,
                "acquisitionTime": "2020-04-01T00:00:00Z",
                "discussionTitle": donor.title,
                "mode": "discussion",
                "sourceUrl": donor.context.source_url or f"https://{portal}.example/{source}/",
            },
        }


def write_portal(path: Path, arguments: Iterator[Json]) -> int:
    """Write one portal file and return its size in bytes."""
    encoder = msgspec.json.Encoder()
    separator = b"\n"
    with path.open("wb", buffering=1 << 20) as file:
        file.write(b'{"arguments": [')
        for argument in arguments:
            file.write(separator)
            file.write(encoder.encode(argument))
            separator = b",\n"
        file.write(b"\n]}\n")
        return file.tell()


def queries(source: Source, count: int, seed: int) -> Iterator[str]:
    """Draw `count` queries: runs of 3 to 8 content words of titles and sentences."""
    rng = np.random.default_rng([seed, 2])
    while count:
        texts = source.titles if rng.random() < 0.5 else source.sentences
        words = [word.lower() for word in WORD.findall(texts[rng.integers(len(texts))])]
        content = [w for w in dict.fromkeys(words) if w not in STOP_WORDS]
        if len(content) < 3:
            continue
        length = min(int(rng.integers(3, 9)), len(content))
        start = int(rng.integers(len(content) - length + 1))
        yield " ".join(content[start : start + length])
        count -= 1


def main() -> int:
    """Parse the command line, write the corpus, and report its size."""
    parser = argparse.ArgumentParser(description="Write a large synthetic args.me corpus.")
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="DIR")
    parser.add_argument("--arguments", type=int, default=sum(PORTALS.values()), metavar="N")
    parser.add_argument("--words", type=float, default=155, help="an argument, on average")
    parser.add_argument("--short", action="store_true", help="about 30 words an argument")
    parser.add_argument("--queries", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    options = parser.parse_args()
    if options.arguments < 1:
        parser.error("--arguments must be at least 1")
    started = time.perf_counter()
    source = read_source(options.source)
    generator = Generator(source, options.words, options.short, options.seed)
    options.output.mkdir(parents=True, exist_ok=True)
    size = 0
    for portal, count in shares(options.arguments).items():
        path = options.output / f"{portal}.json"
        size += write_portal(path, generator.arguments(portal, count))
    if (options.source / "topics.xml").exists():
        shutil.copyfile(options.source / "topics.xml", options.output / "topics.xml")
    if options.queries:
        lines = "".join(q + "\n" for q in queries(source, options.queries, options.seed))
        (options.output / "queries.txt").write_text(lines, encoding="utf-8")
    print(
        f"{generator.written:,} arguments, {generator.tokens:,} words "
        f"({generator.tokens / generator.written:.0f} an argument, "
        f"{generator.rare.made:,} made-up words), {size:,} bytes, "
        f"{time.perf_counter() - started:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
