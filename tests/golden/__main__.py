"""Golden outputs: digests of what the product writes, so that a rebuild changes nothing.

    python -m tests.golden write           makes tests/golden/expected.json, the fast groups
    python -m tests.golden check           compares; prints the names that differ
    python -m tests.golden check page run  compares the names that begin with these
    python -m tests.golden check all       also the slow groups, `model` and `real`

`write` takes prefixes too, and keeps all other digests. It leaves its texts in
build/golden/expected; `check` leaves those that differ in build/golden/found, for `diff -r`. The
group `real` reads SICETNON_DATA.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.golden.groups import DATA, GROUPS, ROOT, SLOW, WANTED, is_wanted, stop_servers

EXPECTED, TEXTS = Path(__file__).with_name("expected.json"), ROOT / "build" / "golden"

PASSING = (
    (r"\b([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b", "<token>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<date>"),
    (r"\b\d{1,2} [A-Z][a-z]{2,8} 20\d\d\b", "<date>"),
    (r"\b127\.0\.0\.1:\d+", "<server>"),
    (r"(?<![\d.])\d+\.\d+\.\d+(\.?(dev|rc|post|a|b)\d*)?(?![\d.])", "<version>"),
    (r"(?<![\w.])[\d.,]+ (ms|s|seconds|min|minutes)\b", "<time>"),
    (r"(seconds: |\"(query_time|seconds|time)\": ?)[\d.e-]+", r"\1<time>"),
    (r"(cores: |model: |kernel: )[\w-]+\n", r"\1<machine>\n"),
    (r"/tmp/[\w.-]+", "<temporary>"),
    (r"\bsicetnon(\.\w+)+\.(?=\w)| at 0x[0-9a-f]+", ""),
)
# the model's numbers change in their last digits from machine to machine
ROUNDED = re.compile(r"(ask|page|api|model|real/ask)/|.*/(answers|dense|hybrid)/")


def normalised(name: str, output: str | bytes) -> bytes:
    """An output without what changes from run to run."""
    text = output if isinstance(output, str) else output.decode("utf-8", "ignore")
    if isinstance(output, bytes) and (text.encode() != output or "\0" in text):
        return output
    for path, word in ((Path.cwd(), "<work>"), (ROOT, "<root>"), (DATA, "<data>")):
        text = text.replace(str(path), word)
    for pattern, word in PASSING:
        text = re.sub(pattern, word, text)
    if ROUNDED.match(name):
        text = re.sub(r"-?\d+\.\d{5,}(e-?\d+)?", lambda each: f"{float(each[0]):.4f}", text)
    return text.encode()


def outputs() -> Iterator[tuple[str, bytes]]:
    """The wanted outputs, normalised, from a fresh working folder."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        os.chdir(folder)
        try:
            for group, made in GROUPS.items():
                if is_wanted(f"{group}/"):
                    began = time.perf_counter()
                    for name, output in made():
                        if name.startswith(tuple(WANTED)):
                            yield name, normalised(name, output)
                    print(f"{group}: {time.perf_counter() - began:.1f} s", file=sys.stderr)
        finally:
            stop_servers()
            os.chdir(home)


def save(folder: str, name: str, text: bytes) -> None:
    """Keep a text, so that a difference can be looked at."""
    path = TEXTS / folder / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)


def main(verb: str, *prefixes: str) -> int:
    """Write or check; the exit status."""
    fast = [f"{group}/" for group in GROUPS if group not in SLOW]
    WANTED[:] = [f"{group}/" for group in GROUPS] if prefixes == ("all",) else prefixes or fast
    os.environ |= {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    expected = json.loads(EXPECTED.read_text())
    known = {name for name in expected if name.startswith(tuple(WANTED))}
    for prefix in WANTED:
        shutil.rmtree(TEXTS / "found" / prefix.partition("/")[0], ignore_errors=True)
    digests: dict[str, str] = {}
    for name, text in outputs():
        if name in digests:
            raise ValueError(f"two outputs are named {name}")
        digests[name] = hashlib.sha256(text).hexdigest()
        if verb == "write":
            save("expected", name, text)
        elif digests[name] != expected.get(name):
            save("found", name, text)
    if verb == "write":
        # others may have been written meanwhile
        others = json.loads(EXPECTED.read_text()).items()
        kept = {name: digest for name, digest in others if name not in known} | digests
        EXPECTED.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
        print(f"{len(digests)} written, {len(kept)} in all")
        return 0
    differing = [name for name in known | set(digests) if digests.get(name) != expected.get(name)]
    for name in sorted(differing):
        how = "differs" if name in known and name in digests else "is new"
        print(f"{name} {how if name in digests else 'is missing'}")
    print(f"{len(digests)} compared, {len(differing)} differ")
    if differing:
        print(f"diff -r {TEXTS}/expected {TEXTS}/found | grep -v '^Only in .*expected'")
    return int(bool(differing))


if __name__ == "__main__":
    if sys.argv[1:2] not in (["write"], ["check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
