"""Places of an index: full disks, missing rights, other files, links."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from sicetnon import cli
from sicetnon.errors import DataError, SicetnonError, UsageError
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from support.index_cases import (
    PORTER,
    check_tidy,
    compact_index,
    content,
    content_of,
    corpus_of,
    entries,
    files_of,
    write_lines,
)
from support.index_faults import (
    NEW_CONTENT,
    NOBODY,
    OLD,
    OLD_CONTENT,
    big_source,
    delete_some,
    environment,
    fails,
    forked,
    rebuild,
    replace_some,
    told,
)

# --- disks and permissions ---


def limited(size: int, arguments: list[str]) -> int:
    sys.dont_write_bytecode = True  # Python would leave modules that are cut short
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return cli.main(arguments)


def test_a_few_documents_need_little_memory(old: Path, tmp_path: Path) -> None:
    def build() -> None:
        data = re.search(r"VmData:\s*(\d+) kB", Path("/proc/self/status").read_text())
        assert data is not None
        most = (int(data[1]) << 10) + (192 << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        rebuild(old)

    assert forked(build, tmp_path / "errors") == 0, (tmp_path / "errors").read_text()
    assert content_of(old) == NEW_CONTENT


@pytest.mark.parametrize("size", [0, 100, 5_000, 40_000, 100_000, 400_000])
def test_files_that_cannot_grow(old: Path, tmp_path: Path, size: int) -> None:
    source, new = big_source(tmp_path), tmp_path / "new"
    for verb, folder in (("build", old), ("add", old), ("build", new)):
        # what is said must reach us by a pipe: it could not be written to a file
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
            assert pipe.stdin is not None
            said = Path(f"/proc/self/fd/{pipe.stdin.fileno()}")
            work = partial(limited, size, ["index", verb, str(source), "-o", str(folder)])
            assert forked(work, said) == 1
            error = pipe.communicate()[0].decode()
        assert re.fullmatch("sicetnon: .*(too large|cannot be written).*\n", error), error
        assert content_of(old) == OLD_CONTENT
        check_tidy(old)
    assert not new.exists()


def test_the_command_on_a_disk_that_is_full(old: Path, tmp_path: Path) -> None:
    source = big_source(tmp_path)
    small_files = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    unchanged = environment(PYTHONDONTWRITEBYTECODE="1")
    error = fails("build", source, "-o", old, env=unchanged, preexec_fn=small_files)
    assert "File too large" in error or "document store cannot be written" in error
    assert content_of(old) == OLD_CONTENT
    check_tidy(old)


def test_a_full_disk(small_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_disk / "index"
    build_index(entries(OLD), folder, BuildOptions(PORTER))
    source = str(big_source(tmp_path, 12_000))
    for verb in ("build", "add"):
        assert cli.main(["index", verb, source, "-o", str(folder)]) == 1
        error = capsys.readouterr().err
        assert re.fullmatch(r"sicetnon: .*(No space left|database or disk is full).*\n", error)
        assert content_of(folder) == OLD_CONTENT
        check_tidy(folder)
    assert cli.main(["index", "build", source, "-o", str(small_disk / "other")]) == 1
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
    # a notice would say that the tests' own folder cannot be written
    os.environ.pop("SICETNON_CACHE", None)
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
        ["build", source, "-o", index],
        ["add", source, "-o", index],
        ["delete", "old1", "-o", index],
        ["build", source, "-o", open_folder / "new"],
        ["build", source, "-o", open_folder / "deep" / "new"],
    ):
        work = partial(as_nobody, ["index", *map(str, arguments)])
        assert forked(work, errors) == 1, errors.read_text()
        assert "Permission denied" in told(errors)
    work = partial(as_nobody, ["index", "verify", str(index)])
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
        for verb in ("build", "add"):
            assert cli.main(["index", verb, str(source), "-o", str(output)]) in (1, 2)
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
    assert cli.main(["index", "build", str(source), "-o", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"(it holds {name.split('/')[0]!r}); choose another folder" in error
    assert cli.main(["index", "add", str(source), "-o", str(folder)]) == 1
    assert cli.main(["index", "delete", "x", "-o", str(folder)]) == 1
    assert files_of(folder) == {name: b"mine"}


def test_other_files_in_an_index_are_left_alone(old: Path) -> None:
    (old / "segment-notes").mkdir()
    (old / "segment-notes" / "a.txt").write_text("mine")
    with pytest.raises(UsageError, match="segment-notes"):
        rebuild(old)
    delete_some(old)
    compact_index(old)
    assert (old / "segment-notes" / "a.txt").read_text() == "mine"


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
    with IndexReader.open("index") as index:
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
    assert cli.main(["index", "verify", str(folder)]) == 0
    shown = str(folder).replace("\n", " ")
    assert capsys.readouterr().out == f"{shown}: all files are as they were written\n"
