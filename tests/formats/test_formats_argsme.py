"""The args.me corpus: streamed from any layout and any chunking, official ids, clear refusals."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sicetnon.errors import DataError
from sicetnon.formats.entries import portal_files, read_arguments
from sicetnon.formats.files import Limits, Reading
from sicetnon.records import Argument, Premise

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SICETNON_DATA") or ROOT / ".." / "shared" / "data")
SAMPLE = ROOT / "examples" / "touche-2020-task-1" / "input"
BOM = b"\xef\xbb\xbf"
modestly = settings(max_examples=80, derandomize=True)

TRICKY = 'a "quoted" {brace} [list] \\ back\\" é 😀 \u2028 \x7f end\\'


def argument(number: int = 1, **changes: Any) -> dict[str, Any]:
    plain = {
        "id": f"S1-A{number}",
        "conclusion": f"Conclusion {number}",
        "premises": [{"text": TRICKY, "stance": "CON", "annotations": [{"start": 0}]}],
        "context": {"sourceId": "S1", "discussionTitle": "A title", "aspects": [{"rank": 1}]},
    }
    return {key: value for key, value in (plain | changes).items() if value is not ...}


def record(plain: dict[str, Any]) -> Argument:
    premises = tuple(Premise(p["text"], p.get("stance")) for p in plain["premises"])
    return Argument(plain["id"], plain["conclusion"], premises, plain.get("context", {}))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write_file(text: str | bytes) -> Path:
        path = tmp_path / "corpus.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


Write = Callable[[str | bytes], Path]

THREE = [argument(1), argument(2, context={}), argument(3, context=...)]
LAYOUTS = {
    "pretty": json.dumps({"arguments": THREE}, indent=2).encode(),
    "one line": json.dumps({"arguments": THREE}, ensure_ascii=False).encode(),
    "no blanks": json.dumps({"arguments": THREE}, separators=(",", ":")).encode(),
    "Windows": json.dumps({"arguments": THREE}, indent=1).replace("\n", "\r\n").encode(),
    "BOM": BOM + json.dumps({"arguments": THREE}).encode(),
    "gzip": gzip.compress(json.dumps({"arguments": THREE}, indent=1).encode()),
    "gzip with BOM": gzip.compress(BOM + json.dumps(THREE).encode()),
    "list": json.dumps(THREE).encode(),
    "pretty list": b"\n\t " + json.dumps(THREE, indent=4).encode() + b"\n\n",
    "other keys": json.dumps(
        {
            "query": "arguments",
            "meta": {"arguments": [{"id": 1}], "deep": {"x": [[{}], {}]}},
            "argument": [{"x": 1}],
            "argumentsX": [{"x": 2}],
            "arguments": THREE,
            "after": [{"y": {"z": []}}],
            "totalSize": 3,
        }
    ).encode(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 22])
def test_every_layout_gives_the_same_arguments(layout: str, chunk: int, write: Write) -> None:
    reading = Reading(chunk_bytes=chunk)
    assert list(read_arguments(write(LAYOUTS[layout]), reading)) == [record(item) for item in THREE]


def test_reading_counts_the_bytes_on_disk(write: Write) -> None:
    path, reading = write(LAYOUTS["gzip"]), Reading()
    assert len(list(read_arguments(path, reading))) == 3
    assert reading.bytes_read == path.stat().st_size


@pytest.mark.parametrize("text", ['{"arguments": []}', "[]", ' {"x": [1], "arguments": [ ] } '])
def test_an_empty_list_has_no_arguments(text: str, write: Write) -> None:
    assert list(read_arguments(write(text))) == []


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
CONTEXTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=3)
ARGUMENTS = st.fixed_dictionaries(
    {
        "id": st.from_regex(r"[!-~]{1,8}", fullmatch=True),
        "conclusion": st.text(),
        "premises": st.lists(
            st.fixed_dictionaries({"text": st.text()}, optional={"stance": st.just("PRO")}),
            min_size=1,
            max_size=3,
        ),
    },
    optional={"context": CONTEXTS},
)


@modestly
@given(
    found=st.lists(ARGUMENTS, max_size=4),
    before=CONTEXTS,
    after=CONTEXTS,
    indent=st.sampled_from([None, 0, 3]),
    plain_ascii=st.booleans(),
    bare=st.booleans(),
    chunk=st.integers(1, 64),
)
def test_streaming_equals_parsing_at_any_chunk_border(
    found: list[dict[str, Any]],
    before: dict[str, Any],
    after: dict[str, Any],
    indent: int | None,
    plain_ascii: bool,
    bare: bool,
    chunk: int,
) -> None:
    outer = found if bare else before | {"arguments": found} | after | {"arguments": found}
    text = json.dumps(outer, indent=indent, ensure_ascii=plain_ascii)
    parsed = json.loads(text)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_text(text, "utf-8")
        streamed = list(read_arguments(file.name, Reading(chunk_bytes=chunk)))
    assert streamed == [record(item) for item in (parsed if bare else parsed["arguments"])]


HALVES = st.text(alphabet=st.sampled_from('a\\"{😀é\ud83d\ude00\udfff'), max_size=8)


@modestly
@given(conclusion=HALVES, premise=HALVES, key=HALVES)
def test_half_characters_become_replacement_characters(
    conclusion: str, premise: str, key: str
) -> None:
    plain = argument(conclusion=conclusion, premises=[{"text": premise}], context={key: [premise]})
    text = json.dumps([plain])
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_text(text, "ascii")
        (found,) = read_arguments(file.name)
    (expected,) = json.loads(text)
    whole = re.compile("[\ud800-\udfff]")
    assert found.conclusion == whole.sub("\ufffd", expected["conclusion"])
    assert found.premise == whole.sub("\ufffd", expected["premises"][0]["text"])
    assert found.context == {
        whole.sub("\ufffd", key): [found.premise] for key in expected["context"]
    }
    found.default_text().encode("utf-8")


def test_bytes_that_are_no_utf8_are_refused(write: Write) -> None:
    data = json.dumps([argument(conclusion="caf#")]).encode().replace(b"#", b"\xe9")
    with pytest.raises(DataError, match=r"line 1: .* is not UTF-8"):
        next(read_arguments(write(data)))


@pytest.mark.parametrize("layout", ["pretty", "one line", "Windows", "BOM", "gzip", "list"])
def test_cut_at_any_byte_is_one_error_that_names_the_file(layout: str, write: Write) -> None:
    whole = LAYOUTS[layout]
    for size in range(len(whole)):
        path = write(whole[:size])
        with pytest.raises(DataError) as caught:
            list(read_arguments(path))
        message = str(caught.value)
        assert message.startswith(str(path))
        assert "\n" not in message
        assert caught.value.line or layout == "gzip" or size <= len(BOM)


def test_a_cut_is_placed_where_the_element_begins(write: Write) -> None:
    text = '{"arguments": [\n' + json.dumps(argument(1)) + ",\n" + json.dumps(argument(2))[:30]
    with pytest.raises(DataError, match=r"line 3: .* element 2 .* cut short; copy or download"):
        list(read_arguments(write(text)))


GOOD = json.dumps(argument())
DAMAGED: dict[str, tuple[str | bytes, int | None, str]] = {
    "empty": ("", None, "found an empty file"),
    "blank": (" \n\n ", None, "found an empty file"),
    "only a BOM": (BOM, None, "found an empty file"),
    "a string": ('"arguments"', None, "found '\"'"),
    "XML": ("<topics/>", None, "found '<'"),
    "null": ("null", None, "found 'n'"),
    "another key": (f'{{"docs": [{GOOD}]}}', None, "an object with the keys ['docs']"),
    "no list": (f'{{"arguments": {GOOD}}}', None, "an object with the keys ['arguments']"),
    "numbers": ('{"arguments": [1, 2]}', 1, "found '1'"),
    "number first": (f"[\n\n5, {GOOD}]", 3, "found '5,'"),
    "number between": (f"[{GOOD},\n5,\n{GOOD}]", 2, "found ',\\n5,"),
    "number last": (f"[\n{GOOD},\n\n7]", 4, "after element 1"),
    "comma last": (f"[{GOOD},\n]", 2, "after element 1"),
    "no comma": (f"[{GOOD}\n{GOOD}]", 2, "after element 1"),
    "two commas": (f"[{GOOD},,{GOOD}]", 1, "found ',,'"),
    "something behind": (f"[{GOOD}]\n\nx", None, "after element 1"),
    "a list of lists": (f"[[{GOOD}]]", None, "arguments"),
    "JSON Lines": (f"{GOOD}\n{GOOD}\n", None, ""),
    "closed too often": (f"[{GOOD}]]", 1, "found ']]'"),
    "single quotes around": (f"{{'v': 1,\n\"arguments\": [{GOOD}]}}", 1, "before the first"),
    "nested without end": ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", None, "nested too"),
}


@pytest.mark.parametrize("case", DAMAGED)
@pytest.mark.parametrize("chunk", [2, 1 << 22])
def test_damaged_files_are_refused(case: str, chunk: int, write: Write) -> None:
    text, line, part = DAMAGED[case]
    path = write(text)
    with pytest.raises(DataError) as caught:
        list(read_arguments(path, Reading(chunk_bytes=max(chunk, len(text) // 1000))))
    assert caught.value.file == path
    assert line is None or caught.value.line == line
    assert part in str(caught.value)


def test_a_file_of_something_else_is_given_up_in_bounded_memory(write: Write) -> None:
    reading = Reading(chunk_bytes=100, limits=Limits(record_bytes=1000))
    path = write(json.dumps({"docs": [{"x": 1}] * 10_000}))
    with pytest.raises(DataError, match=r"element 1 .* more than 1,000 bytes"):
        list(read_arguments(path, reading))


@pytest.mark.parametrize("path", ["missing.json", "."])
def test_what_cannot_be_opened_is_a_data_error(path: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        list(read_arguments(tmp_path / path))


UNUSABLE = {
    "premises missing": (argument(premises=...), "`premises`"),
    "premises empty": (argument(premises=[]), "has no premise"),
    "premises a text": (argument(premises="x"), "premises"),
    "premise without text": (argument(premises=[{"stance": "PRO"}]), "`text`"),
    "wrong stance": (argument(premises=[{"text": "x", "stance": "MAYBE"}]), "'MAYBE'"),
    "id missing": (argument(id=...), "`id`"),
    "id a number": (argument(id=5), "`id`|[$].id"),
    "id empty": (argument(id=""), "is empty or holds white space"),
    "id with a space": (argument(id="a b"), "is empty or holds white space"),
    "id with a tab": (argument(id="a\t"), "is empty or holds white space"),
    "conclusion missing": (argument(conclusion=...), "`conclusion`"),
    "conclusion null": (argument(conclusion=None), "conclusion"),
    "context a list": (argument(context=[]), "context"),
    "no object inside": ({}, "`id`"),
}


@pytest.mark.parametrize("case", UNUSABLE)
@pytest.mark.parametrize("start", [b"", BOM, b"\n\n"])
def test_unusable_arguments_are_named_by_line_and_may_be_skipped(
    case: str, start: bytes, write: Write
) -> None:
    bad, part = UNUSABLE[case]
    lines = ["[", GOOD + ",", json.dumps(bad) + ",", json.dumps(argument(3)), "]"]
    path = write(start + "\n".join(lines).encode())
    line = 3 + start.count(b"\n")
    with pytest.raises(DataError, match=rf"line {line}: argument 2 cannot be used.*({part})"):
        list(read_arguments(path))
    errors: list[DataError] = []
    found = list(read_arguments(path, Reading(on_error=errors.append)))
    assert [item.id for item in found] == ["S1-A1", "S1-A3"]
    assert [(error.file, error.line) for error in errors] == [(path, line)]


@pytest.mark.parametrize("half", ["", "\\ud83d"])
def test_bottomless_nesting_in_an_argument_is_one_error(half: str, write: Write) -> None:
    nested = "[" * 50_000 + "]" * 50_000
    bad = json.dumps(argument(conclusion="#", context={"x": "@"}))
    path = write("[\n" + bad.replace('"@"', nested).replace("#", half) + "]")
    with pytest.raises(DataError, match=r"line 2: argument 1 .* nested too deeply"):
        list(read_arguments(path))


def test_invalid_json_inside_an_argument_is_one_error(write: Write) -> None:
    path = write(f'[{GOOD},\n{{"id": "x", "conclusion": nope}}]')
    with pytest.raises(DataError, match="line 2: argument 2 cannot be used"):
        list(read_arguments(path))


def arguments_of(directory: Path) -> Iterator[Argument]:
    for path in portal_files(directory):
        yield from read_arguments(path)


def test_portal_files_are_five_or_one(tmp_path: Path) -> None:
    assert [path.stem for path in portal_files(SAMPLE)] == [
        "debateorg", "debatepedia", "debatewise", "idebate", "parliamentary",
    ]  # fmt: skip
    (tmp_path / "args-me.json").write_text("[]")
    assert portal_files(tmp_path) == [tmp_path / "args-me.json"]


def test_a_missing_portal_is_named(tmp_path: Path) -> None:
    for name in ("debateorg", "debatepedia", "debatewise", "parliamentary"):
        (tmp_path / f"{name}.json").write_text("[]")
    with pytest.raises(
        DataError, match=r"lacks idebate\.json; expected .*debateorg\.json"
    ) as caught:
        portal_files(tmp_path)
    assert caught.value.file == tmp_path


OFFICIAL = {
    "debateorg": (5308, "S1039ff27-Afc270c6", "Sffec9266-A3090bd3c", "589dfbe10fb1ee39"),
    "debatepedia": (1045, "S1246b58c-A2bd8b296", "Sffe8de8d-Acbd16793", "17c9dc622b9e9b32"),
    "debatewise": (2989, "S10455028-A31095300", "Sff4caa4e-Ac9725513", "99a237145f5ee728"),
    "idebate": (0, None, None, "e3b0c44298fc1c14"),
    "parliamentary": (48, "S1f6b58eb-A5c530110", "S153cd52f-A118dded8", "b02530b37d77caf9"),
}
"""Of each portal: arguments, first id, last id, and the SHA-256 of all ids, one a line."""


@pytest.mark.parametrize("portal", OFFICIAL)
def test_the_official_corpus_is_read_whole(portal: str) -> None:
    path = DATA / "touche-2020-task-1" / "input" / f"{portal}.json"
    if not path.is_file():
        pytest.skip(f"{path} is absent (SICETNON_DATA)")
    found = list(read_arguments(path))
    ids = [item.id for item in found]
    checksum = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
    ends = (ids[0], ids[-1]) if ids else (None, None)
    assert (len(ids), *ends, checksum) == OFFICIAL[portal]
