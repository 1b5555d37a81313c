"""Indexes to and from CIFF files: the same rankings, here and in PISA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon import cli
from sicetnon.errors import DataError, UsageError
from sicetnon.index.import_export import build_from_ciff, export_ciff
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, add_documents, build_index, delete_documents
from sicetnon.records import Entry, Topic
from sicetnon.retrieval.scoring import FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, DirichletLM
from sicetnon.text.analysis import named_analysis
from support import ciff_files
from support.index_cases import (
    FORMS,
    PORTER,
    SETTINGS,
    WORDS,
    check_tidy,
    content_of,
    documents,
    entries,
    files_of,
)

PLAIN = named_analysis("plain")
TOPICS = [Topic("1", "teachers and schools"), Topic("2", WORDS), Topic("3", "nothing")]


def found(folder: Path) -> list[tuple[tuple[str, ...], list[float]]]:
    with IndexReader.open(folder) as index:
        rankings = [
            ranking
            for model in (BM25(), DirichletLM(), DirichletLM(10, "full"), DPH())
            for ranking in LocalRetriever(index, [FieldScore(model)]).retrieve(TOPICS, 10)
        ]
    return [(ranking.ids, list(ranking.scores)) for ranking in rankings]


@given(st.data())
@settings(SETTINGS, max_examples=15)
def test_an_index_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("ciff")
    every = data.draw(documents(data.draw(st.integers(1, 3)), least=2))
    analysis = data.draw(st.sampled_from([PORTER, FORMS]))
    names = list(every)
    cut = data.draw(st.integers(1, len(names) - 1))
    parts = {i: every[i] for i in names[:cut]}, {i: every[i] for i in names[cut:]}
    build_index(entries(parts[0]), folder / "one", BuildOptions(analysis))
    add_documents(entries(parts[1]), folder / "one", BuildOptions(analysis))
    delete_documents(folder / "one", [names[-1]])
    before = files_of(folder / "one")
    export_ciff(folder / "one", folder / "x.ciff")
    assert files_of(folder / "one") == before
    build_from_ciff(folder / "x.ciff", folder / "two")
    assert found(folder / "two") == found(folder / "one")
    export_ciff(folder / "two", folder / "y.ciff")
    assert ciff_files.read(folder / "y.ciff")[1:] == ciff_files.read(folder / "x.ciff")[1:]
    check_tidy(folder / "two")


# the example of Anserini's tests, with the terms that its analysis makes
ANSERINI = {
    "01": [(0, 1)],
    "03": [(0, 1)],
    "30": [(0, 1)],
    "content": [(0, 1)],
    "enough": [(2, 1)],
    "head": [(0, 1)],
    "simpl": [(1, 1), (2, 1)],
    "text": [(0, 1), (1, 1), (2, 1)],
    "veri": [(1, 1)],
}
LENGTHS = [("WSJ_1", 6), ("TREC_DOC_1", 4), ("DOC222", 3)]


def test_an_index_of_another_program_is_searched(tmp_path: Path, capsys) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", ANSERINI, LENGTHS, description="Anserini")
    index = tmp_path / "index"
    assert cli.main(["index", "build", str(path), "-o", str(index)]) == 2
    assert "x.ciff: does not tell how its terms were made; " in capsys.readouterr().err
    assert not index.exists()
    build = ["index", "build", str(path), "-o", str(index), "--analysis", "porter-stop"]
    assert cli.main(build) == 0
    assert "documents  3 entries" in capsys.readouterr().out
    expected = {
        term: {LENGTHS[document][0]: (frequency,) for document, frequency in postings}
        for term, postings in ANSERINI.items()
    }
    content = content_of(index)
    assert content.postings == expected
    assert content.lengths == {identifier: (length,) for identifier, length in LENGTHS}
    assert content.records["WSJ_1"] == Entry("WSJ_1", {"text": ""})
    assert cli.main(["search", "very simple texts", "--index", str(index), "--no-sides"]) == 0
    assert "TREC_DOC_1" in capsys.readouterr().out
    assert cli.main(["index", "export", str(index), "-o", str(tmp_path / "y.ciff")]) == 0
    assert ciff_files.read(tmp_path / "y.ciff")[1:] == (ANSERINI, LENGTHS)
    assert cli.main([*build, "--shards", "2"]) == 2
    assert "name one FILE.ciff alone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "x.ciff", "--shard", "1/2"], "name one FILE.ciff alone"),
        (["build", "x.jsonl", "x.ciff"], "name one FILE.ciff alone"),
        (["build", "x.ciff", "--fields", "a", "--skip-invalid"], "--fields and --skip-invalid: "),
        (["add", "x.ciff"], "holds no texts that could be added"),
        (["add", "X.CIFF"], "holds no texts that could be added"),
    ],
)
def test_an_import_is_no_reading_of_documents(
    words: list[str], message: str, tmp_path: Path, failing
) -> None:
    ciff_files.write(tmp_path / "x.ciff", ANSERINI, LENGTHS)
    verb, *rest = (str(tmp_path / word) if "x." in word.lower() else word for word in words)
    status, line = failing("index", verb, *rest, "-o", tmp_path / "index")
    assert status == 2
    assert message in line
    status, line = failing("index", verb, *rest, "-o", "opensearch+http://127.0.0.1:1/name")
    assert status == 2
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("lists", "records", "message"),
    [
        ({"a": [(0, 1)]}, [("x", 1), ("x", 1)], "an id comes twice"),
        ({"a": [(0, 1)]}, [("x y", 1)], "the id 'x y' is empty or holds white space"),
        ({"a b": [(0, 1)]}, [("x", 1)], "the term 'a b' holds white space"),
        ({"a": [(1, 1)]}, [("x", 1)], "hold a document or a frequency that cannot be"),
        ({"a": [(0, 9)]}, [("x", 1)], "occurs 9 times in documents of 1 term"),
        ({}, [], "holds no document"),
    ],
)
def test_a_file_that_no_index_can_be_made_of(
    tmp_path: Path, lists: ciff_files.Lists, records: list[tuple[str, int]], message: str
) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", lists, records)
    with pytest.raises(DataError, match=message):
        build_from_ciff(path, tmp_path / "index", PLAIN)
    assert not (tmp_path / "index").exists()


def _record_without_number(data: bytes) -> bytes:
    # the last record: its length, then number 1
    place = data.rindex(b"\x08\x01\x12")
    return data[: place - 1] + bytes([data[place - 1] - 2]) + data[place + 2 :]


def _with_counts(counts: bytes) -> Callable[[bytes], bytes]:
    """The change of the numbers of lists and documents in the header."""
    return lambda data: data.replace(b"\x10\x01\x18\x02", counts, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: b"", "is empty; expected a CIFF file"),
        (_record_without_number, "the record of document 1 is of document 0; expected their order"),
        (lambda data: data[:-1], "the record of document 1 is cut short"),
        (lambda data: data + b"x", "1 bytes follow the last record"),
        (
            lambda data: data.replace(b"\x10\x01\x18\x02", b"\x10\x7f\x18\x02", 1),
            "127 lists and 2 ",
        ),
        (_with_counts(b"\x10\x01\x18\x7f"), "and 127 docume"),
        (_with_counts(b"\xff" * 4), "the header is no protob"),
    ],
)
def test_a_damaged_file(change: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", {"a": [(0, 1), (1, 1)]}, [("x", 1), ("y", 1)])
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DataError, match=message):
        build_from_ciff(path, tmp_path / "index", PLAIN)
    assert not (tmp_path / "index").exists()


def test_frequencies_end_where_they_do_not_fit(tmp_path: Path) -> None:
    path = ciff_files.write(tmp_path / "x.ciff", {"a": [(0, 70_000)]}, [("x", 70_000)])
    build_from_ciff(path, tmp_path / "index", PLAIN)
    assert content_of(tmp_path / "index").postings == {"a": {"x": (65_535,)}}


def test_an_unknown_analysis_is_no_analysis(tmp_path: Path) -> None:
    own = "sicetnon 9.9; analysis secret; fields text as one text"
    path = ciff_files.write(tmp_path / "x.ciff", ANSERINI, LENGTHS, description=own)
    with pytest.raises(UsageError, match="--analysis plain, "):
        build_from_ciff(path, tmp_path / "index")


def test_pisa_ranks_an_exported_index_alike(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PyTerrier's own dependencies deprecate
        module = pytest.importorskip(
            "pyterrier_pisa", reason="pyterrier-pisa is not installed (extra: peers)"
        )
    random, words = np.random.default_rng(3), [f"{a}{e}b" for a in "bcdfglmnr" for e in "aeiou"]
    shares = 1 / np.arange(1, len(words) + 1)
    texts = {
        f"d{n}": (" ".join(random.choice(words, 5 + n % 90, p=shares / shares.sum())),)
        for n in range(300)
    }
    build_index(entries(texts), tmp_path / "index", BuildOptions(PLAIN))
    export_ciff(tmp_path / "index", tmp_path / "x.ciff")
    pisa = pisa_search(
        module._pisathon, ciff_files.for_pisa(tmp_path / "x.ciff", tmp_path, module._pisathon)
    )
    with IndexReader.open(tmp_path / "index") as index:
        retriever = LocalRetriever(index, [FieldScore(BM25(0.9, 0.4, "robertson"))])
        for seed in range(20):
            query = " ".join(np.random.default_rng(seed).choice(words[5:], 1 + seed % 4, False))
            ranking = retriever.retrieve([Topic("1", query)], 300)[0]
            theirs = pisa(query)
            ours = dict(zip(ranking.ids, ranking.scores, strict=True))
            # PISA adds numbers of 32 bits
            assert theirs == pytest.approx(ours, rel=1e-5)
            order = sorted(theirs, key=lambda i: (-round(ours[i], 4), int(i[1:])))
            assert order == sorted(ours, key=lambda i: (-round(ours[i], 4), int(i[1:])))


def pisa_search(native: Any, folder: Path) -> Any:
    context = native.RetrievalContext()
    native.prepare_index(context, str(folder), "block_simdbp", "bm25", "", bm25_k1=0.9, bm25_b=0.4)

    def search(query: str) -> dict[str, float]:
        numbers, ranks = np.empty(1000, np.int32), np.empty(1000, np.int32)
        names, scores = np.empty(1000, object), np.empty(1000, np.float32)
        count = native.retrieve(
            context, "ranked_or", [(0, query)], k=1000, threads=1, pretokenised=False,
            query_weighted=0, result_qidxs=numbers, result_docnos=names, result_ranks=ranks,
            result_scores=scores,
        )  # fmt: skip
        return dict(zip(names[:count].tolist(), scores[:count].tolist(), strict=True))

    return search
