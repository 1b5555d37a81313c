"""Makes a release: sets the version, builds sdist and wheel, checks them, commits and tags.

    make release VERSION=0.2.0                  # a dry run in a temporary clone
    make release VERSION=0.2.0 CONFIRM=yes      # in this checkout

Nothing is uploaded and nothing is pushed. Needs the extra `release`.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
UNRELEASED = "## [Unreleased]\n"
# each file that names the version, with the text that is replaced
VERSIONED = {
    "src/sicetnon/_version.py": (r'VERSION = ".*"', 'VERSION = "{version}"'),
    "CITATION.cff": (
        r"version: .*\ndate-released: .*",
        "version: {version}\ndate-released: {date}",
    ),
    "CHANGELOG.md": (re.escape(UNRELEASED), UNRELEASED + "\n## [{version}] - {date}\n"),
    "Dockerfile": (r"ARG VERSION=.*", "ARG VERSION={version}"),
}


def main() -> int:
    """Release, or show what a release would change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="such as 0.2.0")
    parser.add_argument("--confirm", action="store_true", help="release; default: a dry run")
    options = parser.parse_args()
    problem = problem_with(ROOT, options.version)
    if problem:
        print(f"release: {problem}", file=sys.stderr)
        return 1
    if options.confirm:
        release(ROOT, options.version)
        print(f"Tagged v{options.version}. To publish: git push --follow-tags; twine upload dist/*")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "sicetnon"
        run("git", "clone", "--quiet", str(ROOT), str(clone), cwd=ROOT)
        release(clone, options.version)
        run("git", "--no-pager", "show", "--stat", "--patch", "HEAD", cwd=clone)
    print("This was a dry run: nothing has changed here. CONFIRM=yes makes the release.")
    return 0


def problem_with(root: Path, version: str) -> str:
    """The obstacles to this release; empty when there are none."""
    if not VERSION.fullmatch(version):
        return f"found the version {version!r}; expected one such as 0.2.0 or 0.2.0rc1"
    if output("git", "status", "--porcelain", cwd=root):
        return "the working tree has changes; commit or stash them first"
    if output("git", "tag", "--list", f"v{version}", cwd=root):
        return f"the tag v{version} exists; choose another version"
    if UNRELEASED not in (root / "CHANGELOG.md").read_text():
        return f"CHANGELOG.md has no heading {UNRELEASED.strip()!r}; add it above the new entries"
    return ""


def release(root: Path, version: str) -> None:
    """Set the version, build and check the distributions, commit and tag."""
    set_version(root, version, datetime.date.today())
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist", cwd=root)
    files = [str(path) for path in (root / "dist").glob(f"sicetnon-{version}*")]
    run(sys.executable, "-m", "twine", "check", "--strict", *files, cwd=root)
    run("git", "commit", "--quiet", "--all", "--message", f"Release {version}", cwd=root)
    run("git", "tag", "--annotate", f"v{version}", "--message", f"Version {version}", cwd=root)


def set_version(root: Path, version: str, date: datetime.date) -> None:
    """Write the version and the date into every file that names them.

    Raises:
        ValueError: A file does not name the version in exactly one place.
    """
    for name, (pattern, replacement) in VERSIONED.items():
        path = root / name
        text, count = re.subn(
            pattern, replacement.format(version=version, date=date), path.read_text()
        )
        if count != 1:
            raise ValueError(f"{name}: found {count} places with the version; expected 1")
        path.write_text(text)


def run(*command: str, cwd: Path) -> None:
    """Run a command; its failure ends the release."""
    print("+", " ".join(command), flush=True)
    subprocess.run(command, cwd=cwd, check=True)


def output(*command: str, cwd: Path) -> str:
    """The output of a command."""
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
