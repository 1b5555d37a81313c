"""Limits: hostile files end in one line that names the limit, in bounded memory."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from robustness import bombs
from sicetnon.app.annotation import annotate_file
from sicetnon.errors import DataError, UsageError
from sicetnon.formats.corpora import read_passages, read_processed
from sicetnon.formats.entries import read_arguments
from sicetnon.formats.files import Limits, Reading, open_bytes
from sicetnon.formats.html import Html, parse_guarded
from sicetnon.formats.qrels import read_qrels
from sicetnon.formats.runs import read_run
from sicetnon.formats.tables import read_table
from sicetnon.formats.topics import read_topics
from sicetnon.formats.webpages import read_web_pages

READERS: dict[str, Callable[[Path], Iterable[Any]]] = {
    "run": read_run,
    "qrels": read_qrels,
    "passages": read_passages,
    "table": read_table,
    "topics": read_topics,
    "arguments": read_arguments,
    "annotate": lambda path: [annotate_file("quality", str(path), f"{path}.out")],
}
SMALL = Limits(record_bytes=10_000, page_seconds=1, page_memory=1 << 28)


@pytest.fixture
def few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SICETNON_MAX_RECORD_BYTES", "1000")
    monkeypatch.setenv("SICETNON_MAX_UNPACKED_BYTES", "100000")


def failure(read: Callable[[Path], Iterable[Any]], path: Path) -> str:
    """The one line in which reading ends; it takes less than 40 MB."""
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            for _ in read(path):
                pass
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("reader", READERS)
def test_gzip_data_that_unpacks_to_very_much_is_refused(
    reader: str, few_bytes: None, tmp_path: Path
) -> None:
    lines = {
        "run": b"1 Q0 %s 1 1 tag\n" % (b"a" * 200),
        "qrels": b"1 0 %s 1\n" % (b"a" * 200),
        "passages": b" " * 200 + b"\n",
        "table": b"a,%s\n" % (b"b" * 200),
        "topics": b"<topic><number>1</number><title>%s</title></topic>" % (b"tea " * 50),
        "arguments": b" ",
        "annotate": b" " * 200 + b"\n",
    }
    head = b"<topics>" if reader == "topics" else b""
    path = bombs.gzip_bomb(tmp_path / "bomb.gz", lines[reader], head, unpacked=64 << 20)
    message = failure(READERS[reader], path)
    # blanks before a list are too long for its first element, where Python reads few at a time
    limit = "UNPACKED_RATIO|RECORD_BYTES" if reader == "arguments" else "UNPACKED_RATIO"
    assert re.search(f"raise SICETNON_MAX_({limit}) if the file is to be trusted", message)


def test_what_unpacks_as_texts_do_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    texts = b"".join(b"%d tea or coffee, said %d people\n" % (n, n * n) for n in range(200_000))
    path.write_bytes(gzip.compress(texts))
    with open_bytes(path, Reading(limits=Limits(unpacked_bytes=1))) as file:
        assert file.read() == texts


@pytest.mark.parametrize("reader", READERS)
def test_a_record_without_an_end_is_refused(reader: str, few_bytes: None, tmp_path: Path) -> None:
    heads = {"table": '"', "topics": "<topics><topic>", "arguments": '[{"id": "'}
    path = bombs.written("x.txt", (heads.get(reader, ""), 1), ("a\n", 10**7))(tmp_path)
    if reader not in heads:
        path.write_text("a" * 10**7)
    message = failure(READERS[reader], path)
    assert "holds more than 1,000 bytes, the limit for one record" in message
    assert "raise SICETNON_MAX_RECORD_BYTES if" in message


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "brotli"])
def test_a_page_that_unpacks_to_very_much_is_refused(encoding: str, tmp_path: Path) -> None:
    path = getattr(bombs, f"{encoding}_body")(tmp_path, copies=1 << 18)
    message = failure(lambda path: read_web_pages(path, Reading(limits=SMALL)), path)
    assert "record 1 cannot be used: its page holds more than 10,000 bytes" in message
    (page,) = read_web_pages(path)
    assert page.text.startswith("tea\ntea")


@pytest.mark.parametrize(
    ("html", "limit"),
    [
        (bombs.unclosed_fonts(2000, 4000), "268,435,456 bytes of memory"),
        ("<div>" * 66_000, "1 s"),
        (bombs.many_attributes(), "1 s"),
    ],
)
def test_a_page_that_takes_minutes_or_gigabytes_is_given_up(html: str, limit: str) -> None:
    with pytest.raises(ValueError, match=f"it takes more than {limit} to parse; raise SICETNON_"):
        parse_guarded(Html(html.encode()), SMALL)
    assert parse_guarded(Html(b"<p>One <b>tea</b>"), SMALL).text == "One tea"


@pytest.mark.parametrize("html", ["<p>tea<![ endif]-->", "<p>tea" + "<a " * 20_000])
def test_odd_pages_are_read(html: str) -> None:
    for main_content in (True, False):
        parsed = parse_guarded(Html(html.encode(), main_content=main_content), Limits())
        assert parsed.text == "tea"


def test_tags_go_and_blocks_are_lines() -> None:
    html = b"<head><title>t</title></head><p>One <b>two</b>&amp;three<br>four<script>x<y</script>"
    assert parse_guarded(Html(html, main_content=False), Limits()).text == "One two&three\nfour"


@pytest.mark.parametrize("shape", ["[", '{"a":'])
def test_deep_json_is_refused(shape: str, tmp_path: Path) -> None:
    head = '{"id": "a", "conclusion": "", "premises": [], "context": {"x": '
    path = bombs.written("x.json", (f"[{head}", 1), (shape, 10**4), ("}" * 2 + "]", 1))(tmp_path)
    assert "x.json" in failure(read_arguments, path)
    line = bombs.written("x.jsonl", ('{"id": ', 1), (shape, 10**4))(tmp_path)
    assert "line 1" in failure(read_passages, line)


def test_deep_topics_are_refused(tmp_path: Path) -> None:
    path = bombs.written("topics.xml", ("<a>", 10**6))(tmp_path)
    assert "nested more than 100 deep" in failure(read_topics, path)


@pytest.mark.parametrize("premises", ["'" + r"\'" * 10**5, '"' + r"\"" * 10**5, "[" * 10**5])
def test_literals_take_linear_time(premises: str, tmp_path: Path) -> None:
    path = bombs.processed(premises)(tmp_path)
    assert "column premises" in failure(read_processed, path)


def test_many_topics_are_read(tmp_path: Path) -> None:
    assert len(read_topics(bombs.many_topics(20_000)(tmp_path))) == 20_000


@pytest.mark.parametrize("value", ["0", "-1", "x", "1e9", "9" * 30])
def test_a_limit_is_a_whole_number(value: str) -> None:
    with pytest.raises(UsageError, match=r"SICETNON_MAX_PAGE_SECONDS is .* whole number above 0"):
        Limits.from_environment({"SICETNON_MAX_PAGE_SECONDS": value})
    found = Limits.from_environment({"SICETNON_MAX_PAGE_SECONDS": " 7 "})
    assert found == Limits(page_seconds=7)
