"""The index when things go wrong: damage, kills, full disks, other writers. All or nothing."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

import sicetnon
from sicetnon import cli
from sicetnon.errors import BrokenIndexError, DataError, SicetnonError, UsageError
from sicetnon.formats.corpora import Corpus
from sicetnon.formats.files import Reading
from sicetnon.index.index import Index, verify_index
from sicetnon.index.manifest import MANIFEST, read_manifest, write_manifest
from sicetnon.index.writing import (
    BuildOptions,
    add_documents,
    build_index,
    compact_index,
    delete_documents,
)
from sicetnon.records import Entry, Record
from sicetnon.text.analysis import named_analysis
from test_index import (
    Documents,
    check_tidy,
    content,
    content_of,
    corpus_of,
    counted,
    entries,
    files_of,
    write_lines,
)

PORTER, FORMS = named_analysis("porter-stop"), named_analysis("forms")
OLD: Documents = {f"old{n}": (f"schools of old, number {n}",) for n in range(30)}
NEW: Documents = {f"new{n}": (f"new teachers, year {n}",) for n in range(40)}
CHANGED: Documents = {"new": ("new teachers",), "old3": ("written anew",)}
OLD_CONTENT, NEW_CONTENT = counted(OLD, PORTER), counted(NEW, PORTER)
NOBODY = 65534
SOURCES = Path(sicetnon.__file__).parents[1]
# runs a command that sees a read-only copy of the package; needs root
READ_ONLY = [
    *("unshare", "-m", "sh", "-c"),
    'mount --bind "$PYTHONPATH" "$PYTHONPATH" && mount -o remount,ro,bind "$PYTHONPATH" && "$@"',
    "sh",
]

Work = Callable[[], Any]
Change = Callable[[Path], Any]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that no test changes."""
    folder = tmp_path_factory.mktemp("template") / "index"
    build_index(entries(OLD), folder, BuildOptions(PORTER))
    return folder


@pytest.fixture
def old(template: Path, tmp_path: Path) -> Path:
    """An index of the old documents."""
    shutil.copytree(template, tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def rebuild(folder: Path) -> None:
    build_index(entries(NEW), folder, BuildOptions(PORTER))


def replace_some(folder: Path) -> None:
    add_documents(entries(CHANGED), folder, BuildOptions(PORTER), replace=True)


def delete_some(folder: Path) -> None:
    delete_documents(folder, ["old1", "old2"])


CHANGES: dict[str, tuple[Change, Documents]] = {
    "build": (rebuild, NEW),
    "add": (replace_some, {**OLD, **CHANGED}),
    "delete": (delete_some, {i: t for i, t in OLD.items() if i not in ("old1", "old2")}),
    "compact": (compact_index, OLD),
}


def forked(work: Work, errors: Path) -> int:
    """Do something in a child process; its exit status, or the negative signal that ended it."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            with errors.open("w") as sys.stderr, Path(os.devnull).open("w") as sys.stdout:
                try:
                    status = work() or 0
                except BaseException:
                    traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def told(errors: Path) -> str:
    """The one line that a failed command has to say."""
    text = errors.read_text()
    assert text.count("\n") == 1, text
    assert text.startswith("sicetnon: "), text
    return text


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sicetnon", "index", *map(str, arguments)]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCES), **changes}


def fails(*arguments: object, status: int = 1, **options: Any) -> str:
    """Run a command that has to fail, with one line; the line."""
    done = subprocess.run(
        command(*arguments), env=environment(), capture_output=True, text=True, **options
    )
    error: str = done.stderr
    assert (done.returncode, done.stdout, error.count("\n")) == (status, "", 1), done
    return error


def big_source(folder: Path, documents: int = 2000) -> Path:
    texts = (f"school {n} " + "words of many kinds " * 20 + f"w{n}" for n in range(documents))
    return write_lines(
        folder / "big.jsonl", *({"id": f"b{n}", "text": t} for n, t in enumerate(texts))
    )


# --- opening what is no index, or damaged ---


def test_opening_where_no_index_is(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name, message in (
        ("missing", "there is no such folder"),
        ("file", "there is no such folder"),
        ("empty", "holds no finished index (no manifest.json)"),
    ):
        with pytest.raises(BrokenIndexError, match=re.escape(f"{tmp_path / name}: {message}")):
            Index.open(tmp_path / name)
    (tmp_path / "empty" / MANIFEST).mkdir()
    with pytest.raises(BrokenIndexError, match=r"manifest\.json: cannot be read"):
        Index.open(tmp_path / "empty")


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.replace(b'"documents": 30', b'"documents": 29'),
        lambda data: data.replace(b'"name": "porter-stop"', b'"name": "plain"'),
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3],
        lambda data: b"",
        lambda data: b"[]",
        lambda data: b'{"manifest": [], "sha256": ""}',
        lambda data: b"\xff\x00" + data,
        lambda data: data.replace(b"porter", b"p\xff\xfeter"),
    ],
)
def test_a_manifest_edited_by_hand(old: Path, edit: Callable[[bytes], bytes]) -> None:
    path = old / MANIFEST
    written = path.read_bytes()
    path.write_bytes(edit(written))
    assert path.read_bytes() != written
    for act in (Index.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=f"^{path}: damaged or foreign: "):
            act(old)
    path.write_bytes(written)
    assert content_of(old) == OLD_CONTENT
    path.write_bytes(edit(written))
    rebuild(old)
    assert content_of(old) == NEW_CONTENT
    check_tidy(old)


def test_an_index_of_the_future(old: Path) -> None:
    future = msgspec.structs.replace(read_manifest(old), version=2)
    write_manifest(old, future)
    expected = "found sicetnon index version 2, expected sicetnon index version 1"
    for act in (Index.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=expected):
            act(old)
    with pytest.raises(DataError, match="holds no document"):
        build_index(corpus_of([]), old, BuildOptions(PORTER))
    write_manifest(old, msgspec.structs.replace(future, version=1))
    assert content_of(old) == OLD_CONTENT


@pytest.mark.parametrize("analysis", [PORTER, FORMS])
def test_damaged_files_are_named(tmp_path: Path, analysis: Any) -> None:
    folder, other = tmp_path / "one", tmp_path / "other"
    build_index(entries(OLD), folder, BuildOptions(analysis))
    delete_documents(folder, ["old5"])
    longer = {f"long-{i}": (f"{text} words" * 9,) for i, (text,) in NEW.items()}
    build_index(entries(longer), other, BuildOptions(analysis))
    (entry,) = read_manifest(folder).segments
    assert len(entry.files) == (22 if analysis.forms else 16)
    for name, stored in entry.files.items():
        path = folder / entry.name / name
        data = path.read_bytes()
        for damaged in (data[:-1], data + b"x", b"", data[: len(data) // 2], None):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(BrokenIndexError, match=f"^{path}: ") as caught:
                Index.open(folder)
            assert ("expected" if damaged is not None else "cannot be read") in str(caught.value)
        path.write_bytes(data)
        strange = other / entry.name / name
        if strange.exists() and strange.stat().st_size != stored.size:
            path.write_bytes(strange.read_bytes())
            with pytest.raises(BrokenIndexError, match=f"^{path}: .*belongs to another index"):
                Index.open(folder)
            path.write_bytes(data)
        flipped = bytearray(data)
        flipped[len(data) // 2] ^= 0x10
        path.write_bytes(flipped)
        with pytest.raises(BrokenIndexError, match=f"^{path}: the ch"):
            verify_index(folder)
        if name != "documents.sqlite":
            with pytest.raises(BrokenIndexError, match=f"^{path}: the ch"):
                Index.open(folder)
        path.write_bytes(data)
    check_tidy(folder)


def test_all_damaged_files_are_named_at_once(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = old / read_manifest(old).segments[0].name
    for name in ("lengths", "terms_letters"):
        data = bytearray((folder / name).read_bytes())
        data[0] ^= 1
        (folder / name).write_bytes(data)
    assert cli.main(["index", "-o", str(old), "--verify"]) == 1
    error = capsys.readouterr().err
    assert f"{folder}/lengths" in error
    assert f"{folder}/terms_letters" in error
    assert "documents" not in error.replace("documents.sqlite", "")
    assert error.count("\n") == 1


def test_a_damaged_store_is_named_when_it_is_read(old: Path) -> None:
    path = old / read_manifest(old).segments[0].name / "documents.sqlite"
    path.write_bytes(b"x" * path.stat().st_size)
    with Index.open(old) as index, pytest.raises(BrokenIndexError, match=f"^{path}: damaged: "):
        index.records([0])
    with pytest.raises(BrokenIndexError, match=f"^{path}: damaged: "):
        compact_index(old)


def test_a_record_that_is_missing_is_named(old: Path) -> None:
    with Index.open(old) as index, pytest.raises(BrokenIndexError, match=r"sqlite: document 30 is"):
        index.segments[0].store.get([30])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stemmer_version", "PyStemmer 0.0.1"),
        ("stop_words_hash", "0123456789abcdef"),
        ("unicode", "3.2.0"),
        ("scanner", 0),
    ],
)
def test_an_index_of_another_analysis_is_refused(old: Path, key: str, value: str | int) -> None:
    manifest = read_manifest(old)
    now = manifest.analysis[key]
    changed = msgspec.structs.replace(manifest, analysis={**manifest.analysis, key: value})
    write_manifest(old, changed)
    expected = re.escape(f"{old}: the index was made with another text analysis ")
    expected += re.escape(f"({key} {value!r} then, {now!r} now)")
    for act in (Index.open, replace_some, delete_some, compact_index):
        with pytest.raises(BrokenIndexError, match=expected):
            act(old)
    write_manifest(old, manifest)
    assert content_of(old) == OLD_CONTENT


@pytest.mark.parametrize("change", [{"stemmer": "lovins"}, {"stop_words": "mine"}, None])
def test_an_unknown_analysis_is_refused(old: Path, change: dict[str, str] | None) -> None:
    manifest = read_manifest(old)
    analysis = {**manifest.analysis, **change} if change else {}
    write_manifest(old, msgspec.structs.replace(manifest, analysis=analysis))
    with pytest.raises(BrokenIndexError, match=f"^{old}: its analysis is unknown here: "):
        Index.open(old)
    rebuild(old)
    assert content_of(old) == NEW_CONTENT


def test_a_manifest_that_lacks_a_file(old: Path) -> None:
    manifest = read_manifest(old)
    (entry,) = manifest.segments
    files = {name: file for name, file in entry.files.items() if name != "lengths"}
    entry = msgspec.structs.replace(entry, files=files)
    write_manifest(old, msgspec.structs.replace(manifest, segments=(entry,)))
    with pytest.raises(
        BrokenIndexError, match=f"^{old / entry.name}: its manifest lacks 'lengths'"
    ):
        Index.open(old)


# --- kills ---

MOMENTS = ("open", "os.", "shutil.", "sqlite3.", "fcntl.", "tempfile.")


def at_moment(number: int, act: Callable[[], object], work: Work) -> int:
    """Do something, and something else before its n-th touch of the file system; all touches."""
    seen = 0

    def hook(event: str, _: object) -> None:
        nonlocal seen
        if event.startswith(MOMENTS):
            seen += 1
            if seen == number:
                act()

    sys.addaudithook(hook)
    work()
    return seen


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def count_moments(work: Work, tmp_path: Path) -> int:
    def count() -> None:
        (tmp_path / "count").write_text(str(at_moment(0, die, work)))

    assert forked(count, tmp_path / "errors") == 0, (tmp_path / "errors").read_text()
    return int((tmp_path / "count").read_text())


def check_whole(folder: Path, after: Documents) -> bool:
    """An index is as it was before a change, or as it should be after; whether the latter."""
    found = content_of(folder)
    assert found in (OLD_CONTENT, counted(after, PORTER))
    return found != OLD_CONTENT


@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_at_any_moment_leaves_the_old_index_or_the_new(
    template: Path, tmp_path: Path, name: str
) -> None:
    change, after = CHANGES[name]
    folder = tmp_path / "index"
    shutil.copytree(template, folder)
    moments = count_moments(partial(change, folder), tmp_path)
    assert moments > 20
    done = []
    for moment in range(1, moments + 1, 3):
        shutil.rmtree(folder)
        shutil.copytree(template, folder)
        work = partial(at_moment, moment, die, partial(change, folder))
        assert forked(work, tmp_path / "errors") == -signal.SIGKILL
        done.append(check_whole(folder, after))
        if moment % 2 == 0:
            replace_some(folder)
        else:
            rebuild(folder)
            assert content_of(folder) == NEW_CONTENT
        check_tidy(folder)
    assert done == sorted(done)
    assert any(done) or name == "compact"


def test_a_kill_at_any_moment_of_a_first_build_leaves_none_or_all(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "index"
    moments = count_moments(partial(rebuild, folder), tmp_path)
    finished = []
    for moment in range(1, moments + 1, 3):
        shutil.rmtree(folder.parent, ignore_errors=True)
        work = partial(at_moment, moment, die, partial(rebuild, folder))
        assert forked(work, tmp_path / "errors") == -signal.SIGKILL
        try:
            assert content_of(folder) == NEW_CONTENT
            finished.append(True)
        except BrokenIndexError as error:
            assert re.search("no such folder|holds no finished index", str(error))  # noqa: PT017
            finished.append(False)
        build_index(entries(OLD), folder, BuildOptions(PORTER))
        check_tidy(folder)
    assert finished == sorted(finished)
    assert {False, True} == set(finished)


def test_kills_at_random_times(template: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    folder = tmp_path / "index"
    shutil.copytree(template, folder)
    source = big_source(tmp_path)
    killed = 0
    for _ in range(12):
        child = multiprocessing.get_context("fork").Process(
            target=cli.main, args=(["index", str(source), "-o", str(folder)],)
        )
        child.start()
        time.sleep(chance.uniform(0, 0.15))
        child.kill()
        child.join()
        killed += child.exitcode == -signal.SIGKILL
        with Index.open(folder) as index:
            index.verify()
            assert index.document_count in (len(OLD), 2000)
    assert killed
    rebuild(folder)
    check_tidy(folder)
    assert content_of(folder) == NEW_CONTENT


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_command_killed_or_interrupted(old: Path, tmp_path: Path, number: signal.Signals) -> None:
    source = big_source(tmp_path, 40_000)
    running = subprocess.Popen(
        command(source, "-o", old), env=environment(), stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not list(old.glob("building-*")) and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.002)
    running.send_signal(number)
    error = running.communicate()[1]
    assert content_of(old) == OLD_CONTENT
    if number == signal.SIGKILL:
        assert running.returncode == -number
        rebuild(old)
    else:
        assert (running.returncode, error) == (130, "sicetnon: interrupted\n")
    check_tidy(old)


def test_an_interrupt_at_any_moment_is_clean(template: Path, tmp_path: Path) -> None:
    folder, errors = tmp_path / "index", tmp_path / "errors"
    source = write_lines(tmp_path / "new.jsonl", *({"id": i, "text": t} for i, (t,) in NEW.items()))
    arguments = ["index", str(source), "-o", str(folder)]
    shutil.copytree(template, folder)
    moments = count_moments(partial(cli.main, arguments), tmp_path)

    def interrupted(moment: int) -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        status = 0

        def work() -> None:
            nonlocal status
            status = cli.main(arguments)

        at_moment(moment, partial(os.kill, os.getpid(), signal.SIGINT), work)
        return status

    for moment in range(1, moments + 1, 3):
        shutil.rmtree(folder)
        shutil.copytree(template, folder)
        status = forked(partial(interrupted, moment), errors)
        assert status in (0, 130), errors.read_text()
        if status:
            assert told(errors) == "sicetnon: interrupted\n"
        check_whole(folder, NEW)
        rebuild(folder)
        check_tidy(folder)


# --- disks and permissions ---


def limited(size: int, arguments: list[str]) -> int:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return cli.main(arguments)


@pytest.mark.parametrize("size", [0, 100, 5_000, 40_000, 100_000, 400_000])
def test_files_that_cannot_grow(old: Path, tmp_path: Path, size: int) -> None:
    source, new = big_source(tmp_path), tmp_path / "new"
    for arguments in ([str(old)], [str(old), "--add"], [str(new)]):
        # what is said must reach us by a pipe: it could not be written to a file
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
            assert pipe.stdin is not None
            said = Path(f"/proc/self/fd/{pipe.stdin.fileno()}")
            work = partial(limited, size, ["index", str(source), "-o", *arguments])
            assert forked(work, said) == 1
            error = pipe.communicate()[0].decode()
        assert re.fullmatch("sicetnon: .*(too large|cannot be written).*\n", error), error
        assert content_of(old) == OLD_CONTENT
        check_tidy(old)
    assert not new.exists()


def test_the_command_on_a_disk_that_is_full(old: Path, tmp_path: Path) -> None:
    source = big_source(tmp_path)
    small_files = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    error = fails(source, "-o", old, preexec_fn=small_files)
    assert "File too large" in error or "document store cannot be written" in error
    assert content_of(old) == OLD_CONTENT
    check_tidy(old)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk(small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_disk / "index"
    build_index(entries(OLD), folder, BuildOptions(PORTER))
    source = str(big_source(tmp_path, 12_000))
    for extra in ([], ["--add"]):
        assert cli.main(["index", source, "-o", str(folder), *extra]) == 1
        error = capsys.readouterr().err
        assert re.fullmatch(r"sicetnon: .*(No space left|database or disk is full).*\n", error)
        assert content_of(folder) == OLD_CONTENT
        check_tidy(folder)
    assert cli.main(["index", source, "-o", str(small_disk / "other")]) == 1
    assert not (small_disk / "other").exists()
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    for change in (replace_some, delete_some, compact_index):
        with pytest.raises((OSError, SicetnonError)):
            change(folder)
        assert content_of(folder) == OLD_CONTENT
    filler.unlink()
    replace_some(folder)
    check_tidy(folder)


def as_nobody(arguments: list[str]) -> int:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return cli.main(arguments)


def test_no_right_to_write(template: Path, open_folder: Path) -> None:
    source = write_lines(open_folder / "new.jsonl", {"id": "x", "text": "y"})
    index, errors = open_folder / "index", open_folder / "errors"
    shutil.copytree(template, index)
    for path in (*index.rglob("*"), index, open_folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    errors.touch()
    for arguments in (
        [source, "-o", index],
        [source, "-o", index, "--add"],
        ["-o", index, "--delete", "old1"],
        [source, "-o", open_folder / "new"],
        [source, "-o", open_folder / "deep" / "new"],
    ):
        work = partial(as_nobody, ["index", *map(str, arguments)])
        assert forked(work, errors) == 1, errors.read_text()
        assert "Permission denied" in told(errors)
    work = partial(as_nobody, ["index", "-o", str(index), "--verify"])
    assert forked(work, errors) == 0, errors.read_text()
    open_folder.chmod(0o755)
    assert {path.name for path in open_folder.iterdir()} == {"new.jsonl", "index", "errors"}
    for path in (index, *(path for path in index.iterdir() if path.is_dir())):
        path.chmod(0o755)
    assert content_of(index) == OLD_CONTENT


def test_where_no_folder_can_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_lines(tmp_path / "new.jsonl", {"id": "x", "text": "y"})
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "at all")
    outputs = ["/proc/index", "/proc", tmp_path / "file", tmp_path / "file" / "x"]
    for output in (*outputs, tmp_path / "dangling", "x" * 300):
        for extra in ([], ["--add"]):
            assert cli.main(["index", str(source), "-o", str(output), *extra]) in (1, 2)
            shown, error = capsys.readouterr()
            assert (shown, error.count("\n")) == ("", 1), error
    assert (tmp_path / "file").read_text() == "mine"


FOREIGN = ("notes.txt", "segment-notes/a.txt", "lock.txt", "manifest.json.bak", "building-x/plan")


@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_with_other_files_is_left_alone(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_lines(tmp_path / "new.jsonl", {"id": "x", "text": "y"})
    folder = tmp_path / "mine"
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("mine")
    assert cli.main(["index", str(source), "-o", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"(it holds {name.split('/')[0]!r}); choose another folder with -o" in error
    assert cli.main(["index", str(source), "-o", str(folder), "--add"]) == 1
    assert cli.main(["index", "-o", str(folder), "--delete", "x"]) == 1
    assert files_of(folder) == {name: b"mine"}


def test_other_files_in_an_index_are_left_alone(old: Path) -> None:
    (old / "segment-notes").mkdir()
    (old / "segment-notes" / "a.txt").write_text("mine")
    with pytest.raises(UsageError, match="segment-notes"):
        rebuild(old)
    delete_some(old)
    compact_index(old)
    assert (old / "segment-notes" / "a.txt").read_text() == "mine"


# --- several at once ---


class Slow:
    """A corpus of new documents that waits in the middle until it is told to go on."""

    def __init__(self) -> None:
        self.waiting, self.go = threading.Event(), threading.Event()

    def corpus(self) -> Corpus:
        def read(_: Path | str, __: Reading) -> Iterator[Record]:
            for place, (identifier, (text,)) in enumerate(NEW.items()):
                if place == 5:
                    self.waiting.set()
                    assert self.go.wait(30)
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
        assert slow.waiting.wait(30)
        message = f"sicetnon: {folder}: another process is changing this index\n"
        assert cli.main(["index", str(source), "-o", str(folder)]) == 1
        assert capsys.readouterr().err == message
        if first:
            with pytest.raises(BrokenIndexError, match="holds no finished index"):
                Index.open(folder)
        else:
            assert fails(source, "-o", folder, "--add") == message
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
    arguments = ["index", str(source), "-o", str(tmp_path / "index")]
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
    with Index.open(old) as index:
        rebuild(old)
        assert content(index) == OLD_CONTENT
        with Index.open(old) as later:
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


# --- places ---


def test_an_output_folder_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real")
    with pytest.raises(DataError):
        build_index(corpus_of([]), link, BuildOptions(PORTER))
    assert link.is_symlink()
    rebuild(link)
    replace_some(link)
    compact_index(link)
    assert link.is_symlink()
    assert content_of(tmp_path / "real") == content_of(link)
    check_tidy(tmp_path / "real")


def test_relative_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep")
    build_index(entries(OLD), Path("index"), BuildOptions(PORTER))
    with Index.open("index") as index:
        monkeypatch.chdir("er")
        assert content(index) == OLD_CONTENT
    assert content_of(Path("../index")) == OLD_CONTENT
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    rebuild(Path())
    assert content_of(Path("../here")) == NEW_CONTENT
    check_tidy(tmp_path / "here")


def test_names_that_mean_something_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "[red]100% of a?b#c 'é'\n" / ("long name " * 12)
    rebuild(folder)
    assert content_of(folder) == NEW_CONTENT
    assert cli.main(["index", "-o", str(folder), "--verify"]) == 0
    assert capsys.readouterr().out == f"{folder}: all files are as they were written\n"


def test_without_a_place_for_compiled_code(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "new.jsonl", {"id": "x", "text": "y"})
    nowhere = environment(NUMBA_CACHE_DIR="/proc/nowhere", XDG_CACHE_HOME="/proc/nowhere")
    nowhere.pop("HOME", None)
    run = partial(subprocess.run, capture_output=True, text=True)
    if run([*READ_ONLY, "true"], env=environment(), check=False).returncode:
        # the package's own folder can't be made read-only here, and serves
        done = run(command(source, "-o", tmp_path / "index"), env=nowhere)
    else:
        nowhere["HOME"] = "/proc/nowhere"
        done = run([*READ_ONLY, *command(source, "-o", tmp_path / "index")], env=nowhere)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(content_of(tmp_path / "index").records) == {"x"}
