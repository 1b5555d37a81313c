"""Indexes that are wrong in one way, while all their checksums fit."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import zstandard

from sicetnon.index.document_store import DocumentWriter
from sicetnon.index.manifest import MANIFEST

Manifest = dict[str, Any]
Craft = Callable[[Path, Manifest, Random], str | None]
"""Changes the files or the manifest of an index; None where the index has nothing to change."""

_INTEGERS = (-1, 0, 1, 2**15, 2**31 - 1, 2**31, 2**40, 2**62, -(2**31), -(2**62))
_JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2.5, 1e308, 10**9, 2**63, 10**40, "", "x", "../x", "/etc/passwd",
    "\x1b[2J", [], [[]], ["x"], [-1], [1, 2, 3], {}, {"x": {}}, "x" * 300,
)  # fmt: skip


def crafted(folder: Path, rng: Random) -> str:
    """Make an index wrong in one way, and let all checksums fit.

    Args:
        folder: An index, which is changed.
        rng: Chooses the way.

    Returns:
        What was done, for messages.
    """
    manifest = read(folder)
    done = None
    while done is None:
        craft = rng.choice(CRAFTS)
        done = craft(folder, manifest, rng)
    seal(folder, manifest)
    return f"{craft.__name__}: {done}"


def read(folder: Path) -> Manifest:
    """The manifest of an index."""
    found: Manifest = json.loads((folder / MANIFEST).read_bytes())["manifest"]
    return found


def seal(folder: Path, manifest: Manifest) -> None:
    """Write a manifest with the sizes and checksums that its files have now."""
    segments = manifest.get("segments")
    for entry in segments if isinstance(segments, list) else []:
        for name, stored in _files(entry).items():
            path = folder / str(entry.get("name")) / name
            is_kept = isinstance(stored, dict) and stored.pop("kept", False)
            # a crafted name may be longer than a name can be
            with contextlib.suppress(OSError, TypeError, ValueError):
                data = path.read_bytes()
                stored["crc32"] = zlib.crc32(data)
                stored["size"] = stored["size"] if is_kept else len(data)
    # what JSON of the standard library cannot nest
    body = json.dumps(manifest, indent=1).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
    digest = hashlib.sha256(body.encode()).hexdigest()
    (folder / MANIFEST).write_text(f'{{"manifest": {body},\n"sha256": "{digest}"}}\n')


def _files(entry: Any) -> dict[str, Any]:
    files = entry.get("files") if isinstance(entry, dict) else None
    return files if isinstance(files, dict) else {}


def _array(
    folder: Path, manifest: Manifest, rng: Random, *names: str
) -> tuple[Path, np.ndarray[Any, Any]] | None:
    """One of some arrays, in memory; names may be the beginnings of names."""
    entry = rng.choice(manifest["segments"])
    found = [n for n in entry["files"] if n.startswith(names) and entry["files"][n]["size"]]
    arrays = sorted(name for name in found if "dtype" in entry["files"][name])
    arrays = [name for name in arrays if entry["files"][name]["dtype"]]
    if not arrays:
        return None
    path = folder / entry["name"] / rng.choice(arrays)
    return path, np.frombuffer(path.read_bytes(), entry["files"][path.name]["dtype"]).copy()


def _set(values: np.ndarray[Any, Any], place: int, value: int) -> None:
    # wraps around, as an assignment would not
    values[place] = np.array(value).astype(values.dtype)


def _rewrite(
    folder: Path,
    manifest: Manifest,
    rng: Random,
    names: Sequence[str],
    change: Callable[[np.ndarray[Any, Any]], None],
    fits: Callable[[np.ndarray[Any, Any]], bool] = lambda _: True,
) -> str | None:
    """Change the values of one of some arrays; its name, or None where none fits."""
    found = _array(folder, manifest, rng, *names)
    if found is None or not fits(found[1]):
        return None
    path, values = found
    with np.errstate(all="ignore"):
        change(values)
    path.write_bytes(values.tobytes())
    return path.name


def change_numbers(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Set some numbers of any array to others."""

    def change(values: np.ndarray[Any, Any]) -> None:
        for _ in range(rng.choice((1, 1, 3, len(values)))):
            _set(values, rng.randrange(len(values)), rng.choice(_INTEGERS))

    return _rewrite(folder, manifest, rng, [""], change)


def change_offsets(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Set an offset that is neither the first nor the last to one before or behind the others."""

    def change(values: np.ndarray[Any, Any]) -> None:
        last = int(values[-1])
        place = rng.randrange(1, len(values) - 1)
        _set(values, place, rng.choice((-1, 0, last, last + 1, 2**40, 2**62)))

    # the beginnings of names: each has a file with bases, too
    names = ("ids_offsets", "terms_offsets", "stems_offsets", "posting_offsets", "form_offsets")
    return _rewrite(folder, manifest, rng, names, change, lambda values: len(values) >= 3)


def lengthen_an_id(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Make an id 1,500 bytes longer and another 1,400 shorter, which only their sum hides."""

    def change(values: np.ndarray[Any, Any]) -> None:
        place = rng.randrange(1, len(values) - 4)
        _set(values, place, int(values[place]) + 1500)
        _set(values, place + 2, int(values[place + 2]) - 1400)

    return _rewrite(folder, manifest, rng, ["ids_offsets"], change, lambda values: len(values) >= 8)


def change_tables(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Fill a part of a hash table with one number."""

    def change(values: np.ndarray[Any, Any]) -> None:
        for place in range(len(values)):
            _set(values, place, rng.choice((0, len(values), 2**31 - 1)))

    parts = ("numbers", "marks", "buckets")
    names = [f"{table}_{part}" for table in ("ids", "terms", "stems") for part in parts]
    return _rewrite(folder, manifest, rng, names, change)


def change_postings(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Change bits of packed postings."""

    def change(values: np.ndarray[Any, Any]) -> None:
        for _ in range(rng.choice((1, 1, 3, len(values)))):
            values[rng.randrange(len(values))] ^= np.uint64(1 << rng.randrange(64))

    return _rewrite(folder, manifest, rng, ["postings"], change)


def change_letters(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Write bytes into a table of words that are no UTF-8, blanks, or one word twice."""

    def change(values: np.ndarray[Any, Any]) -> None:
        first, letter = rng.randrange(len(values)), rng.choice((0xFF, 0x80, 0x20, 0x0A, 0))
        values[first : first + rng.choice((1, 4, len(values)))] = letter

    names = ("ids_letters", "terms_letters", "stems_letters")
    return _rewrite(folder, manifest, rng, names, change)


def change_annotation(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Write values into an annotation that are no finite numbers."""

    def change(values: np.ndarray[Any, Any]) -> None:
        values[rng.randrange(len(values))] = rng.choice((np.nan, np.inf, -np.inf))

    return _rewrite(
        folder, manifest, rng, ["annotation-"], change, lambda values: values.dtype == np.float32
    )


def change_mask(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Write a deletion mask of other values, or one that deletes others than its name says."""

    def change(values: np.ndarray[Any, Any]) -> None:
        values[rng.randrange(len(values)) :] = rng.choice((0, 1, 2, 255))

    return _rewrite(folder, manifest, rng, ["live-"], change)


def change_description(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Describe an array by another type, shape or size."""
    files = rng.choice(manifest["segments"])["files"]
    stored = files[rng.choice(sorted(files))]
    part = rng.choice(("dtype", "shape", "size"))
    if part == "dtype":
        types = ("int8", "uint8", "int32", "uint32", "int64", "float64", "object", "", "V8", "<U4")
        stored["dtype"] = rng.choice(types)
    elif part == "shape":
        shape = list(stored.get("shape", ())) or [stored["size"]]
        others = (
            shape[::-1], [*shape, 1], [1, *shape], [shape[0] + 1, *shape[1:]], [-1, *shape[1:]],
            [-shape[0], *shape[1:]], [2**62, 4], [], [0], [10**9, *shape[1:]], [1] * 70,
        )  # fmt: skip
        stored["shape"] = rng.choice(others)
    else:
        stored["size"] = rng.choice((0, -1, stored["size"] + 1, 2**40, 2**63))
        stored["kept"] = True
    return f"{part} of an array"


def change_documents(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Describe a segment with another number of documents."""
    entry = rng.choice(manifest["segments"])
    known = entry["documents"]
    entry["documents"] = rng.choice((10**9, 0, -1, known + 1, known - 1, 2**31, 2**63))
    return f"{entry['documents']} documents"


def change_names(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Give a segment, a file, a mask or an annotation a name that leads elsewhere."""
    name = rng.choice(
        ("../x", "..", ".", "", "/etc/passwd", f"../{folder.name}/segment-000001", "x" * 300,
         "a\0b", "segment-000001", "segment-000001/", "lengths_0", "lock", "\x1b]0;x\x07"),
    )  # fmt: skip
    entry = rng.choice(manifest["segments"])
    part = rng.choice(("segment", "file", "deleted", "annotation"))
    if part == "segment":
        entry["name"] = name
    elif part == "file":
        files = entry["files"]
        old = rng.choice(sorted(files))
        files[name] = files.pop(old) if rng.random() < 0.5 else dict(files[old])
    elif part == "deleted":
        entry["deleted"] = name
    else:
        manifest["annotations"][name] = {"model": "x", "reads": "y"}
    return f"the name {name!r} of a {part}"


def repeat_segment(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Name a segment twice, or name none."""
    segments = manifest["segments"]
    manifest["segments"] = rng.choice(([], segments * 2, segments[::-1] + segments[:1]))
    return f"{len(manifest['segments'])} segments"


def leave_out(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Leave a file out of the manifest."""
    files = rng.choice(manifest["segments"])["files"]
    name = rng.choice(sorted(files))
    del files[name]
    return f"no {name}"


def change_settings(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Put something else in place of one of the manifest's values, however deep."""
    place: Any = manifest
    path: list[str] = []
    while True:
        keys: list[Any] = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        path.append(str(key))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            place[key] = rng.choice(_JUNK)
            if place is not manifest and "crc32" in place and key == "size":
                place["kept"] = True
            return f"{'/'.join(path)} = {place[key]!r}"
        place = inner


def nest(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Nest a part of the manifest 100,000 deep."""
    part = rng.choice(("source", "analysis", "annotations", "segments", "unknown"))
    manifest[part] = {"x": "DEEP"}
    return f"{part} nested"


def change_fields(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Name other fields, or records of another kind."""
    if rng.random() < 0.5:
        fields = manifest["fields"]
        others = ([], fields * 2, [*fields, "more"], fields[:-1], ["x"] * len(fields))
        manifest["fields"] = rng.choice(others)
        return f"fields {manifest['fields']}"
    kinds = ("arguments", "processed", "passages", "pages", "none", "", "../x")
    manifest["records"] = rng.choice(kinds)
    return f"records {manifest['records']}"


def write_records(folder: Path, entry: dict[str, Any], records: Sequence[bytes]) -> None:
    """Put other records in place of those of a segment."""
    writer = DocumentWriter(folder / entry["name"])
    writer.add(records)
    entry["files"].pop("records_dictionary", None)
    for name, stored in writer.close().items():
        entry["files"][name] = {"dtype": stored.dtype, "shape": list(stored.shape)}


def write_frame(folder: Path, entry: dict[str, Any], frame: bytes, size: int) -> None:
    """Put one block of so many bytes, as it says, in place of all blocks of a segment."""
    arrays: dict[str, Any] = {
        "records": np.frombuffer(frame, np.uint8),
        "records_blocks": np.array([0, len(frame)]),
        "records_firsts": np.array([0, entry["documents"]]),
        "records_offsets": np.linspace(0, size, entry["documents"] + 1).astype(np.int64),
    }
    for name, values in arrays.items():
        (folder / entry["name"] / name).write_bytes(values.tobytes())
        entry["files"][name]["shape"] = [len(values)]


def endless_frame(size: int) -> bytes:
    """A frame of Zstandard that says a size, and holds 128 KiB of one letter (RFC 8878)."""
    one_block = (1 | 1 << 1 | (1 << 17) << 3).to_bytes(3, "little") + b"x"
    return b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + one_block


def write_large(folder: Path, manifest: Manifest, size: int) -> None:
    """Make each record of so many bytes, which take some hundred in its block."""
    for entry in manifest["segments"]:
        count = entry["documents"]
        record = b'{"id": "x", "texts": {"text": "' + b"a" * size + b'"}}'
        frame = zstandard.ZstdCompressor(1).compress(record)
        arrays: dict[str, Any] = {
            "records": np.frombuffer(frame * count, np.uint8),
            "records_blocks": np.arange(count + 1) * len(frame),
            "records_firsts": np.arange(count + 1),
            "records_offsets": np.arange(count + 1) * len(record),
        }
        entry["files"].pop("records_dictionary", None)
        for name, values in arrays.items():
            (folder / entry["name"] / name).write_bytes(values.tobytes())
            entry["files"][name]["shape"] = [len(values)]


def enlarge_records(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Write records that are much larger than their blocks."""
    size = rng.choice((1 << 16, 1 << 20, 20 << 20, 100 << 20))
    write_large(folder, manifest, size)
    return f"records of {size:,} bytes"


def overlap_postings(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Let the records of all terms be one long one."""

    def change(values: np.ndarray[Any, Any]) -> None:
        first = int(np.argmax(values[1:] - values[:-1]))
        values[:-1:2], values[1:-1:2] = values[first], values[first + 1]

    return _rewrite(folder, manifest, rng, ["posting_offsets"], change, lambda v: len(v) >= 3)


def change_records(folder: Path, manifest: Manifest, rng: Random) -> str:
    """Write other records, or none."""
    record = rng.choice(
        (b"", b"null", b"[]", b"{}", b'{"id": 5}', b'{"id": "\xff\xfe"}', b"\x00", b"7",
         b'{"id": "x", "texts": {"text": 5}}', b'{"id":"x","texts":{},"extra":' + b"[" * 10**5,
         b'{"id":"x","texts":{},"context":' + b"[" * 10**5 + b"]" * 10**5 + b"}"),
    )  # fmt: skip
    entry = rng.choice(manifest["segments"])
    write_records(folder, entry, [record] * entry["documents"])
    return f"records {str(record)[:40]}"


def change_blocks(folder: Path, manifest: Manifest, rng: Random) -> str | None:
    """Write other places of records and blocks, blocks that are none, or one without end."""
    way = rng.choice(("places", "places", "bytes", "dictionary", "frame"))
    if way == "places":

        def change(values: np.ndarray[Any, Any]) -> None:
            for _ in range(rng.choice((1, 2, len(values)))):
                _set(values, rng.randrange(len(values)), rng.choice(_INTEGERS))

        names = ["records_offsets", "records_blocks", "records_firsts"]
        return _rewrite(folder, manifest, rng, names, change)
    entry = rng.choice(manifest["segments"])
    if way == "bytes":
        path = folder / entry["name"] / "records"
        data = bytearray(path.read_bytes())
        for _ in range(rng.choice((1, 4, len(data)))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
    elif way == "dictionary":
        dictionary = rng.randbytes(rng.choice((1, 8, 1000)))
        (folder / entry["name"] / "records_dictionary").write_bytes(dictionary)
        entry["files"]["records_dictionary"] = {"dtype": "uint8", "shape": [len(dictionary)]}
    else:
        size = rng.choice((0, 1 << 17, 1 << 32, 1 << 62))
        write_frame(folder, entry, endless_frame(size), size)
    return f"blocks: {way}"


CRAFTS: tuple[Craft, ...] = (
    change_numbers, change_numbers, change_numbers, change_offsets, change_offsets, lengthen_an_id,
    change_tables, change_postings, change_postings, change_letters, change_annotation,
    change_mask, change_description, change_description, change_documents, change_names,
    change_names, repeat_segment, leave_out, change_settings, change_settings, change_settings,
    nest, change_fields, change_records, change_blocks, change_blocks, enlarge_records,
    overlap_postings,
)  # fmt: skip
