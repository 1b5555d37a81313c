"""Golden outputs: digests of what the product writes, so that a rebuild changes nothing.

    python -m tests.golden write            makes tests/golden/expected.json (the fast groups)
    python -m tests.golden check            compares with it; prints the names that differ
    python -m tests.golden check page/ask   compares the names that begin with this
    python -m tests.golden check all        compares all groups, also `annotated` and `real`

`write` takes prefixes too, and keeps all other digests. Texts go to build/golden/expected (write)
and build/golden/found (check, differing names alone), so that `diff -r` shows what changed. The
group `real` reads SICETNON_DATA; digests alone are kept of it.

Everything is asked through commands, HTTP and the public names of `sicetnon`.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import hashlib
import html
import io
import itertools
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = Path(__file__).with_name("expected.json")
TEXTS = ROOT / "build" / "golden"
DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
# paths in outputs are relative to the working folder, which holds copies of these
SAMPLE, PASSAGES = "examples/touche-2020-task-1", "examples/touche-2022-task-2"
QUESTIONS = {
    "should": "Should teachers get tenure?",
    "is": "Is homework good for children?",
    "why": "Why should zoos be abolished?",
    "claim": "Voting should be compulsory.",
    "words": "nuclear power climate change",
    "either": "Should I ban private cars or keep city centres open?",
    "compare": "Which is better for a small lake, a kayak or a canoe?",
    "aspects": "Is rye bread healthier and cheaper than wheat bread?",
    "pros-cons": "What are the advantages and disadvantages of night trains over planes?",
    "misspelt": "Should techers get tenuer?",
    "nothing": "Do quaternions commute?",
    "german": "Sollten Museen Raubkunst zurückgeben?",
}
Outputs = Iterator[tuple[str, "str | bytes"]]


# --- what is the same in every run ---

_PASSING = (
    (r"\b[0-9a-f]{64}\b", "<token>"),
    (r"\b[0-9a-f]{40}\b", "<commit>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", "<date>"),
    (r"\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November"
     r"|December) 20\d\d\b", "<date>"),
    (r"\b(127\.0\.0\.1|localhost):\d+", "<server>"),
    (r"(?<![\d.])\d+\.\d+\.\d+(?:\.?(?:dev|rc|post|a|b)\d*)?(?![\d.])", "<version>"),
    (r"(Python|numba|numpy|PyStemmer|msgspec|onnxruntime) \d[\w.]*", r"\1 <version>"),
    (r"(?<![\w.])[\d.,]+ (ms|s|seconds|min|minutes)\b", "<time>"),
    (r"(seconds: |\"(?:query_time|seconds)\": ?)[\d.e-]+", r"\1<time>"),
    (r"(cores: |model: |kernel: )\S+", r"\1<machine>"),
    (r"/tmp/[\w.-]+", "<temporary>"),
)  # fmt: skip
# the model's numbers change in their last digits with the machine
_ROUNDED = (
    "ask/",
    "page/",
    "api/",
    "annotated/",
    "run/2020-task-1/answers",
    "real/2020-task-1/ans",
)


def normalised(name: str, output: str | bytes) -> bytes:
    """An output without what changes from run to run."""
    if isinstance(output, bytes):
        try:
            output = output.decode()
        except UnicodeDecodeError:
            return output
        if "\0" in output:
            return output.encode()
    for path, word in ((str(Path.cwd()), "<work>"), (str(ROOT), "<root>"), (str(DATA), "<data>")):
        output = output.replace(path, word)
    for pattern, word in _PASSING:
        output = re.sub(pattern, word, output)
    if _ROUNDED.match(name):
        output = re.sub(r"-?\d+\.\d{5,}(e-?\d+)?", lambda each: f"{float(each[0]):.4f}", output)
    return output.encode()


# --- asking ---


def command(*words: object) -> str:
    """What a command prints, and how it ends."""
    from sicetnon.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
    printed, said = (stream.buffer.getvalue().decode() for stream in streams)
    return printed + (f"\n--- stderr\n{said}" if said else "") + f"--- status {status}\n"


def files(folder: str | Path, name: str) -> Outputs:
    """The files of a folder, and their list."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    yield f"{name}/list", "".join(f"{path.relative_to(folder)}\n" for path in paths)
    for path in paths:
        yield f"{name}/{path.relative_to(folder)}", path.read_bytes()


@functools.cache
def index(source: str = f"{SAMPLE}/input", *options: str) -> str:
    """An index of a source; its folder."""
    folder = "indexes/" + re.sub(r"\W+", "-", " ".join([source, *options]))
    Path("indexes").mkdir(exist_ok=True)
    said = command("index", "build", source, "-o", folder, *options)
    assert said.endswith("status 0\n"), said
    return folder


@functools.cache
def systems(task: str) -> list[str]:
    """The systems of a task, which an unknown name lists."""
    said = command("run", task, "-i", f"{SAMPLE}/input", "-o", "out", "--system", "?")
    return said.split("choose one of ")[1].split("\n")[0].split(", ")


def ran(task: str, source: str, system: str, folder: str, *options: str) -> str:
    """Do a task; what it printed."""
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    return command("run", task, "-i", source, "-o", folder, "--system", system, *options)


def run_files(task: str, source: str, folder: str, skip: tuple[str, ...], *options: str) -> Outputs:
    """The files that the systems of a task write."""
    for system in systems(task):
        name = f"{folder}/{task.removeprefix('touche-')}/{system}"
        if system not in skip and is_wanted(name):
            more = () if system.startswith("uva") and "task-1" in task else options
            yield f"{name}/said", ran(task, source, system, name, *more)
            yield from files(name, name)
            shutil.rmtree(f"{name}.index", ignore_errors=True)


# --- inputs made of others ---


def processed(source: Path, folder: str) -> str:
    """An input of 2022 task 1: the arguments of 2020 task 1, with their sentences."""
    Path(folder).mkdir(parents=True)
    with Path(folder, "args_processed_04_01.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("id", "conclusion", "premises", "context", "sentences"))
        for path in sorted(source.glob("*.json")):
            for each in json.loads(path.read_text("utf-8"))["arguments"]:
                sentences = [
                    {"sent_id": f"{each['id']}__PREMISE__{place}", "sent_text": text}
                    for place, text in enumerate(
                        re.split(r"(?<=[.!?])\s+", each["premises"][0]["text"]), 1
                    )
                ]
                conclusion = {"sent_id": f"{each['id']}__CONC__1", "sent_text": each["conclusion"]}
                cells = [each["premises"], each["context"], [*sentences, conclusion]]
                table.writerow((each["id"], each["conclusion"], *map(repr, cells)))
    shutil.copy(source / "topics.xml", folder)
    return folder


def pages(source: Path, topics: Path, folder: str) -> tuple[str, str]:
    """An input of 2020 task 2, and an index of web pages made of passages."""
    Path(folder, "pages").mkdir(parents=True)
    Path(folder, "input").mkdir()
    shutil.copy(topics, f"{folder}/input/topics.xml")
    with gzip.open(source / "passages.jsonl.gz", "rt", encoding="utf-8") as lines:
        passages = [json.loads(line) for line in lines]
    ranks = []
    for place, (name, held) in enumerate(
        itertools.groupby(passages, lambda each: each["id"].partition("___")[0])
    ):
        text = "".join(f"<p>{html.escape(each['contents'])}</p>" for each in held)
        page = f"<html><title>{name}</title><body>{text}</body></html>"
        Path(folder, "pages", f"{name}.html").write_text(page, "utf-8")
        ranks.append(f"{name}.html {(place * 37 % 101) / 10}\n")
    Path(folder, "ranks.txt").write_text("".join(ranks))
    options = ("--page-ranks", f"{folder}/ranks.txt")
    return f"{folder}/input", index(f"{folder}/pages", *options)


# --- groups ---


def index_group() -> Outputs:
    """Every file of indexes of the sample; changes, exchange and checks."""
    for analysis in ("", "plain", "porter", "porter-stop", "forms"):
        built = index(f"{SAMPLE}/input", *(["--analysis", analysis] if analysis else []))
        yield from files(built, f"index/{analysis or 'default'}")
    yield from files(index(f"{PASSAGES}/input/passages.jsonl.gz"), "index/passages")
    yield "index/info", command("index", "info", index())
    yield "index/verify", command("index", "verify", index())
    yield "index/export", command("index", "export", index(), "-o", "sample.ciff")
    yield "index/sample.ciff", Path("sample.ciff").read_bytes()
    yield from files(index("sample.ciff", "--analysis", "porter"), "index/from-ciff")
    parts = [index(f"{SAMPLE}/input", "--shard", f"{number}/3") for number in (1, 2, 3)]
    yield "index/merge", command("index", "merge", *parts, "-o", "merged")
    yield from files("merged", "index/merged")
    yield "index/link", command("index", "merge", *parts, "-o", "linked", "--link")
    yield from files("linked", "index/linked")
    first = sorted(each.name for each in Path(f"{SAMPLE}/input").glob("*.json"))
    changed = index(f"{SAMPLE}/input/{first[0]}")
    yield "index/add", command("index", "add", f"{SAMPLE}/input/{first[1]}", "-o", changed)
    gone = json.loads(Path(f"{SAMPLE}/input/{first[0]}").read_text())["arguments"][0]["id"]
    yield "index/delete", command("index", "delete", gone, "-o", changed)
    yield from files(changed, "index/changed")


def run_group() -> Outputs:
    """Run files and metadata of all tasks and systems on the samples."""
    source, models = f"{SAMPLE}/input", ("dense", "hybrid")
    for task in ("touche-2020-task-1", "touche-2021-task-1"):
        yield from run_files(task, source, "run", models, "--index", index())
    topics = Path(f"{PASSAGES}/input/topics.xml")
    where, held = pages(Path(f"{PASSAGES}/input"), topics, "web")
    for task in ("touche-2020-task-2", "touche-2021-task-2"):
        yield from run_files(task, where, "run", (), "--index", held)
    made = processed(Path(source), "processed")
    yield from run_files("touche-2022-task-1", made, "run", ())
    yield from run_files("touche-2022-task-2", f"{PASSAGES}/input", "run", ())


GROUPS = {"index": index_group, "run": run_group}
SLOW = ("annotated", "real")


# --- writing and checking ---

_wanted: tuple[str, ...] = ()


def is_wanted(name: str) -> bool:
    """Whether the outputs of a name, or of names that begin with it, are asked for."""
    return any(name.startswith(each) or each.startswith(name) for each in _wanted)


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
                        if name.startswith(_wanted):
                            yield name, normalised(name, output)
                    print(f"{group}: {time.perf_counter() - began:.1f} s", file=sys.stderr)
        finally:
            os.chdir(home)


def main(verb: str, *prefixes: str) -> int:
    """Write or check; the exit status."""
    global _wanted
    fast = tuple(f"{group}/" for group in GROUPS if group not in SLOW)
    _wanted = tuple(f"{group}/" for group in GROUPS) if prefixes == ("all",) else prefixes or fast
    os.environ |= {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    known = {name for name in expected if name.startswith(_wanted)}
    folder = TEXTS / ("expected" if verb == "write" else "found")
    shutil.rmtree(TEXTS / "found", ignore_errors=True)
    digests = {}
    for name, output in outputs():
        assert name not in digests, name
        digests[name] = hashlib.sha256(output).hexdigest()
        if verb == "write" or digests[name] != expected.get(name):
            path = folder / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(output)
    if verb == "write":
        kept = {name: digest for name, digest in expected.items() if name not in known} | digests
        EXPECTED.write_text(json.dumps(kept, indent=0, sort_keys=True) + "\n")
        print(f"{EXPECTED}: {len(digests)} written, {len(kept)} in all")
        return 0
    differing = sorted(each for each in known | set(digests)
                       if digests.get(each) != expected.get(each))  # fmt: skip
    for name in differing:
        why = "differs" if name in digests and name in known else "is new"
        print(f"{name} {why if name in digests else 'is missing'}")
    print(f"{len(digests)} compared, {len(differing)} differ")
    if differing:
        print(f"diff -r {TEXTS}/expected {TEXTS}/found")
    return bool(differing)


if __name__ == "__main__":
    if sys.argv[1:2] not in (["write"], ["check"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
