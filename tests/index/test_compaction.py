"""Shards: built apart, they make the index that is built in one go."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon import cli
from sicetnon.app.index import Index
from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError
from sicetnon.formats.corpora import Corpus, open_corpus
from sicetnon.formats.files import Reading
from sicetnon.index.compaction import merge_indexes
from sicetnon.index.manifest import read_manifest
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    CorpusSlice,
    add_documents,
    annotate_index,
    build_index,
    delete_documents,
)
from sicetnon.records import Topic
from sicetnon.retrieval.feedback import RM3
from sicetnon.retrieval.scoring import BM25F, Coverage, FieldScore
from sicetnon.retrieval.searcher import LocalRetriever
from sicetnon.retrieval.weighting import BM25, DPH, PL2, DirichletLM, JelinekMercer
from support import annotation_cases
from support.index_cases import (
    FORMS,
    PORTER,
    SETTINGS,
    WORDS,
    Documents,
    check_tidy,
    content_of,
    documents,
    entries,
    files_of,
    write_lines,
)

TOPICS = [Topic("1", "teachers and schools"), Topic("2", WORDS), Topic("3", "nothing")]
MODELS = (BM25(), DirichletLM(), DirichletLM(10, "full"), JelinekMercer(), DPH(), PL2())
Rows = list[tuple[tuple[str, ...], list[float]]]


def found(folder: Path) -> Rows:
    """Ids and scores by several models, all to the last bit."""
    rows: Rows = []
    with IndexReader.open(folder) as index:
        first, last = index.fields[0], index.fields[-1]
        for model in (
            BM25(),
            DirichletLM(),
            DirichletLM(10, "full"),
            JelinekMercer(),
            DPH(),
            PL2(),
        ):
            weighted = {first: 2.0, last: 0.5}
            for scores in ([FieldScore(model)], [FieldScore(model, weighted, other_forms=0.3)]):
                rows += ranked(LocalRetriever(index, scores, threads=1))
        rows += ranked(LocalRetriever(index, [BM25F({first: 3.0, last: 1.0})], threads=1))
        both = [FieldScore(BM25(), weight=0.7), Coverage([first], weight=2.0)]
        rows += ranked(LocalRetriever(index, both, threads=1))
        rows += ranked(LocalRetriever(index, [FieldScore(BM25())], RM3(), threads=1))
    return rows


def ranked(retriever: LocalRetriever) -> Rows:
    return [(r.ids, list(r.scores)) for r in retriever.retrieve(TOPICS, 5)]


def built(folder: Path, given_: Documents, deleted: Sequence[str] = ()) -> Path:
    build_index(entries(given_), folder, BuildOptions(FORMS))
    delete_documents(folder, deleted)
    return folder


@given(st.data())
@settings(SETTINGS, max_examples=15)
def test_shards_give_what_the_whole_gives(tmp_path: Path, data: st.DataObject) -> None:
    every = data.draw(documents(data.draw(st.integers(1, 3)), least=2, most=8))
    names = list(every)
    cuts = data.draw(st.sets(st.integers(1, len(names) - 1), min_size=1, max_size=3))
    bounds = [0, *sorted(cuts), len(names)]
    ranges = [names[begin:end] for begin, end in itertools.pairwise(bounds)]
    deleted = data.draw(st.sets(st.sampled_from(names), max_size=2))
    # no shard may lose its last document
    deleted -= {each for part in ranges if set(part) <= deleted for each in part}
    whole = built(tmp_path / "whole", every, sorted(deleted))
    shards = [
        built(tmp_path / f"shard-{n}", {i: every[i] for i in part}, sorted(deleted & {*part}))
        for n, part in enumerate(ranges)
    ]
    merge_indexes(shards, tmp_path / "linked", link=True)
    Index.merge(shards, tmp_path / "merged").close()
    expected, rows = content_of(whole), found(whole)
    for folder, segments in ((tmp_path / "linked", len(shards)), (tmp_path / "merged", 1)):
        assert content_of(folder) == expected
        assert found(folder) == rows
        with IndexReader.open(folder) as index:
            assert len(index.segments) == segments
        check_tidy(folder)
    for folder in [*shards, whole, tmp_path / "linked", tmp_path / "merged"]:
        shutil.rmtree(folder)


ONE = {"a": ("school uniforms",), "b": ("a teacher",)}
TWO = {"c": ("teachers of schools",), "d": ("uniforms",), "e": ("no uniform",)}


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    return [built(tmp_path / "one", ONE), built(tmp_path / "two", TWO)]


def test_a_linked_index_changes_alone(shards: list[Path], tmp_path: Path) -> None:
    index = tmp_path / "index"
    before = [files_of(shard) for shard in shards]
    merge_indexes(shards, index, link=True)
    assert (index / "segment-000002" / "records").samefile(shards[1] / "segment-000001/records")
    delete_documents(index, ["a", "d"])
    add_documents(entries({"f": ("new",)}), index, BuildOptions(FORMS))
    assert list(content_of(index).records) == ["b", "c", "e", "f"]
    delete_documents(shards[1], ["e"])
    delete_documents(shards[0], ["b"])
    shutil.rmtree(shards[0])
    assert list(content_of(index).records) == ["b", "c", "e", "f"]
    assert before[0]
    check_tidy(index)


def test_files_are_copied_where_there_are_no_links(
    shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("another file system")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    merge_indexes(shards, tmp_path / "index", link=True)
    assert content_of(tmp_path / "index") == content_of(built(tmp_path / "whole", ONE | TWO))
    check_tidy(tmp_path / "index")


@pytest.mark.parametrize("link", [False, True])
def test_the_index_may_be_one_of_the_shards(shards: list[Path], link: bool) -> None:
    merge_indexes([shards[1], shards[0]], shards[0], link)
    assert list(content_of(shards[0]).records) == ["c", "d", "e", "a", "b"]
    check_tidy(shards[0])


def test_an_index_alone_loses_its_deleted_documents(shards: list[Path]) -> None:
    delete_documents(shards[1], ["d"])
    merge_indexes([shards[1]], shards[1])
    with IndexReader.open(shards[1]) as index:
        assert (index.size, index.document_count) == (2, 2)


def test_annotations_are_kept(tmp_path: Path) -> None:
    for name, texts in (("one", annotation_cases.SMALL), ("two", annotation_cases.MORE)):
        build_index(entries(texts), tmp_path / name, BuildOptions(PORTER))
        annotate_index(tmp_path / name, annotation_cases.BOTH)
    both = annotation_cases.SMALL | annotation_cases.MORE
    for link in (False, True):
        merge_indexes([tmp_path / "one", tmp_path / "two"], tmp_path / "index", link)
        annotation_cases.check(tmp_path / "index", both, *annotation_cases.BOTH)


def _without_manifest(shard: Path) -> None:
    (shard / "manifest.json").unlink()


def _damaged(shard: Path) -> None:
    path = shard / "segment-000001" / "lengths_0"
    path.write_bytes(bytes(path.stat().st_size))


def _of_other_fields(shard: Path) -> None:
    build_index(entries({"x": ("one", "two")}), shard, BuildOptions(FORMS))


def _of_another_analysis(shard: Path) -> None:
    build_index(entries(TWO), shard, BuildOptions(PORTER))


def _annotated(shard: Path) -> None:
    annotate_index(shard, annotation_cases.BOTH)


def _with_a_common_id(shard: Path) -> None:
    add_documents(entries({"b": ("again",)}), shard, BuildOptions(FORMS))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (shutil.rmtree, BrokenIndexError, ".*two: there is no such folder; "),
        (_without_manifest, BrokenIndexError, ".*two: holds no finished index "),
        (_damaged, BrokenIndexError, ".*two/segment-000001/lengths_0: the checksum does"),
        (_of_other_fields, DataError, r"two: holds entries \(text, title\), but .*one holds"),
        (_of_another_analysis, DataError, "two: has another analysis than .*one; "),
        (_annotated, DataError, "two: has another annotation than .*one; "),
        (_with_a_common_id, DataError, "index: the id 'b' is in two shards, one and two; "),
    ],
)
@pytest.mark.parametrize("link", [False, True])
def test_a_bad_shard_is_named(
    shards: list[Path],
    tmp_path: Path,
    change: Callable[[Path], None],
    error: type[SicetnonError],
    message: str,
    link: bool,
) -> None:
    change(shards[1])
    with pytest.raises(error, match=message):
        merge_indexes(shards, tmp_path / "index", link)
    assert not (tmp_path / "index").exists()


def test_a_deleted_document_takes_no_id(shards: list[Path], tmp_path: Path) -> None:
    _with_a_common_id(shards[1])
    delete_documents(shards[0], ["b"])
    merge_indexes(shards, tmp_path / "index")
    assert list(content_of(tmp_path / "index").records) == ["a", "c", "d", "e", "b"]


def test_other_folders_are_refused(shards: list[Path], tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="is not empty and no index"):
        merge_indexes(shards, tmp_path / "mine")
    with pytest.raises(UsageError, match="name the shards"):
        merge_indexes([], tmp_path / "index")


class TestParts:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        rows = [{"id": f"d{n}", "text": f"school {n % 17} " + "x " * (n % 40)} for n in range(1500)]
        return write_lines(tmp_path / "docs.jsonl", *rows)

    def test_the_parts_of_a_corpus_are_the_corpus(self, source: Path, tmp_path: Path) -> None:
        letters = random.Random(1)
        arguments = [
            {"id": f"a{n}", "conclusion": "c", "premises": [{"text": "t" * (n % 90)}]}
            for n in range(700)
        ]
        packed, table, array = (tmp_path / name for name in ("d.jsonl.gz", "d.csv", "a.json"))
        texts = (letters.randbytes(200).hex() for _ in range(4000))
        packed.write_bytes(gzip.compress(lines(texts), mtime=0))
        table.write_text("id,text\n" + "".join(f"{n},text {n}\n" for n in range(2000)))
        array.write_text(json.dumps({"arguments": arguments}))
        for sources in ([source], [packed], [table], [array], [source, packed]):
            corpus = open_corpus(sources)
            whole = read(corpus)
            for of in (1, 2, 3):
                parts = [CorpusSlice(corpus, number, of) for number in range(1, of + 1)]
                ids = [read(part.corpus) for part in parts]
                assert [each for part in ids for each in part] == whole
                entries_ = [part.entry("x") for part in parts]
                assert entries_[0].first == 0
                assert entries_[-1].end == len(whole)
                assert all(a.end == b.first for a, b in itertools.pairwise(entries_))
                if of == 2:
                    assert min(map(len, ids)) > 0.2 * len(whole)

    def test_an_unusable_record_belongs_to_one_part(self, tmp_path: Path) -> None:
        array, table = tmp_path / "a.json", tmp_path / "a.jsonl"
        rows = [
            {"id": f"a{n}", "conclusion": "c", "premises": [{"text": "t" * 50}] if n % 9 else []}
            for n in range(700)
        ]
        array.write_text(json.dumps({"arguments": rows}))
        entries_of = ({"id": str(n), "text": "t" if n % 9 < 8 else [n]} for n in range(3000))
        table.write_text("".join(json.dumps(each) + "\n" for each in entries_of))
        for source in (array, table):
            corpus, errors = open_corpus([source]), []
            parts = [CorpusSlice(corpus, number, 3) for number in (1, 2, 3)]
            ids = [read(part.corpus, errors.append) for part in parts]
            whole_errors: list[DataError] = []
            assert [each for part in ids for each in part] == read(corpus, whole_errors.append)
            assert list(map(str, errors)) == list(map(str, whole_errors))
            entries_ = [part.entry("x") for part in parts]
            assert [each.first for each in entries_[1:]] == [each.end for each in entries_[:-1]]
            assert len(errors) > 70

    def test_parts_are_merged_in_their_order(self, source: Path, tmp_path: Path) -> None:
        assert cli.main(["index", "build", str(source), "-o", str(tmp_path / "whole")]) == 0
        parts = self.build(source, tmp_path, 3)
        merge_indexes([parts[2], parts[0], parts[1]], tmp_path / "index", link=True)
        assert content_of(tmp_path / "index") == content_of(tmp_path / "whole")
        assert found(tmp_path / "index") == found(tmp_path / "whole")
        # a run over the source takes it for an index of the source
        sources = [read_manifest(tmp_path / name).source for name in ("index", "whole")]
        assert sources[0] == sources[1]
        merge_indexes([tmp_path / "index"], tmp_path / "index")
        assert read_manifest(tmp_path / "index").source == sources[1]
        build_index(entries(ONE), tmp_path / "one", BuildOptions(PORTER))
        merge_indexes([tmp_path / "index", tmp_path / "one"], tmp_path / "more")
        assert not read_manifest(tmp_path / "more").source

    def test_a_missing_part_is_named(self, source: Path, tmp_path: Path) -> None:
        parts = self.build(source, tmp_path, 3)
        with pytest.raises(DataError, match=r"^part 2 of 3 is missing; build it with: "):
            merge_indexes([parts[0], parts[2]], tmp_path / "index")
        twice = tmp_path / "twice"
        shutil.copytree(parts[1], twice)
        with pytest.raises(DataError, match=r"part-2: is part 2 of 3, and so is .*twice; "):
            merge_indexes([*parts, twice], tmp_path / "index")
        with pytest.raises(DataError, match=r"part-1: is part 1 of 3, and so is .*part-1; "):
            merge_indexes([parts[0], *parts], tmp_path / "index")
        delete_documents(parts[1], ["d700"])
        with pytest.raises(DataError, match=r"part-2: is no part of the source that .*part-1 is"):
            merge_indexes(parts, tmp_path / "index")

    def test_there_is_no_empty_part(self, tmp_path: Path, capsys) -> None:
        one = write_lines(tmp_path / "one.jsonl", {"id": "a", "text": "x"})
        command = ["index", "build", str(one), "-o", str(tmp_path / "index"), "--shard"]
        assert cli.main([*command, "1/2"]) == 1
        assert "one.jsonl: part 1 of 2 has no document; take fewer parts" in capsys.readouterr().err
        with pytest.raises(SystemExit):
            cli.main([*command, "3/2"])
        assert "found '3/2'; expected a part of all, like 2/4" in capsys.readouterr().err

    @staticmethod
    def build(source: Path, folder: Path, of: int) -> list[Path]:
        parts = [folder / f"part-{number}" for number in range(1, of + 1)]
        for number, part in enumerate(parts, start=1):
            command = ["index", "build", str(source), "-o", str(part), "--quiet"]
            assert cli.main([*command, "--shard", f"{number}/{of}"]) == 0
        return parts


def lines(texts: Iterable[str]) -> bytes:
    return b"".join(b'{"id": "p%d", "text": "%s"}\n' % (n, t.encode()) for n, t in enumerate(texts))


def read(corpus: Corpus, on_error: Callable[[DataError], None] | None = None) -> list[str]:
    reading = Reading(on_error) if on_error else Reading()
    return [record.id for file in corpus.files for record in corpus.read(file, reading)]


def test_the_command_builds_shards(tmp_path: Path, capsys) -> None:
    rows = [{"id": f"d{n}", "text": f"school {n % 17}"} for n in range(600)]
    source = write_lines(tmp_path / "docs.jsonl", *rows)
    whole, index = str(tmp_path / "whole"), str(tmp_path / "index")
    assert cli.main(["index", "build", str(source), "-o", whole]) == 0
    build = ["index", "build", str(source), "-o", index, "--shards", "2"]
    assert cli.main(build) == 0
    assert "documents  600 entries" in capsys.readouterr().out
    assert content_of(Path(index)) == content_of(Path(whole))
    check_tidy(Path(index))
    before = files_of(Path(index))
    with source.open("a") as file:
        file.write("no record\n")
    assert cli.main(build) == 1
    shown, told = capsys.readouterr()
    assert (shown, told.count("\n")) == ("", 1)
    assert "docs.jsonl, line 601: the line cannot be used" in told
    assert files_of(Path(index)) == before
    source.write_text("".join(source.read_text().splitlines(keepends=True)[:-1]))
    assert cli.main([*build[:-1], "257"]) == 2
    assert "found 257 shards; expected at most 256" in capsys.readouterr().err
    assert cli.main([*build[:3], *build[2:], "--skip-invalid"]) == 1
    assert "occurs more than once in the source; every" in capsys.readouterr().err
    assert files_of(Path(index)) == before
    assert cli.main(["index", "merge", index, whole, "-o", index]) == 1
    assert "is in two shards, index and whole" in capsys.readouterr().err
    assert cli.main(["index", "merge", index, "-o", index]) == 0
    with IndexReader.open(index) as opened:
        assert len(opened.segments) == 1
