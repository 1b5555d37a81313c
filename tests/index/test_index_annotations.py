"""Annotations: what is stored is what a model gave, whatever happens to the index meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from sicetnon.errors import BrokenIndexError, SicetnonError, UsageError
from sicetnon.index import annotations
from sicetnon.index.annotations import Annotation, AnnotationProgress, Annotator, packed, unpacked
from sicetnon.index.compaction import MAX_SEGMENTS
from sicetnon.index.manifest import read_manifest, write_manifest
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    annotate_index,
    build_index,
    delete_documents,
)
from sicetnon.records import Record
from support.annotation_cases import (
    BOTH,
    EMBEDDING,
    MORE,
    OPTIONS,
    QUALITY,
    SMALL,
    annotator,
    check,
    said,
)
from support.index_cases import IDS, PORTER, SETTINGS, Documents, compact_index, documents, entries
from support.stand_ins import strengths


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An index of some documents without annotations."""
    build_index(entries(SMALL), tmp_path / "index", BuildOptions(PORTER))
    return tmp_path / "index"


# --- how numbers are stored ---

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@SETTINGS
@given(arrays.arrays(np.float32, st.integers(0, 9), elements=FLOATS))
def test_single_numbers_are_stored_as_they_are(values: NDArray[np.float32]) -> None:
    np.testing.assert_array_equal(unpacked(packed(values)), values)


@SETTINGS
@given(arrays.arrays(np.float32, st.tuples(st.integers(0, 9), st.integers(1, 40)), elements=FLOATS))
def test_of_vectors_the_direction_is_stored(values: NDArray[np.float32]) -> None:
    stored = packed(values)
    assert stored.dtype == np.int8
    found = unpacked(stored)
    wide = values.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    is_zero = lengths == 0
    assert not found[is_zero].any()
    np.testing.assert_allclose(np.linalg.norm(found[~is_zero], axis=1), 1, atol=1e-5)
    cosines = (found[~is_zero] * (wide[~is_zero] / lengths[~is_zero, None])).sum(axis=1)
    # half a step of 1/127 in every component at most
    least = 1 - values.shape[1] * (0.5 / 127) ** 2
    assert (cosines >= min(least, 1 - 1e-5)).all()


def test_an_array_of_another_shape_is_refused() -> None:
    for values in (np.zeros((2, 3, 4)), np.zeros(3), np.float64(1), np.zeros((1, 3))):
        wrong = annotator(compute=lambda _, values=values: values)
        with pytest.raises(SicetnonError, match=r"stand-in 1 gave an array of shape \(.* 2 texts"):
            wrong.numbers(["a", "b"])
    for value in (np.nan, np.inf):
        wrong = annotator(compute=lambda texts, value=value: np.full(len(texts), value))
        with pytest.raises(SicetnonError, match="gave a quality that is no finite number"):
            wrong.numbers(["a"])
    with pytest.raises(ValueError, match="'Qu-1'; expected small letters"):
        annotator("Qu-1")


# --- reading ---


def test_an_index_without_annotations(small: Path) -> None:
    with IndexReader.open(small) as index:
        assert index.annotation("quality") is None
    check(small, SMALL)


@pytest.mark.parametrize("cuts", [(), (5,), (3, 9)])
def test_reading_by_number(tmp_path: Path, cuts: tuple[int, ...]) -> None:
    folder, names = tmp_path / "index", list(SMALL)
    change: Callable[..., object] = build_index
    for begin, end in zip((0, *cuts), (*cuts, len(names)), strict=True):
        change(entries({name: SMALL[name] for name in names[begin:end]}), folder, OPTIONS)
        change = add_documents
    annotate_index(folder, BOTH)
    with IndexReader.open(folder) as index:
        assert len(index.segments) == len(cuts) + 1
        texts = [record.default_text() for record in index.records_at(range(len(names)))]
        for each in BOTH:
            found = index.annotation(each.name)
            assert found is not None
            whole = unpacked(packed(each.numbers(texts)))
            assert (found.shape, len(found)) == (whole.shape, len(names))
            np.testing.assert_array_equal(np.asarray(found), whole)
            assert np.asarray(found, dtype=np.float64).dtype == np.float64
            np.testing.assert_array_equal(found[[7, 0, 11, 7]], whole[[7, 0, 11, 7]])
            assert found[[]].shape == (0, *whole.shape[1:])
            blocks = list(found.blocks(4))
            assert [first for first, _ in blocks] == sorted(first for first, _ in blocks)
            assert all(len(block) <= 4 for _, block in blocks)
            np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), whole)
            for wrong in ([-1], [0, len(names)]):
                with pytest.raises(IndexError, match="of 12"):
                    found[wrong]
            with pytest.raises(ValueError, match="has to be unpacked"):
                np.array(found, copy=False)


# --- annotating ---


def test_annotating_tells_how_far_it_is(small: Path) -> None:
    add_documents(entries(MORE), small, BuildOptions(PORTER))
    told: list[AnnotationProgress] = []
    manifest = annotate_index(small, [annotator(batch_documents=5), EMBEDDING], told.append)
    assert manifest == read_manifest(small)
    names = ("quality", "embedding")
    assert told == [AnnotationProgress(names, done, 19) for done in (5, 10, 12, 17, 19)]
    check(small, {**SMALL, **MORE}, *BOTH)


def test_batches_are_bounded_by_what_they_hold(small: Path) -> None:
    sizes = []

    def compute(texts: Sequence[str]) -> NDArray[np.float64]:
        sizes.append(len(texts))
        return strengths(texts)

    annotate_index(small, [annotator(compute=compute, batch_characters=40)])
    # the first is the one that tells the form
    assert sizes == [1, 3, 3, 3, 3]


def test_what_is_there_already_is_not_computed_again(small: Path) -> None:
    annotate_index(small, [QUALITY])

    def never(_: Sequence[str]) -> NDArray[np.float64]:
        raise AssertionError

    before = read_manifest(small)
    annotate_index(small, [annotator(compute=never), EMBEDDING])
    after = read_manifest(small)
    assert after.source == before.source
    check(small, SMALL, *BOTH)


@pytest.mark.parametrize(
    "other", [{"model": "stand-in 2"}, {"reads": "half the text", "text": lambda r: said(r)[::2]}]
)
def test_another_model_takes_the_place_of_the_one_before(
    small: Path, other: dict[str, Any]
) -> None:
    annotate_index(small, BOTH)
    later = annotator(compute=lambda texts: strengths(texts) / 2, **other)
    annotate_index(small, [later])
    check(small, SMALL, later, EMBEDDING)


def test_deleted_documents_are_not_read(small: Path) -> None:
    delete_documents(small, ["d3", "d11"])
    read: list[str] = []

    def text(record: Record) -> str:
        read.append(record.id)
        return said(record)

    annotate_index(small, [annotator(text=text), EMBEDDING])
    left = {i: texts for i, texts in SMALL.items() if i not in ("d3", "d11")}
    assert read == list(left)
    check(small, left, QUALITY, EMBEDDING)
    with IndexReader.open(small) as index:
        assert not np.asarray(index.annotation("embedding"))[[3, 11]].any()


def test_a_build_in_place_of_an_annotated_index_begins_anew(small: Path) -> None:
    annotate_index(small, BOTH)
    build_index(entries(MORE), small, OPTIONS)
    check(small, MORE)


# --- what comes later ---


def test_what_is_added_is_annotated_too(small: Path) -> None:
    annotate_index(small, BOTH)
    told: list[AnnotationProgress] = []
    add_documents(entries(MORE), small, replace(OPTIONS, annotated=told.append))
    assert told == [AnnotationProgress(("quality", "embedding"), len(MORE), len(MORE))]
    check(small, {**SMALL, **MORE}, *BOTH)
    changed: Documents = {"d1": ("written anew",), "m2": ("likewise",)}
    add_documents(entries(changed), small, OPTIONS, replace=True)
    check(small, {**SMALL, **MORE, **changed}, *BOTH)


def test_adding_merges_segments_with_their_annotations(tmp_path: Path) -> None:
    folder, expected = tmp_path / "index", dict(SMALL)
    build_index(entries(SMALL), folder, OPTIONS)
    annotate_index(folder, BOTH)
    for number in range(MAX_SEGMENTS):
        added: Documents = {f"x{number}": (f"added, {number}",)}
        add_documents(entries(added), folder, OPTIONS)
        expected |= added
    delete_documents(folder, ["d5", "x2"])
    expected = {i: texts for i, texts in expected.items() if i not in ("d5", "x2")}
    check(folder, expected, *BOTH)
    compact_index(folder, batch_documents=3)
    check(folder, expected, *BOTH)


@pytest.mark.parametrize(
    ("at_hand", "message"),
    [
        ([], "there is none here"),
        ([EMBEDDING], "there is none here"),
        ([annotator(model="stand-in 2")], "here it is by stand-in 2 from the text"),
        ([annotator(reads="its end")], "here it is by stand-in 1 from its end"),
    ],
)
def test_adding_by_another_model_is_refused(
    small: Path, at_hand: list[Annotator], message: str
) -> None:
    annotate_index(small, [QUALITY])
    with pytest.raises(UsageError) as caught:
        add_documents(entries(MORE), small, BuildOptions(PORTER, annotators=at_hand))
    assert str(caught.value) == (
        f"{small}: the quality of its documents is by stand-in 1 from the text, and that of what "
        f"is added must be too; {message}. To make all anew first: "
        f"sicetnon index annotate {small} --with quality"
    )
    check(small, SMALL, QUALITY)


CHANGE = st.one_of(
    st.tuples(st.just("add"), documents(1)),
    st.tuples(st.just("delete"), st.lists(IDS, max_size=3)),
    st.tuples(st.just("compact"), st.none()),
    st.tuples(st.just("annotate"), st.sampled_from([*BOTH, annotator(model="stand-in 2")])),
)


@SETTINGS
@given(first=documents(1), changes=st.lists(CHANGE, max_size=6))
def test_annotations_survive_any_changes(
    first: Documents, changes: list[tuple[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed") / "index"
    build_index(entries(first), folder, OPTIONS)
    expected, wanted = dict(first), dict[str, Annotator]()
    for change, what in changes:
        if change == "add":
            options = BuildOptions(PORTER, annotators=list(wanted.values()))
            add_documents(entries(what), folder, options, replace=True)
            expected |= what
        elif change == "delete" and set(expected) - set(what):
            delete_documents(folder, what)
            expected = {i: texts for i, texts in expected.items() if i not in what}
        elif change == "compact":
            compact_index(folder)
        elif change == "annotate":
            annotate_index(folder, [what])
            wanted[what.name] = what
    check(folder, expected, *wanted.values())


# --- what does not belong together ---


def test_a_manifest_that_promises_what_is_not_there(small: Path) -> None:
    add_documents(entries(MORE), small, BuildOptions(PORTER))
    annotate_index(small, BOTH)
    manifest = read_manifest(small)
    file = annotations.annotation_file("quality", QUALITY.entry)
    other = annotations.annotation_file("embedding", EMBEDDING.entry)
    first = manifest.segments[0]
    lacking = {name: stored for name, stored in first.files.items() if name != file}
    unlike = msgspec.structs.replace(first.files[file], crc32=first.files["lengths_0"].crc32)
    for files, message in (
        (lacking, f"its manifest lacks '{file}'"),
        ({**first.files, file: unlike}, "checksum"),
        ({**first.files, other: first.files[file]}, "expected"),
    ):
        entry = msgspec.structs.replace(first, files=files)
        segments = (entry, *manifest.segments[1:])
        write_manifest(small, msgspec.structs.replace(manifest, segments=segments))
        with pytest.raises(BrokenIndexError, match=message):
            IndexReader.open(small)
    swapped = {**manifest.annotations, "embedding": annotator(model="stand-in 9").entry}
    write_manifest(small, msgspec.structs.replace(manifest, annotations=swapped))
    with pytest.raises(BrokenIndexError, match="its manifest lacks 'annotation-embedding"):
        IndexReader.open(small)
    write_manifest(small, manifest)
    check(small, {**SMALL, **MORE}, *BOTH)


def test_numbers_for_other_documents_are_refused(small: Path) -> None:
    annotate_index(small, BOTH)
    with IndexReader.open(small) as index:
        (segment,) = index.segments
        wrong = msgspec.structs.replace(segment.entry, documents=len(SMALL) + 1)
        segment.entry = wrong
        message = r"found an array of float32, shape \(12,\), for 13 documents"
        with pytest.raises(BrokenIndexError, match=message):
            annotations.read_annotations(index.manifest, [segment])


def test_vectors_of_two_widths_do_not_belong_together(small: Path, tmp_path: Path) -> None:
    wide = annotator("embedding", compute=lambda texts: np.ones((len(texts), 9)))
    annotate_index(small, [EMBEDDING])
    build_index(entries(MORE), tmp_path / "other", BuildOptions(PORTER))
    annotate_index(tmp_path / "other", [wide])
    with (
        IndexReader.open(small) as one,
        IndexReader.open(tmp_path / "other") as other,
        pytest.raises(BrokenIndexError, match="do not belong together"),
    ):
        Annotation("embedding", EMBEDDING.entry, [*one.segments, *other.segments])


def test_an_index_of_before_is_read(small: Path) -> None:
    """Manifests had no word of annotations once."""
    manifest = msgspec.json.decode((small / "manifest.json").read_bytes())["manifest"]
    assert manifest.pop("annotations") == {}
    body = json.dumps(manifest)
    seal = hashlib.sha256(body.encode()).hexdigest()
    (small / "manifest.json").write_text(f'{{"manifest": {body}, "sha256": "{seal}"}}')
    check(small, SMALL)
    annotate_index(small, BOTH)
    check(small, SMALL, *BOTH)
