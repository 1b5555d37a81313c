"""Searches that leave documents out against the exhaustive one: the same documents and scores."""

from __future__ import annotations

import contextlib
import copy
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError
from sicetnon.index.reader import IndexReader
from sicetnon.index.segment import Segment
from sicetnon.retrieval import pruning, term_at_a_time
from sicetnon.retrieval.kernels import NUMPY
from sicetnon.retrieval.pruning import BLOCK_BITS, RANGE_BITS, Bounds
from sicetnon.retrieval.reference import Best, search_exhaustively
from sicetnon.retrieval.scoring import FieldScore, PartOf
from sicetnon.retrieval.searcher import search_tabulated
from sicetnon.retrieval.weighting import BM25, DLH, DPH, PL2, TFIDF, DirichletLM, JelinekMercer
from support.small_indexes import build

WORDS = tuple(f"{a}{b}" for a in "bdfgk" for b in ("ana", "elo", "imu", "oru", "ubi", "ygo"))
"""Each occurs in fewer documents than the one before."""
MODELS = [
    FieldScore(BM25()),
    FieldScore(BM25(2.0, 0.3, "plus")),
    FieldScore(BM25(0.0, 0.0)),
    FieldScore(DirichletLM(2000)),
    FieldScore(DirichletLM(50, "full")),
    FieldScore(DirichletLM(1, "matched")),
    FieldScore(JelinekMercer()),
    FieldScore(DPH()),
    FieldScore(DLH()),
    FieldScore(PL2()),
    FieldScore(TFIDF()),
    FieldScore(BM25(), {"premise": 1.0}),
]


SLICE = 16_384
"""Documents whose bounds are added up at a time: segments have two such slices."""
CASES = 1000
"""Random searches in each block of them."""

TermPostings: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""The documents of a term, the code of each one's posting, and the score of each code."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    """36,005 documents in two segments, with crowds of words, equal documents, and deleted ones."""
    random = np.random.default_rng(8)
    size = 36_005
    texts: list[list[str]] = [["padding"] * int(n) for n in random.integers(0, 40, size)]
    for place, word in enumerate(WORDS):
        for document in random.choice(size, 2500 // (place + 1), replace=False).tolist():
            texts[document] += [word] * int(random.geometric(0.7))
    for first in range(15, size - 40, 4001):  # whole ranges of good documents, and their edges
        for document in range(first, first + 18):
            texts[document] += WORDS[:: 1 + document % 5]
    for document in range(20_000, 30_000, 50):
        texts[document] = texts[document - 19_985]
    made = [
        {"conclusion": "", "premise": " ".join(text), "title": WORDS[0] if place % 97 == 0 else ""}
        for place, text in enumerate(texts)
    ]
    folder = tmp_path_factory.mktemp("ranges")
    path = build(folder, made, "plain", (18_000,), range(3, size, 31))
    with IndexReader.open(path) as opened_index:
        yield opened_index


def best_of(
    part_of: PartOf, index: IndexReader, query: Mapping[str, float], k: int, sliced: int = SLICE
) -> Best:
    best = Best.of(k)
    search_tabulated(part_of(query), index.segments, best, bounded_from=1, sliced=sliced)
    return best


def exhaustive(part_of: PartOf, index: IndexReader, query: Mapping[str, float], k: int) -> Best:
    best = Best.of(k)
    search_exhaustively([part_of(query)], index.segments, best, NUMPY)
    return best


def listed(best: Best) -> list[tuple[int, float]]:
    numbers, scores = best.ordered()
    return list(zip(numbers.tolist(), scores.tolist(), strict=True))


queries = st.dictionaries(
    st.sampled_from((*WORDS, "padding")),
    st.sampled_from([1.0, 2.0, 1e-3, 1 / 3]),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("score", MODELS, ids=str)
@settings(max_examples=15, derandomize=True, deadline=None)
@given(queries, st.sampled_from([1, 3, 10, 150]))
def test_what_is_left_out_changes_no_bit(
    index: IndexReader, score: FieldScore, query: Mapping[str, float], k: int
) -> None:
    part_of = score.bind(index)
    expected = listed(exhaustive(part_of, index, query, k))
    # bounds are made the second time, and used again later
    for sliced in (SLICE, SLICE, 2048, 2 * SLICE):
        assert listed(best_of(part_of, index, query, k, sliced)) == expected


def calls_of(part_of: PartOf, index: IndexReader, query: Mapping[str, float]) -> list[Any]:
    """The arguments of `search_ranges` for each segment."""
    calls: list[Any] = []
    real = pruning.search_ranges
    best_of(part_of, index, query, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "search_ranges", lambda *given: calls.append(given) or real(*given))
        best_of(part_of, index, query, 10)
    assert len(calls) == len(index.segments)
    return calls


def slices_of(call: Any) -> Iterator[tuple[int, int, NDArray[np.uint16], float]]:
    """The first document and the end of each slice of a segment, its sums, and their factor."""
    query, size = (*call[:4], call[8]), len(call[1][0])
    weights, scale = pruning.weigh(query)
    postings = 0
    for first in range(0, size, SLICE):
        end = min(first + SLICE, size)
        sums = np.zeros(pruning.ranges_of(end - first), np.uint16)
        postings += pruning.sum_bounds(query, weights, (first, end, sums, scale))
        yield first, end, sums, scale
    assert postings == (call[3][:, 1] - call[3][:, 0]).sum()


@pytest.mark.parametrize("score", MODELS[:-1], ids=str)
@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), st.floats(1e-3, 1e3), min_size=1, max_size=3))
def test_no_score_is_above_the_bounds_of_its_range(
    index: IndexReader, score: FieldScore, query: Mapping[str, float]
) -> None:
    part_of = score.bind(index)
    numbers, scores = exhaustive(part_of, index, query, index.size).ordered()
    for call, segment in zip(calls_of(part_of, index, query), index.segments, strict=True):
        for first, end, sums, scale in slices_of(call):
            begin = segment.base + first
            is_here = (numbers >= begin) & (numbers < segment.base + end)
            limits = sums[(numbers[is_here] - begin) >> RANGE_BITS]
            for limit, own in zip(limits.tolist(), scores[is_here].tolist(), strict=True):
                assert pruning.limit_of(own, scale) <= limit


def test_most_documents_are_left_out(index: IndexReader) -> None:
    query = {WORDS[1]: 1.0, WORDS[4]: 1.0, WORDS[20]: 1.0}
    part_of = FieldScore(BM25()).bind(index)
    for call in calls_of(part_of, index, query):
        lowest = exhaustive(part_of, index, query, 10).ordered()[1][-1]
        slices = list(slices_of(call))
        above = sum(
            pruning.count_above(sums, pruning.limit_of(lowest, scale))
            for _, _, sums, scale in slices
        )
        assert 0 < above < sum(len(sums) for _, _, sums, _ in slices) / 4


def search_of(
    documents_of: term_at_a_time.DocumentArrays,
    lists: Sequence[TermPostings],
    frequent: Sequence[bool],
) -> tuple[Any, Bounds]:
    """The first four arguments of `search_windows`, and bounds for the frequent terms."""
    documents = len(documents_of[0])
    ends, pair_ends = (np.cumsum([0, *(len(term[i]) for term in lists)]) for i in (0, 2))
    numbers, codes = (
        # searches fetch what stands behind the last posting
        np.concatenate([*(term[i] for term in lists), np.zeros(64)]).astype(dtype)
        for i, dtype in ((0, np.int32), (1, np.uint16))
    )
    postings, table = (numbers, codes, codes, (0, 1)), np.concatenate([term[2] for term in lists])
    terms = 0, 1.0, np.tile([1.0, 1.2, 0.7], (len(lists), 1)), pair_ends, table
    row_of = np.where(frequent, np.cumsum(frequent) - 1, -1)
    rows = np.zeros((sum(frequent), -(-documents >> RANGE_BITS)), np.uint8)
    starts = np.zeros((sum(frequent), -(-documents >> BLOCK_BITS) + 1), np.int32)
    for term in np.flatnonzero(frequent).tolist():
        assert pruning.bound_term(
            postings, lists[term][2], int(ends[term]), int(ends[term + 1]), documents,
            rows[row_of[term]], starts[row_of[term]],
        )  # fmt: skip
    places = np.stack([ends[:-1], ends[1:]], axis=1)
    return (postings, documents_of, terms, places), (rows, starts, row_of)


def alike(documents: int) -> term_at_a_time.DocumentArrays:
    """So many documents of one length."""
    lengths, nothing = np.zeros(documents, np.int32), np.empty(0)
    return lengths, np.ones(1), nothing, 0.0, np.empty(0, np.uint8), 0


def scattered(random: np.random.Generator, documents: int) -> NDArray[np.int64]:
    """The documents of a term: as many everywhere, more and more, fewer and fewer, or in crowds."""
    at = np.arange(documents) / documents
    shares = (
        np.ones(documents),
        8 * at**3,
        8 * (1 - at) ** 3,
        np.repeat(random.random(documents // 2048 + 1) < 0.4, 2048)[:documents],
    )
    density = 10 ** random.choice([random.uniform(-4, 0), -0.3])
    return np.flatnonzero(random.random(documents) < density * shares[random.integers(4)])


def random_term(random: np.random.Generator, documents: int) -> tuple[TermPostings, bool]:
    """A term, whose scores may be few, equal, negative or 0, and whether it has bounds."""
    numbers, count = scattered(random, documents), int(random.integers(1, 12))
    if random.random() < 0.5:
        scores = np.sort(random.choice([-0.2, 0.0, 0.1, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0], count))
        scores *= 10 ** random.uniform(-1, 1)
    else:
        scores = random.random(count) * random.random() * 5
    codes = random.integers(0, count, len(numbers))
    if random.random() < 0.4:  # of each score many that follow one another
        codes = np.sort(codes)[:: random.choice([-1, 1])]
    if random.random() < 0.2:  # scores are computed, of frequencies from 1 on
        return (numbers, codes + 1, np.empty(0)), False
    return (numbers, codes, scores + 0.0), random.random() < 0.6


def random_search(random: np.random.Generator) -> tuple[Any, Bounds]:
    """A search for up to five terms in up to 60,000 documents; see `search_of`."""
    documents = int(random.integers(1, random.choice([3_000, 20_000, 60_000])))
    lists, frequent = zip(
        *(random_term(random, documents) for _ in range(random.choice([1, 1, 2, 3, 5]))),
        strict=True,
    )
    live, of_document = np.empty(0, np.uint8), np.empty(0)
    if random.random() < 0.5:
        live = (random.random(documents) < random.choice([0.02, 0.5, 0.95])).astype(np.uint8)
    if random.random() < 0.4:
        of_document = -random.random(5) * random.choice([0.1, 1, 5])
    documents_of = (
        random.integers(0, 5, documents).astype(np.int32), random.random(5) + 0.5, of_document,
        float(len(of_document) > 0), live, int(random.integers(0, 1000)),
    )  # fmt: skip
    return search_of(documents_of, lists, frequent)


def random_best(random: np.random.Generator, k: int) -> Best:
    """None found yet, or documents of an earlier segment."""
    best = Best.of(k)
    if random.random() < 2 / 3:
        best.filled = int(random.integers(0, 2 * k))
        best.numbers[: best.filled] = np.arange(-best.filled, 0)
        best.scores[: best.filled] = random.random(best.filled) * random.choice([0.1, 1, 3])
        if best.filled >= k and random.random() < 0.3:
            best.threshold = float(np.sort(best.scores[: best.filled])[-k])
    return best


@pytest.mark.parametrize("block", range(3))
def test_slices_find_what_windows_find(block: int) -> None:
    for seed in range(CASES * block, CASES * (block + 1)):
        random = np.random.default_rng(seed)
        arguments, known = random_search(random)
        before = random_best(random, int(random.choice([1, 3, 10, 150, 300, 1000])))
        window = int(random.choice([64, 100, 2048, 4096, 1 << 15]))
        sliced = 2048 * int(random.choice([1, 1, 1, 2, 3, 8, 40]))
        found = []
        for search, more in (
            (pruning.search_ranges, (known, sliced)),
            (term_at_a_time.search_windows, ()),
        ):
            best = copy.deepcopy(before)
            room = best.k, best.numbers, best.scores
            best.filled, best.threshold = search(
                *arguments, room, best.filled, best.threshold, window, *more
            )
            found.append(listed(best))
        assert found[0] == found[1], f"seed {seed}"


def test_bounds_of_other_postings_never_crash() -> None:
    # as of a file that was overwritten by a sound one
    for seed in range(200):
        random = np.random.default_rng(seed)
        documents = int(random.integers(1, 20_000))
        before, after = ([random_term(random, documents) for _ in range(2)] for _ in range(2))
        _, known = search_of(alike(documents), *zip(*before, strict=True))
        lists = [term for term, _ in after]
        arguments, _ = search_of(alike(documents), lists, (False, False))
        best = Best.of(int(random.choice([1, 10, 150])))
        room, sliced = (best.k, best.numbers, best.scores), int(random.choice([2048, 16_384]))
        filled, _ = pruning.search_ranges(*arguments, room, 0, best.threshold, 64, known, sliced)
        assert 0 <= filled <= len(best.numbers)
        assert ((best.numbers[:filled] >= 0) & (best.numbers[:filled] < documents)).all()


def scratch_of(documents: int, k: int, shares: tuple[int, int]) -> int:
    """The most bytes that a search takes, for a frequent term and a rare one."""
    random, lists = np.random.default_rng(1), []
    for share, highest in zip(shares, (2.0, 3.0), strict=True):
        numbers = np.arange(0, documents, share)
        lists.append((numbers, random.integers(0, 2, len(numbers)), np.array([1.0, highest])))
    arguments, known = search_of(alike(documents), lists, (True, False))
    best = Best.of(k)
    room = best.k, best.numbers, best.scores
    pruning.search_ranges(*arguments, room, 0, best.threshold, 4096, known, 1 << 16)
    tracemalloc.start()
    try:
        pruning.search_ranges(*arguments, room, 0, best.threshold, 4096, known, 1 << 16)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("k", [1, 10, 150])
@pytest.mark.parametrize("shares", [(64, 4096), (2, 64), (512, 30_000)])
def test_more_documents_take_no_more_memory(k: int, shares: tuple[int, int]) -> None:
    few, many = (scratch_of(documents, k, shares) for documents in (1 << 17, 1 << 21))
    # sums of all ranges would take 120 KB more
    assert 0 < many <= few + 8192


def test_bounds_that_exceed_their_memory_are_made_anew(
    index: IndexReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "MOST_BYTES", 4 * 3 * index.size // 16)
    part_of = FieldScore(BM25()).bind(index)
    for first in (0, 3, 0, 6, 2):
        query = dict.fromkeys(WORDS[first : first + 3], 1.0)
        for _ in range(2):
            found = listed(best_of(part_of, index, query, 10))
            assert found == listed(exhaustive(part_of, index, query, 10))


def overwritten(segment: Segment, change: Callable[[NDArray[np.uint64]], None]) -> None:
    """Put other bits into postings, as if their file had been overwritten."""
    words = segment.postings._words.copy()
    change(words)
    # as those of a file: numba would compile what reads them once more
    words.flags.writeable = False
    segment.postings._words = words


@pytest.mark.parametrize("bits", [0, 2**64 - 1])
def test_damaged_postings_are_an_error(index: IndexReader, bits: int) -> None:
    query = {WORDS[2]: 1.0, WORDS[-1]: 1.0}
    with IndexReader.open(index.folder) as damaged:
        part_of = FieldScore(BM25()).bind(damaged)
        part_of(query)
        overwritten(damaged.segments[0], lambda words: words.fill(bits))
        with pytest.raises(BrokenIndexError, match="postings: damaged"):
            best_of(part_of, damaged, query, 10)


@settings(max_examples=25, derandomize=True, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(WORDS),
    st.sampled_from([1, 30, 3000]),
    st.sampled_from([10, 150]),
)
def test_postings_damaged_later_never_crash(
    index: IndexReader, seed: int, word: str, count: int, k: int
) -> None:
    query = {WORDS[1]: 1.0, WORDS[7]: 1.0, WORDS[-1]: 1.0, word: 2.0}
    random = np.random.default_rng(seed)

    def change(words: NDArray[np.uint64]) -> None:
        places = random.integers(0, len(words), count)
        words[places] ^= np.uint64(1) << random.integers(0, 64, count).astype(np.uint64)

    # in small slices parts of the segment are scored whole, too
    for sliced in (SLICE, 2048):
        with IndexReader.open(index.folder, postings_memory=0) as damaged:
            part_of = FieldScore(BM25()).bind(damaged)
            for _ in range(2):
                best_of(part_of, damaged, query, k, sliced)
            for segment in damaged.segments:
                overwritten(segment, change)
            with contextlib.suppress(BrokenIndexError):
                best_of(part_of, damaged, query, k, sliced)


DOCUMENTS = 1 << BLOCK_BITS


class DamagedSegment:
    """A segment whose postings of term 2 are damaged."""

    def __len__(self) -> int:
        return DOCUMENTS

    def wrong_posting(self) -> Exception:
        return ValueError("damaged")


def test_a_damaged_term_leaves_the_bounds_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    two_rows = 2 * ((DOCUMENTS >> RANGE_BITS) + 4)
    monkeypatch.setattr(pruning, "default_cache_bytes", lambda: 8 * two_rows)
    segment: Any = DamagedSegment()
    known = pruning.BoundsCache([segment])
    documents = np.arange(DOCUMENTS, dtype=np.int32)
    codes = np.zeros(DOCUMENTS, np.uint16)
    scores, offsets = np.array([1.0]), np.array([0, 1])

    def row_of(number: int) -> int:
        damaged = documents[::-1].copy() if number == 2 else documents
        postings: Any = (damaged, codes)
        terms: Any = (None, None, None, offsets, scores)
        places = np.array([[0, DOCUMENTS]])
        arguments = 0, segment, [number], postings, terms, places
        found = known.bounds(*arguments) or known.bounds(*arguments)
        assert found is not None
        return int(found[2][0])

    rows = [row_of(0), row_of(1)]
    assert sorted(rows) == [0, 1]
    with pytest.raises(ValueError, match="damaged"):
        row_of(2)
    assert row_of(1) != row_of(3)
