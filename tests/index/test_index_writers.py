"""Several at once: writers wait for nobody, readers keep what they opened."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from sicetnon import cli
from sicetnon.errors import BrokenIndexError, SicetnonError
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.records import Entry, Record
from support.index_cases import (
    PORTER,
    check_tidy,
    compact_index,
    content,
    content_of,
    counted,
    write_lines,
)
from support.index_faults import (
    CHANGED,
    CHANGES,
    NEW,
    NEW_CONTENT,
    OLD_CONTENT,
    delete_some,
    fails,
    forked,
    rebuild,
    replace_some,
    told,
)
from support.patience import HANGS


class Slow:
    """A corpus of new documents that waits in the middle until it is told to go on."""

    def __init__(self) -> None:
        self.waiting, self.go = threading.Event(), threading.Event()

    def corpus(self) -> Corpus:
        def read(_: Path | str, __: Reading) -> Iterator[Record]:
            for place, (identifier, (text,)) in enumerate(NEW.items()):
                if place == 5:
                    self.waiting.set()
                    assert self.go.wait(HANGS)
                yield Entry(identifier, {"text": text})

        return Corpus("entries", ("text",), ("memory",), read)


@pytest.mark.parametrize("first", [True, False])
def test_a_second_writer_is_refused(
    old: Path, tmp_path: Path, first: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" if first else old
    source = write_lines(tmp_path / "new.jsonl", {"id": "x", "text": "y"})
    slow = Slow()
    options = BuildOptions(PORTER)
    writer = threading.Thread(target=build_index, args=(slow.corpus(), folder, options))
    writer.start()
    try:
        assert slow.waiting.wait(HANGS)
        message = f"sicetnon: {folder}: another process is changing this index\n"
        assert cli.main(["index", "build", str(source), "-o", str(folder)]) == 1
        assert capsys.readouterr().err == message
        if first:
            with pytest.raises(BrokenIndexError, match="holds no finished index"):
                IndexReader.open(folder)
        else:
            assert fails("add", source, "-o", folder) == message
            for change in (replace_some, delete_some, compact_index):
                with pytest.raises(SicetnonError, match="another process"):
                    change(folder)
            assert content_of(folder) == OLD_CONTENT
    finally:
        slow.go.set()
        writer.join()
    assert content_of(folder) == NEW_CONTENT
    check_tidy(folder)


def test_many_first_builders_at_once(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "new.jsonl", *({"id": i, "text": t} for i, (t,) in NEW.items()))
    arguments = ["index", "build", str(source), "-o", str(tmp_path / "index")]
    outcomes: list[int] = []

    def start(number: int) -> None:
        outcomes.append(forked(partial(cli.main, arguments), tmp_path / f"errors{number}"))

    threads = [threading.Thread(target=start, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 in outcomes
    assert set(outcomes) <= {0, 1}
    for path in tmp_path.glob("errors*"):
        assert not path.read_text() or "another process is changing this index" in told(path)
    assert content_of(tmp_path / "index") == NEW_CONTENT
    check_tidy(tmp_path / "index")


def test_readers_keep_the_index_that_they_opened(old: Path) -> None:
    with IndexReader.open(old) as index:
        rebuild(old)
        assert content(index) == OLD_CONTENT
        with IndexReader.open(old) as later:
            replace_some(old)
            compact_index(old)
            shutil.rmtree(old)
            assert content(later) == NEW_CONTENT
        assert content(index) == OLD_CONTENT


def test_readers_find_a_whole_index_at_any_time(old: Path) -> None:
    allowed = [counted(after, PORTER) for _, after in CHANGES.values()]
    allowed += [counted({**NEW, **CHANGED}, PORTER)]
    stop = threading.Event()
    failures: list[BaseException] = []

    def read() -> None:
        try:
            while not stop.is_set():
                assert content_of(old) in allowed
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for _ in range(6):
        rebuild(old)
        replace_some(old)
        compact_index(old)
    stop.set()
    for reader in readers:
        reader.join()
    assert not failures
