"""`sicetnon fuse` on files: an input is never overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.errors import UsageError
from sicetnon.library.fusing import fuse_files
from sicetnon.ranking.fusion import Fusion


def test_a_run_is_not_replaced_by_the_result(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    for path in (first, second):
        path.write_text(f"1 Q0 a 1 2.0 {path.stem}\n")
    (tmp_path / "link.txt").symlink_to(second)
    for output in (first, tmp_path / "folder" / ".." / "first.txt", tmp_path / "link.txt"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(UsageError, match="is one of the runs; choose another file"):
            fuse_files([first, second], output, Fusion(), 10, "tag")
    assert first.read_text().endswith("first\n")
