"""WARC archives: damage costs one record, and bodies come without their codings."""

from __future__ import annotations

import gzip
import random
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from sicetnon.errors import DataError
from sicetnon.formats.files import Limits, Reading
from sicetnon.formats.webpages import http_response, read_warc, read_web_pages

brotli = pytest.importorskip("brotli")
pytest.importorskip("resiliparse")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = "<p>" + "Tenure is a contract that cannot be ended without a reason. " * 20 + "bravo</p>"
BODY = PAGE.encode()


def record(name: str, body: bytes = BODY, head: bytes = HEAD, length: int | None = None) -> bytes:
    block = head + b"\r\n" + body
    size = len(block) if length is None else length
    return (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-TREC-ID: {name}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {size}\r\n\r\n"
    ).encode() + block + b"\r\n\r\n"  # fmt: skip


def write(folder: Path, records: list[bytes], is_packed: bool) -> Path:
    path = folder / f"pages.warc{'.gz' * is_packed}"
    path.write_bytes(b"".join(map(gzip.compress, records) if is_packed else records))
    return path


def coded(body: bytes, *headers: str, start: bytes = HEAD) -> bytes:
    return record("b", body, start + "".join(f"{each}\r\n" for each in headers).encode())


WRONG = [
    b"junk line\r\n\r\n",
    b"\r\n\r\njunk\r\nmore junk\r\n",
    record("b").replace(b"WARC/1.0", b"WARX/1.0"),
    record("b").replace(b"Content-Length", b"Content-Lengh"),
    record("b", length=-5),
    record("b", length=90),
    record("b", length=len(BODY) + 300),
    record("b", length=len(BODY) + 170_000),
    record("b", length=99_999_999_999),
    record("b", head=b""),
    record("b")[:60],
    record("b")[:400],
]


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_bad_record_costs_one_record(tmp_path: Path, wrong: bytes, is_packed: bool) -> None:
    path = write(tmp_path, [record("a"), wrong, record("c"), record("d")], is_packed)
    errors: list[DataError] = []
    assert [page.id for page in read_web_pages(path, Reading(errors.append))] == ["a", "c", "d"]
    assert len(errors) == 1
    with pytest.raises(DataError, match=r"pages\.warc"):
        list(read_web_pages(path))


def test_damaged_gzip_data_costs_its_record(tmp_path: Path) -> None:
    chance = random.Random(1)
    packed = [gzip.compress(record(name), mtime=0) for name in "abcde"]
    for _ in range(200):
        damaged = bytearray(packed[2])
        damaged[chance.randrange(10, len(damaged) - 9)] ^= chance.randrange(1, 256)
        path = tmp_path / "x.warc.gz"
        path.write_bytes(b"".join([*packed[:2], damaged, *packed[3:]]))
        errors: list[DataError] = []
        found = [each.headers["warc-trec-id"] for each in read_warc(path, Reading(errors.append))]
        assert (found, len(errors)) == (["a", "b", "d", "e"], 1)


def test_no_cut_of_a_member_makes_up_a_record(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    noise = random.Random(2).randbytes(300).hex().encode()
    first, last = (gzip.compress(record(name, noise), mtime=0) for name in "ab")
    for left in range(12, len(last)):
        path.write_bytes(first + last[:left])
        errors: list[DataError] = []
        found = [each.headers["warc-trec-id"] for each in read_warc(path, Reading(errors.append))]
        assert (found, len(errors)) == (["a"], 1), left


def test_every_lost_record_is_counted(tmp_path: Path) -> None:
    packed = [gzip.compress(record(name)) for name in "abcd"]
    packed[1] = packed[1][:10] + b"\xff" * 20 + packed[1][30:]
    packed[2] = packed[2][:-8]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(b"".join(packed))
    errors: list[DataError] = []
    found = [each.headers["warc-trec-id"] for each in read_warc(path, Reading(errors.append))]
    assert (found, len(errors)) == (["a", "d"], 2)


@pytest.mark.parametrize("is_packed", [False, True])
def test_records_beyond_the_limit_are_passed_over(tmp_path: Path, is_packed: bool) -> None:
    long = record("b", b"WARC/1.0\r\nWARC-Type: response\r\n\r\n" * 500)
    path = write(tmp_path, [record("a"), long, record("c")], is_packed)
    reading = Reading(limits=Limits(record_bytes=4000))
    assert [page.id for page in read_web_pages(path, reading)] == ["a", "c"]
    # a length that is wrong does not take the other records away
    path = write(tmp_path, [record("a"), record("b", length=5000), record("c")], is_packed)
    errors: list[DataError] = []
    reading = Reading(errors.append, limits=Limits(record_bytes=4000))
    assert [page.id for page in read_web_pages(path, reading)] == ["a", "c"]
    assert len(errors) == 1


def test_members_and_records_may_be_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    records = record("a") + record("b") + record("c")
    path.write_bytes(gzip.compress(records[:700]) + b"\0" * 70_000 + gzip.compress(records[700:]))
    assert [page.id for page in read_web_pages(path)] == ["a", "b", "c"]


def test_headers_as_crawlers_write_them(tmp_path: Path) -> None:
    lines = record("b").replace(b"\r\n", b"\n")
    lines = lines.replace(b"Content-Length: ", b"content-length:\t").replace(
        str(len(HEAD) + 2 + len(BODY)).encode(), str(len(HEAD) - 1 + len(BODY)).encode()
    )
    interim = record("c", head=b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + HEAD)
    folded = record("d", head=HEAD + b"X-Long: one\r\n two\r\n")
    path = write(tmp_path, [record("a"), lines, interim, folded], False)
    pages = list(read_web_pages(path))
    assert [page.id for page in pages] == ["a", "b", "c", "d"]
    assert len({page.text for page in pages}) == 1


def test_a_response_of_one_line() -> None:
    assert http_response(b"HTTP/2 204\n") == (204, {}, b"")
    with pytest.raises(ValueError, match="no HTTP response"):
        http_response(b"HTTP/1.1 100 Continue\r\n\r\n")


def chunked(data: bytes, size: int = 70, end: bytes = b"0\r\n\r\n", extension: str = "") -> bytes:
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    lines = [f"{len(part):x}{extension}\r\n".encode() + part + b"\r\n" for part in parts]
    return b"".join(lines) + end


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize(
    "made",
    [
        *(coded(pack(BODY), f"Content-Encoding: {name}") for name, pack in PACKERS.items()),
        # undone, while the header stayed
        *(coded(BODY, f"Content-Encoding: {name}") for name in [*PACKERS, "utf-8", "none", "x"]),
        coded(BODY, "Transfer-Encoding: chunked"),
        coded(gzip.compress(BODY), "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        coded(chunked(BODY), "Content-Encoding: br", "Transfer-Encoding: chunked"),
        # chunks as servers write them
        coded(chunked(BODY), "transfer-encoding: Chunked"),
        coded(chunked(BODY, extension=';name="value"'), "Transfer-Encoding: chunked"),
        coded(chunked(BODY, extension="  "), "Transfer-Encoding: chunked"),
        coded(chunked(BODY, end=b"0000\r\nX-Time: 1\r\n\r\n"), "Transfer-Encoding: chunked"),
        coded(chunked(BODY, end=b""), "Transfer-Encoding: chunked"),
        coded(chunked(BODY).replace(b"\r\n", b"\n"), "Transfer-Encoding: chunked"),
        # several codings
        coded(chunked(gzip.compress(BODY)), "Content-Encoding: gzip", "Transfer-Encoding: chunked"),
        coded(chunked(zlib.compress(BODY)), "Transfer-Encoding: deflate, chunked"),
        coded(gzip.compress(brotli.compress(BODY)), "Content-Encoding: br, gzip"),
        coded(brotli.compress(zlib.compress(BODY)), "Content-Encoding: deflate",
              "Content-Encoding: br"),
        coded(gzip.compress(gzip.compress(BODY)), "Content-Encoding: gzip"),
        # no header, or another one
        coded(gzip.compress(BODY)),
        coded(zstandard.compress(BODY), "Content-Encoding: x"),
        # several members and frames, and what comes after them
        coded(gzip.compress(BODY[:500]) + gzip.compress(BODY[500:]), "Content-Encoding: gzip"),
        coded(gzip.compress(BODY) + b"\0" * 20 + b"junk", "Content-Encoding: gzip"),
        coded(gzip.compress(BODY[:500]) + b"\0" * 9 + gzip.compress(BODY[500:]),
              "Content-Encoding: gzip"),
        # gzip and deflate taken for one another
        coded(gzip.compress(BODY), "Content-Encoding: deflate"),
        coded(zlib.compress(BODY), "Content-Encoding: gzip"),
        coded(b"".join(map(zstandard.compress, (BODY[:500], BODY[500:]))),
              "Content-Encoding: zstd"),
    ],
)  # fmt: skip
def test_codings_are_undone_once(tmp_path: Path, made: bytes, is_packed: bool) -> None:
    path = write(tmp_path, [record("a"), made, record("c")], is_packed)
    pages = list(read_web_pages(path))
    assert [page.id for page in pages] == ["a", "b", "c"]
    assert pages[1].text == pages[0].text


@pytest.mark.parametrize("name", ["gzip", "deflate", "Deflate", "br", "zstd"])
def test_a_cut_body_is_read_up_to_the_cut(tmp_path: Path, name: str) -> None:
    text = "".join(f"<p>Sentence {number * number} is one.</p>" for number in range(20_000))
    packed = PACKERS[name](text.encode())
    cut = coded(packed[: len(packed) // 2], f"Content-Encoding: {name}")
    again = coded(chunked(packed)[: len(packed) // 2], f"Content-Encoding: {name}",
                  "Transfer-Encoding: chunked")  # fmt: skip
    empty = coded(packed[:4], f"Content-Encoding: {name}")
    errors: list[DataError] = []
    path = write(tmp_path, [cut, again, empty, record("c")], True)
    pages = list(read_web_pages(path, Reading(errors.append)))
    assert [page.id for page in pages] == ["b", "b", "c"]
    for page in pages[:2]:
        assert page.text.startswith("Sentence 0 is one.\nSentence 1 is one.")
        assert "Sentence 399960001" not in page.text
        assert page.text.isascii()
    assert len(errors) == 1


NOISE = random.Random(1).randbytes(3000)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (coded(NOISE, "Content-Encoding: compress"), "packed by compress; expected gzip"),
        (coded(NOISE, "Content-Encoding: gzip"), "damaged gzip data"),
        (coded(NOISE, "Content-Encoding: zstd"), "damaged zstd data"),
        (coded(b"\xff" + NOISE, "Content-Encoding: deflate"), "damaged deflate data"),
        (coded(b"\xff" + NOISE, "Content-Encoding: br"), "damaged br data"),
        (coded(chunked(BODY).replace(b"46\r\n", b"49\r\n", 3), "Transfer-Encoding: chunked"), ""),
        (coded(b"5\r\nhello\r\nx\r\nmore", "Transfer-Encoding: chunked"), "damaged chunked data"),
    ],
)
def test_what_cannot_be_unpacked_is_refused(tmp_path: Path, made: bytes, message: str) -> None:
    path = write(tmp_path, [record("a"), made, record("c")], False)
    with pytest.raises(DataError, match=f"record 2 cannot be used: .*{message}"):
        list(read_web_pages(path))
    errors: list[DataError] = []
    assert [page.id for page in read_web_pages(path, Reading(errors.append))] == ["a", "c"]
    assert len(errors) == 1


def test_binary_answers_are_no_pages(tmp_path: Path) -> None:
    resource = record("b", NOISE, b"")
    resource = resource.replace(b"response", b"resource").replace(b"application/http", b"image/png")
    path = write(tmp_path, [coded(NOISE), resource, record("c")], False)
    assert [page.id for page in read_web_pages(path)] == ["c"]
