"""A release: one version in every file, and only from a clean checkout."""

from __future__ import annotations

import datetime
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import release

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with the files that name the version."""
    for name in release.VERSIONED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(folder, *author, "commit", "--quiet", "--message", "first")


def test_every_file_that_names_the_version_gets_the_new_one(checkout: Path) -> None:
    release.set_version(checkout, "1.2.3", datetime.date(2030, 1, 2))
    texts = {name: (checkout / name).read_text() for name in release.VERSIONED}
    assert 'VERSION = "1.2.3"' in texts["src/sicetnon/_version.py"]
    assert "version: 1.2.3\ndate-released: 2030-01-02" in texts["CITATION.cff"]
    assert "## [Unreleased]\n\n## [1.2.3] - 2030-01-02\n" in texts["CHANGELOG.md"]
    assert "ARG VERSION=1.2.3" in texts["Dockerfile"]


def test_a_release_is_refused_for_a_stated_reason(checkout: Path) -> None:
    assert release.problem_with(checkout, "1.2.3") == ""
    assert "expected one such as" in release.problem_with(checkout, "next")
    git(checkout, "tag", "v1.2.3")
    assert "exists" in release.problem_with(checkout, "1.2.3")
    (checkout / "Dockerfile").write_text("FROM scratch\n")
    assert "has changes" in release.problem_with(checkout, "1.2.4")
    with pytest.raises(ValueError, match="Dockerfile: found 0 places"):
        release.set_version(checkout, "1.2.4", datetime.date(2030, 1, 2))
