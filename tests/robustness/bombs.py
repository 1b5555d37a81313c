"""Bombs: small files that make a careless reader take minutes or gigabytes.

`BOMBS` names each with what writes it into a folder and the command that is to survive it: within
seconds, in less than a gigabyte, with one line and the exit status.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from robustness import crafted
from robustness.commands import command
from robustness.trials import Trial
from sicetnon.app.index import Index
from sicetnon.arguments.models.model_files import DESCRIPTION, SHIPPED, TOKENIZER
from support.shipped_model import with_file

MEGABYTE = 1 << 20
# the size of a gzip member; a bomb has many, so that writing it takes no time
_MEMBER = 16 * MEGABYTE


@dataclass(frozen=True)
class Bomb:
    """A bomb, and the command that reads it.

    Attributes:
        name: Its name.
        write: Writes it into a folder; returns its path.
        command: The arguments of `sicetnon`; `{file}` is the bomb and `{out}` a path for output.
        status: The exit status.
        message: Part of the line on standard error.
    """

    name: str
    write: Callable[[Path], Path]
    command: str
    status: int = 1
    message: str = "SICETNON_MAX_"


def gzip_bomb(path: Path, line: bytes, head: bytes = b"", unpacked: int = 4 << 30) -> Path:
    """Write a gzip file that unpacks to many times the same line.

    Args:
        path: The file.
        line: The line.
        head: What comes before the lines.
        unpacked: Bytes of its content.
    """
    member = gzip.compress(line * (_MEMBER // len(line)), mtime=0)
    path.write_bytes(gzip.compress(head, mtime=0) + member * (unpacked // _MEMBER))
    return path


def zipped(name: str, line: bytes, head: bytes = b"") -> Callable[[Path], Path]:
    """A writer of a gzip bomb of some lines."""
    return lambda folder: gzip_bomb(folder / name, line, head)


def written(name: str, *parts: tuple[str, int]) -> Callable[[Path], Path]:
    """A writer of a file of texts, each repeated so many times."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_text("".join(text * times for text, times in parts), encoding="utf-8")
        return path

    return write


def archive(folder: Path, body: bytes, encoding: str = "", name: str = "pages.warc") -> Path:
    """Write a WARC archive of one page.

    Args:
        folder: The folder for it.
        body: The body of the page, packed.
        encoding: How it is packed.
        name: The name of the file.
    """
    http = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n"
    answer = http.encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: page-1\r\nWARC-Record-ID: <urn:uuid:1>"
        "\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(answer)}\r\n\r\n"
    )
    path = folder / name
    path.write_bytes(head.encode() + answer + b"\r\n\r\n")
    return path


def gzip_body(folder: Path, copies: int = 32 * MEGABYTE) -> Path:
    """Write an archive whose page unpacks to 200 MB (6 bytes a copy) from gzip."""
    return archive(folder, gzip.compress(b"<p>tea" * copies), "gzip")


def deflate_body(folder: Path, copies: int = 32 * MEGABYTE) -> Path:
    """Write an archive whose page unpacks to 200 MB (6 bytes a copy) from deflate."""
    return archive(folder, zlib.compress(b"<p>tea" * copies), "deflate")


def brotli_body(folder: Path, copies: int = 32 * MEGABYTE) -> Path:
    """Write an archive whose page unpacks to 200 MB (6 bytes a copy) from brotli."""
    import brotli

    return archive(folder, brotli.compress(b"<p>tea" * copies, quality=2), "br")


def unclosed_fonts(tags: int = 3000, paragraphs: int = 9000) -> str:
    """HTML whose every paragraph opens all fonts anew, as the standard wants it."""
    fonts = "".join(f"<font a{number}>" for number in range(tags))
    return f"<p>{fonts}" + "<p>x" * paragraphs


def many_attributes(count: int = 200_000) -> str:
    """HTML with one tag of many attributes."""
    return "<a " + " ".join(f"x{number}=1" for number in range(count)) + ">tea"


def page(name: str, html: str) -> Callable[[Path], Path]:
    """A writer of an HTML file."""
    return written(name, (html, 1))


def many_topics(times: int = 60_000) -> Callable[[Path], Path]:
    """A writer of a topics file with many topics of different numbers."""

    def write(folder: Path) -> Path:
        topics = (
            f"<topic><number>{place}</number><title>tea</title></topic>" for place in range(times)
        )
        path = folder / "topics.xml"
        path.write_text(f"<topics>{''.join(topics)}</topics>", encoding="utf-8")
        return path

    return write


def processed(premises: str) -> Callable[[Path], Path]:
    """A writer of a processed CSV file with one row."""
    quoted = premises.replace('"', '""')
    header = "id,conclusion,premises,context,sentences\n"
    return written("args_processed.csv", (f'{header}a,b,"{quoted}",{{}},[]\n', 1))


def model(folder: Path) -> Path:
    """Write a model whose tokenizer unpacks to gigabytes, with a text to annotate."""
    place = with_file(folder / "model", TOKENIZER, b"")
    data = gzip_bomb(place / TOKENIZER, b"a" * 1024, b'{"x": "').read_bytes()
    known = json.loads((SHIPPED / DESCRIPTION).read_text())
    known["checksums"][TOKENIZER] = f"{zlib.crc32(data):08x}"
    (place / DESCRIPTION).unlink()
    (place / DESCRIPTION).write_text(json.dumps(known))
    (place / "x.jsonl").write_text('{"id": "a", "text": "tea"}\n')
    return place


def index(folder: Path) -> Path:
    """Write an index of 50 KB whose documents are of 100 MB each."""
    place = folder / "index"
    Index.build([{"id": f"d{number}", "text": "tea"} for number in range(8)], place)
    manifest = crafted.read(place)
    crafted.write_large(place, manifest, 100 * MEGABYTE)
    crafted.seal(place, manifest)
    return place


_INDEX = "index build {file} -o {out} --quiet"
_SKIPPING = f"{_INDEX} --skip-invalid"
_FUSE = "fuse {file} {file} -o {out}"
_ARGUMENT = '{"arguments": [{"id": "a", "conclusion": "", "premises": [], "context": {"x": '
_RUN_LINE = b"1 Q0 " + b"a" * 200 + b" 1 1.0 tag\n"
_JUDGMENT = b"1 0 " + b"a" * 200 + b" 1\n"
_NO_ID = b'{"id": "", "text": "' + b"tea " * 50 + b'"}\n'
_TOPIC = b"<topic><number>1</number><title>tea</title></topic>"
_QRELS = "evaluate {file} --qrels {file}"
_ANNOTATE = "annotate quality {file} -o {out}"
_RUN = "validate {file} --task touche-2020-task-1"
_TOPICS = f"{_RUN} --topics {{file}}"

BOMBS = (
    Bomb("run.gz", zipped("run.txt.gz", _RUN_LINE), _FUSE),
    Bomb("qrels.gz", zipped("qrels.txt.gz", _JUDGMENT), _QRELS),
    Bomb("passages.gz", zipped("x.jsonl.gz", _NO_ID.replace(b"text", b"contents")), _SKIPPING),
    Bomb(
        "lines.gz",
        zipped("x.jsonl.gz", _NO_ID),
        _SKIPPING,
    ),
    Bomb("csv.gz", zipped("x.csv.gz", b"," + b"tea " * 50 + b"\n", b"id,text\n"), _SKIPPING),
    Bomb("blank-lines.gz", zipped("x.jsonl.gz", b"\n", b'{"id": "a", "text": "a"}\n'), _INDEX),
    Bomb("topics.gz", zipped("topics.xml.gz", _TOPIC, b"<topics>"), _TOPICS),
    Bomb("html.gz", zipped("page.html", b"<p>tea"), _INDEX),
    Bomb("warc.gz", zipped("pages.warc.gz", b"\r\n"), _INDEX),
    Bomb("annotate.gz", zipped("x.jsonl.gz", b"\n"), _ANNOTATE),
    Bomb("warc-gzip", gzip_body, _INDEX),
    Bomb("warc-deflate", deflate_body, _INDEX),
    Bomb("warc-brotli", brotli_body, _INDEX),
    Bomb("page-fonts", page("page.html", unclosed_fonts()), _INDEX),
    Bomb("page-divs", written("page.html", ("<div>", 66_000)), _INDEX),
    Bomb("page-attributes", page("page.html", many_attributes()), _INDEX),
    Bomb("page-tags", written("page.html", ("<p>tea", 1), ("<a ", 20_000)), _INDEX, 0, ""),
    Bomb("page-endif", written("page.html", ("<p>tea<![ endif]-->", 1)), _INDEX, 0, ""),
    Bomb(
        "long-element",
        written("x.json", ('{"arguments": [{"id": "', 1), ("a", 250 * MEGABYTE), ('"}]}', 1)),
        _INDEX,
    ),
    Bomb("long-line", written("x.jsonl", ('{"id": "', 1), ("a", 250 * MEGABYTE)), _INDEX),
    Bomb("long-row", written("x.csv", ('id,text\na,"', 1), ("tea\n", 50 * MEGABYTE)), _INDEX),
    Bomb("long-run-line", written("run.txt", ("a", 250 * MEGABYTE)), _QRELS),
    Bomb("long-annotate-line", written("x.jsonl", ("a", 250 * MEGABYTE)), _ANNOTATE),
    Bomb(
        "nested-json",
        written("x.jsonl", ('{"id": "a", "text": ', 1), ("[", MEGABYTE), ("]", MEGABYTE)),
        _INDEX,
        message="nested too deeply",
    ),
    Bomb(
        "nested-argument",
        written("x.json", (_ARGUMENT, 1), ("[", MEGABYTE), ("]", MEGABYTE), ("}}]}", 1)),
        _INDEX,
        message="nested too deeply",
    ),
    Bomb(
        "tiny-objects",
        written("x.json", (_ARGUMENT + "[", 1), ("{},", 5 * MEGABYTE), ("0]}}]}", 1)),
        _INDEX,
        message="has no premise",
    ),
    Bomb(
        "nested-topics",
        written("topics.xml", ("<a>", MEGABYTE)),
        _TOPICS,
        message="nested more than 100 deep",
    ),
    Bomb("blanks", written("x.json", (" ", 250 * MEGABYTE)), _INDEX),
    Bomb("quotes", processed("'" + r"\'" * 200_000), _INDEX, message="no Python literal"),
    Bomb("tokenizer.gz", model, "annotate quality {file}/x.jsonl -o {out} --model {file}"),
    Bomb("index-blocks", index, "search tea --index {file}"),
    Bomb("literal", processed("[" + "0,r''," * 300_000 + "]"), _INDEX, message="literal"),
)


def prepare(_: Path) -> Trial:
    """The trial of one bomb after the other."""
    return _survives


def _survives(seed: int, folder: Path) -> None:
    bomb = BOMBS[seed % len(BOMBS)]
    file, out = bomb.write(folder), folder / "out"
    words = [word.format(file=file, out=out) for word in bomb.command.split()]
    done = command(*words)
    if done.status != bomb.status or bomb.message not in done.error:
        raise AssertionError(f"{bomb.name}: exit status {done.status}: {done.error[-500:]}")
