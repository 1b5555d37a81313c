"""Links in the folder of an index: nothing outside of it is read, written or removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from robustness.commands import contents
from sicetnon.cli import main
from sicetnon.errors import BrokenIndexError
from sicetnon.index.manifest import MANIFEST
from sicetnon.index.reader import IndexReader, verify_index
from sicetnon.index.writing import BuildOptions, build_index
from support.corpus_files import lines, put
from support.index_cases import PORTER, content_of, entries
from support.index_faults import OLD

SEGMENT = "segment-000001"
CHANGES = {
    "delete": ["index", "delete", "old3"],
    "add": ["index", "add", "{more}"],
    "annotate": ["index", "annotate", "{index}", "--with", "quality"],
    "build": ["index", "build", "{more}"],
    "merge": ["index", "merge", "{index}"],
}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    place = tmp_path / "around" / "index"
    build_index(entries(OLD), place, BuildOptions(PORTER))
    return place


def _folder(index: Path, outside: Path) -> None:
    (index / SEGMENT).rename(outside / SEGMENT)
    (index / SEGMENT).symlink_to(outside / SEGMENT)


def _file(index: Path, outside: Path) -> None:
    (index / SEGMENT / "postings").rename(outside / "postings")
    (index / SEGMENT / "postings").symlink_to(outside / "postings")


def _stray_folder(index: Path, outside: Path) -> None:
    (index / "segment-000007").symlink_to(outside)


def _building(index: Path, outside: Path) -> None:
    (index / "building-000002").symlink_to(outside)


def _mask(index: Path, outside: Path) -> None:
    (index / SEGMENT / "live-1").symlink_to(outside / "mine")


def _annotation(index: Path, outside: Path) -> None:
    for name in ("annotation-quality-12345678", "annotation-quality-12345678.unfinished"):
        (index / SEGMENT / name).symlink_to(outside / "mine")


LINKS = (_folder, _file, _stray_folder, _building, _mask, _annotation)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_outside_is_changed(
    index: Path, tmp_path: Path, link, change: str, failing
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("mine", "live-9", "annotation-quality-00000000", "mine.txt"):
        (outside / name).write_text(name)
    link(index, outside)
    more = put(tmp_path, "more.jsonl", lines({"id": "more", "text": "one more school"}))
    before = contents(tmp_path)
    output = index if change != "merge" else tmp_path / "merged"
    words = [word.format(more=more, index=index) for word in CHANGES[change]]
    words += ["-o", str(output)] if change != "annotate" else []
    if change == "merge" and link not in (_folder, _file):
        # what the manifest does not name is not read
        assert main(words) == 0
        assert {k: v for k, v in contents(tmp_path).items() if "merged/" not in k} == before
        return
    status, line = failing(*words)
    assert status == 1
    assert "link" in line or "no regular file" in line
    assert contents(tmp_path) == before


@pytest.mark.parametrize("link", [_folder, _file])
def test_no_link_is_read(index: Path, tmp_path: Path, link) -> None:
    (tmp_path / "outside").mkdir()
    link(index, tmp_path / "outside")
    with pytest.raises(BrokenIndexError, match=r"link|no regular file"):
        IndexReader.open(index)
    with pytest.raises(BrokenIndexError, match=r"link|no regular file"):
        verify_index(index)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among files")
@pytest.mark.parametrize(
    "name", ["building-000002", "segment-000009", f"{SEGMENT}/live-9", f"{SEGMENT}/annotation-x"]
)
def test_no_pipe_is_waited_for(index: Path, name: str, failing) -> None:
    os.mkfifo(index / name)
    status, line = failing("index", "delete", "old3", "-o", str(index))
    assert status == 1
    assert f"{index / name}: is a pipe or a device; remove it" in line


@pytest.mark.parametrize("suffix", ["", ".unfinished"])
def test_no_second_name_is_written_over(index: Path, suffix: str, failing) -> None:
    copy = shutil.copytree(index, index.with_name("copy"))
    assert main(["index", "annotate", str(copy), "--with", "quality", "--quiet"]) == 0
    (made,) = (copy / SEGMENT).glob("annotation-quality-*")
    mine = index.with_name("mine")
    mine.write_text("mine")
    (index / SEGMENT / f"{made.name}.unfinished").touch()
    (index / SEGMENT / f"{made.name}{suffix}").unlink(missing_ok=True)
    os.link(mine, index / SEGMENT / f"{made.name}{suffix}")
    status, line = failing("index", "annotate", str(index), "--with", "quality")
    assert status == 1
    assert "has a second name (hard link)" in line
    assert mine.read_text() == "mine"


def test_a_link_to_itself_is_no_place_for_an_index(tmp_path: Path, failing) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    more = put(tmp_path, "more.jsonl", lines({"id": "more", "text": "one more school"}))
    status, line = failing("index", "build", str(more), "-o", str(loop))
    assert status == 1
    assert "loop: File exists" in line


def test_an_index_may_be_named_by_a_link(index: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(index)
    assert main(["index", "delete", "old3", "-o", str(tmp_path / "named"), "--quiet"]) == 0
    shutil.copy(index / MANIFEST, tmp_path / MANIFEST)
    assert content_of(tmp_path / "named") == content_of(index)
