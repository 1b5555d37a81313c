"""What the golden outputs are of: commands, HTTP and the public names of `sicetnon`, by group."""

from __future__ import annotations

import contextlib
import csv
import functools
import gzip
import html
import http.client
import inspect
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data")).absolute()
# the working folder holds a copy of the examples, and no output holds another path
SAMPLE, PASSAGES = "examples/touche-2020-task-1", "examples/touche-2022-task-2"
QRELS, TOPICS = [f"{SAMPLE}/relevance.qrels", f"{SAMPLE}/quality.qrels"], "input/topics.xml"
QUESTIONS = {
    "should": "Should teachers get tenure?",
    "is": "Is homework good for children?",
    "why": "Why should zoos be abolished?",
    "claim": "I think that zoos should be closed.",
    "words": "nuclear power climate change",
    "misspelt": "Should techers get tenuer?",
    "nothing": "quaternions zygote",
    "german": "Sollten Museen Raubkunst zurückgeben?",
    "compare": "Which is better for a small lake, a kayak or a canoe?",
    "aspects": "Is rye bread healthier and cheaper than wheat bread?",
    "either": "Should I buy a gas stove or an induction stove?",
    "pros-cons": "What are the advantages and disadvantages of night trains over planes?",
}
COMPARISONS = ("compare", "aspects", "either", "pros-cons")
WANTED: list[str] = []
"""Beginnings of the names that are asked for."""
Outputs = Iterator[tuple[str, "str | bytes"]]


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
def index(source: object = f"{SAMPLE}/input", *options: str, models: str = "") -> str:
    """An index of a source, annotated by models; its folder."""
    words = [str(source).replace(str(DATA), "data"), *options, models]
    folder = "indexes/" + re.sub(r"\W+", "-", " ".join(words))
    Path("indexes").mkdir(exist_ok=True)
    said = command("index", "build", source, "-o", folder, *options)
    if models:
        said = command("index", "annotate", folder, "--with", models)
    assert said.endswith("status 0\n"), said
    return folder


def run_files(
    room: str, task: str, source: object, *options: str, only: str = "", but: str = ""
) -> Outputs:
    """The files that the systems of a task write; an unknown name lists the systems."""
    said = command("run", task, "-i", source, "-o", "out", "--system", "?")
    for system in said.split("choose one of ")[1].split("\n")[0].split(", "):
        name = f"{room}/{task.removeprefix('touche-')}/{system}"
        if is_wanted(name) and system not in but.split() and system in (only.split() or [system]):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            # the systems of the University of Amsterdam search arguments in an index of their own
            more = () if system == "uva" and "task-1" in task else options
            yield (
                f"{name}/said",
                command("run", task, "-i", source, "-o", name, "--system", system, *more),
            )
            yield from files(name, name)


# --- inputs made of others ---


@functools.cache
def processed(source: Path) -> str:
    """An input of 2022 task 1: the arguments of 2020 task 1, with their sentences."""
    Path("processed").mkdir()
    with Path("processed/args_processed_04_01.csv").open("w", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(("id", "conclusion", "premises", "context", "sentences"))
        for path in sorted(source.glob("*.json")):
            for each in json.loads(path.read_text("utf-8"))["arguments"]:
                texts = re.split(r"(?<=[.!?])\s+", each["premises"][0]["text"])
                named = [(f"PREMISE__{place}", text) for place, text in enumerate(texts, 1)]
                sentences = [
                    {"sent_id": f"{each['id']}__{place}", "sent_text": text}
                    for place, text in [*named, ("CONC__1", each["conclusion"])]
                ]
                cells = (each["premises"], each["context"], sentences)
                table.writerow((each["id"], each["conclusion"], *map(repr, cells)))
    shutil.copy(source / "topics.xml", "processed")
    return "processed"


@functools.cache
def pages(source: Path) -> str:
    """An index of web pages made of passages."""
    folder = Path("web", source.parent.name)
    (folder / "pages").mkdir(parents=True)
    with gzip.open(source / "passages.jsonl.gz", "rt", encoding="utf-8") as lines:
        passages = [json.loads(line) for line in lines]
    parts = itertools.groupby(passages, lambda each: each["id"].partition("___")[0])
    with (folder / "ranks.txt").open("w") as ranks:
        for place, (name, held) in enumerate(parts):
            text = "".join(f"<p>{html.escape(each['contents'])}</p>" for each in held)
            page = f"<html><title>{name}</title><body>{text}</body></html>"
            (folder / "pages" / f"{name}.html").write_text(page, "utf-8")
            ranks.write(f"{name}.html {place * 37 % 101 / 10}\n")
    return index(folder / "pages", "--page-ranks", f"{folder}/ranks.txt")


# --- groups ---


def index_group() -> Outputs:
    """Every file of indexes of the sample; changes, exchange and checks."""
    for analysis in ("", "plain", "porter", "porter-stop", "forms"):
        built = index(f"{SAMPLE}/input", *(["--analysis", analysis] if analysis else []))
        yield from files(built, f"index/{analysis or 'default'}")
    yield from files(index(f"{PASSAGES}/input/passages.jsonl.gz"), "index/passages")
    yield "index/export", command("index", "export", index(), "-o", "sample.ciff")
    yield "index/sample.ciff", Path("sample.ciff").read_bytes()
    yield from files(index("sample.ciff", "--analysis", "porter"), "index/from-ciff")
    parts = [index(f"{SAMPLE}/input", "--shard", f"{number}/3") for number in (1, 2, 3)]
    for name, option in (("merged", ()), ("linked", ("--link",))):
        yield f"index/{name}-said", command("index", "merge", *parts, "-o", name, *option)
        yield from files(name, f"index/{name}")
    first, second = f"{SAMPLE}/input/debatepedia.json", f"{SAMPLE}/input/idebate.json"
    gone = json.loads(Path(first).read_text())["arguments"][0]["id"]
    changed = index(first)
    yield "index/add", command("index", "add", second, "-o", changed)
    yield "index/delete", command("index", "delete", gone, "-o", changed)
    yield from files(changed, "index/changed")
    yield "index/info", command("index", "info", changed)
    yield "index/verify", command("index", "verify", changed)


def run_group() -> Outputs:
    """Run files and metadata of all tasks and systems on the samples."""
    source, held = f"{SAMPLE}/input", pages(Path(f"{PASSAGES}/input"))
    given = ("--index", index())
    yield from run_files("run", "touche-2020-task-1", source, *given, but="dense hybrid")
    yield from run_files("run", "touche-2021-task-1", source, *given, only="default dirichlet-rm3")
    for year in (2020, 2021):
        task = f"touche-{year}-task-2"
        yield from run_files("run", task, f"{PASSAGES}/input", "--index", held)
    where, rules = processed(Path(source)), ("--stance", "rules")
    yield from run_files("run", "touche-2022-task-1", where, *rules)
    yield from run_files("run", "touche-2022-task-2", f"{PASSAGES}/input")


@functools.cache
def runs() -> list[str]:
    """Two runs on the sample, and one that breaks rules."""
    for system in ("bm25", "dirichlet", "default"):
        words = ("--system", system, "--index", index(), "-o", f"runs/{system}")
        command("run", "touche-2020-task-1", "-i", f"{SAMPLE}/input", *words)
        shutil.copy(f"runs/{system}/run.txt", f"{system}.txt")
    lines = Path("bm25.txt").read_text().splitlines()
    Path("broken.txt").write_text("\n".join([*lines[5:40], lines[7], "1 Q0 x", *lines[300:]]))
    return ["bm25.txt", "dirichlet.txt", "default.txt"]


def pool(file: str) -> Outputs:
    """Make a pool, which two assessors have judged in part."""
    words = ("-o", file, "--topics", f"{SAMPLE}/{TOPICS}", "--depth", "5", "--votes", "2")
    yield "judge/pool", command("judge", "pool", *runs(), *words)
    lines = Path(QRELS[0]).read_text().replace(" -2\n", " 0\n").splitlines(keepends=True)
    for name, step, label in (("Ann", 2, "2"), ("Bob", 3, "1")):
        known = Path("known.qrels")
        known.write_text("".join(lines[::step]).replace(" 2\n", f" {label}\n"))
        words = ("--assessor", name, "--dimension", "relevance")
        yield f"judge/import-{name}", command("judge", "import", file, known, *words)


def score_group() -> Outputs:
    """Scores, checks, fusion, leaderboards, experiments and judgments of runs on the sample."""
    import sicetnon

    task, topics = "touche-2020-task-1", ("--topics", f"{SAMPLE}/{TOPICS}")
    given, measures = [*runs(), "--qrels", *QRELS], ["nDCG@5", "nDCG@10", "AP", "P@5", "RR"]
    for rule in ("official", "trec", "condensed"):
        words = ("evaluate", *given, "--rule", rule, "--measure", *measures)
        yield f"score/evaluate/{rule}.json", command(*words, "--baseline", "bm25.txt", "--json")
        yield f"score/evaluate/{rule}", command(*words)
    yield "score/report", command("evaluate", *given, *topics, "--index", index(), "--report", "r")
    yield from files("r", "score/report-files")
    for run, form in itertools.product(("bm25.txt", "broken.txt"), ("", "--json")):
        words = ("validate", run, "--task", task, *topics, "--index", index(), *form.split())
        yield f"score/validate/{run}{form}", command(*words)
    for year, number, form in itertools.product((2020, 2021, 2022), (1, 2), ("", "--json")):
        words = ("leaderboard", f"touche-{year}-task-{number}", *form.split())
        yield f"score/leaderboard/{year}-{number}{form}", command(*words)
    yield "score/leaderboard/own", command("leaderboard", task, *given)
    for method in ("rrf", "sum", "mnz"):
        said = command("fuse", *runs(), "-o", "fused.txt", "--method", method, "--task", task)
        yield f"score/fuse/{method}", said + Path("fused.txt").read_text()
    made = sicetnon.experiment(runs(), f"{SAMPLE}/{TOPICS}", QRELS, measures, baseline=0)
    yield "score/experiment", f"{made}\n{made._repr_html_()}"
    for name, said in pool("pool.sqlite"):
        yield f"score/{name}", said
    for verb, form in itertools.product(("status", "agreement", "disagreements"), ("", "--json")):
        yield f"score/judge/{verb}{form}", command("judge", verb, "pool.sqlite", *form.split())
    yield "score/judge/export", command("judge", "export", "pool.sqlite", "-o", "judged")
    yield from files("judged", "score/judge/judged")
    yield "score/judge/undo", command("judge", "undo", "pool.sqlite", "--assessor", "Bob")


def held_by(name: str) -> str:
    """The index that answers a question."""
    source = f"{PASSAGES}/input/passages.jsonl.gz" if name in COMPARISONS else f"{SAMPLE}/input"
    return index(source)


def ask_group() -> Outputs:
    """Answers, briefs, replies and parsed questions."""
    for name, question in QUESTIONS.items():
        words = ("--index", held_by(name))
        yield f"ask/parse/{name}", command("parse", question)
        yield f"ask/search/{name}.json", command("search", question, "--json", *words)
        bare = ("--no-sides", "--no-balance", "-k", "5", "--json")
        yield f"ask/no-sides/{name}.json", command("search", question, *bare, *words)
        if name in ("should", "nothing", "compare"):
            yield f"ask/search/{name}", command("search", question, "--explain", *words)
            yield f"ask/brief/{name}", command("brief", question, *words)
        if name in ("claim", "nothing"):
            for form in ("", "--json"):
                said = command("reply", question, "-k", "5", *words, *form.split())
                yield f"ask/reply/{name}{form}", said
    for system in ("bm25", "dph", "nope"):
        words = (QUESTIONS["should"], "--system", system, "--json", "--index", index())
        yield f"ask/system/{system}.json", command("search", *words)


class Server:
    """A running `sicetnon serve`."""

    def __init__(self, *options: str):
        words = [sys.executable, "-m", "sicetnon", "serve", "--port", "0", *options]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        lines = iter(self.process.stderr.readline, "")
        self._port = next(found[1] for line in lines if (found := re.search(r":(\d+) ans", line)))
        self._cookie = ""

    def ask(self, path: str, body: object = None, form: bool = False, **fields: object) -> str:
        """The answer to a GET, or to a POST of JSON or of a form: status, headers and body."""
        address = path + (f"?{urlencode(fields)}" if fields and not form else "")
        headers = {"Accept": "text/html, application/json, text/event-stream", "Cookie": ""}
        headers["Cookie"] = self._cookie
        if form:
            body = urlencode(fields)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif body is not None:
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        link = http.client.HTTPConnection("127.0.0.1", int(self._port), timeout=120)
        link.request("GET" if body is None else "POST", address, body, headers)
        answer = link.getresponse()
        data = answer.read()
        if cookie := answer.headers.get("Set-Cookie"):
            self._cookie = cookie.partition(";")[0]
        kept = ("content-type", "content-security-policy", "cache-control", "location", "etag")
        said = [f"{key}: {answer.headers[key]}\n" for key in kept if key in answer.headers]
        return f"{answer.status}\n{''.join(said)}\n" + data.decode("utf-8", "backslashreplace")


SERVERS: dict[str, Server] = {}


def server(kind: str) -> Server:
    """The running server of arguments, with a pool and runs, or of passages."""
    if kind not in SERVERS:
        *_, _ = pool("served.sqlite")
        scored = ("--runs", *runs(), "--qrels", *QRELS, "--topics", f"{SAMPLE}/{TOPICS}")
        options = {"arguments": ("--judge", "served.sqlite", *scored), "passages": ()}[kind]
        where = held_by("should" if kind == "arguments" else "compare")
        SERVERS[kind] = Server("--index", where, *options)
    return SERVERS[kind]


def stop_servers() -> None:
    """End the servers that run."""
    for each in SERVERS.values():
        each.process.terminate()
        each.process.communicate()
    SERVERS.clear()


def page_group() -> Outputs:
    """Every page, from two running servers."""
    arguments, passages = server("arguments"), server("passages")
    yield "page/start", (start := arguments.ask("/"))
    yield "page/start-passages", passages.ask("/")
    for name, question in QUESTIONS.items():
        asked = passages if name in COMPARISONS else arguments
        yield f"page/ask/{name}", (page := asked.ask("/", q=question))
        if name in ("should", "compare"):
            for form in ("json", "markdown"):
                yield f"page/ask/{name}.{form}", asked.ask("/", q=question, format=form)
            for key, value in {
                "side": "for",
                "sort": "strongest",
                "length": "short",
                "n": 24,
            }.items():
                yield f"page/ask/{name}-{key}", asked.ask("/", q=question, **{key: value})
            first = re.search(r'href="/document\?id=([^"&]+)', page)[1]
            for path in ("document", "reply"):
                yield f"page/{path}/{name}", asked.ask(f"/{path}", id=first, q=question)
                yield f"page/{path}/{name}-alone", asked.ask(f"/{path}", id=first)
            yield f"page/brief/{name}", asked.ask("/brief", q=question)
            yield f"page/brief/{name}-file", asked.ask("/brief", q=question, format="file")
    yield "page/api", arguments.ask("/api")
    for path in sorted(set(re.findall(r"/static/[\w.-]+", start))):
        yield f"page{path}", arguments.ask(path)
    for name, path, fields in (
        ("judge/start", "", {}),
        ("judge/card", "", {"assessor": "Cleo"}),
        ("judge/again", "", {"assessor": "Ann"}),
        ("judge/overview", "/overview", {"assessor": "Ann"}),
        ("judge/next", "/next", {"assessor": "Cleo", "count": 3}),
        ("judge/agreement", "/agreement", {}),
    ):
        yield f"page/{name}", arguments.ask(f"/judge{path}", **fields)
    yield "page/judge/none", passages.ask("/judge")
    yield "page/judge/refused", arguments.ask("/judge", form=True, assessor="Cleo", kind="vote")
    yield "page/runs/start", arguments.ask("/runs")
    yield "page/runs/none", passages.ask("/runs")
    yield "page/runs/served", arguments.ask("/runs/served")
    both = {"first": "bm25", "second": "dirichlet"}
    for name, more in (("all", {}), ("topic", {"topic": "1"}), ("part", {"part": 2})):
        said = arguments.ask("/runs/served/compare", **both, **more)
        yield f"page/runs/compare-{name}", said
    yield "page/token", arguments.ask("/token", next="/runs")
    yield "page/token-wrong", arguments.ask("/token", form=True, token="wrong", next="/runs")
    yield "page/missing", arguments.ask("/nothing")
    yield "page/missing-document", arguments.ask("/document", id="nothing")


def api_group() -> Outputs:
    """The OpenAPI document, the answers of the API, and the tools for assistants."""
    question = QUESTIONS["should"]
    asked = server("arguments")
    yield "api/openapi", asked.ask("/api/v1/openapi.json")
    found = asked.ask("/api/v1/search", q=question, k=3)
    yield "api/search", found
    first = re.search(r'"id":"([^"]+)"', found)[1]
    yield "api/search-again", asked.ask("/api/v1/search", q=question, k=3, system="bm25")
    yield "api/document", asked.ask(f"/api/v1/documents/{first}")
    yield "api/missing", asked.ask("/api/v1/documents/nothing")
    yield "api/parse", asked.ask("/api/v1/parse", q=QUESTIONS["compare"])
    for form in ("json", "html", "markdown"):
        yield f"api/brief.{form}", asked.ask("/api/v1/brief", q=question, format=form)
    for task in ("quality", "argumentativeness", "side"):
        body = {"task": task, "texts": ["Tenure protects freedom."], "question": question}
        yield f"api/annotate-{task}", asked.ask("/api/v1/annotate", body)
    yield "api/reply", asked.ask("/api/v1/reply", {"text": QUESTIONS["claim"], "k": 2})
    yield "api/argsme", asked.ask("/api/v2/arguments", query=question, pageSize=3)
    yield "api/chatnoir", asked.ask("/api/v1/_search", query=question, size=3)
    yield "api/chatnoir-post", asked.ask("/api/v1/_search", {"query": question, "size": 3})
    run, qrels = Path(runs()[0]).read_text(), Path(QRELS[0]).read_text()
    body = {"run": run, "task": "touche-2020-task-1"}
    yield "api/validate", asked.ask("/api/v1/validate", body)
    body = {"runs": {"mine": run}, "qrels": {"judged": qrels}}
    yield "api/evaluate", asked.ask("/api/v1/evaluate", body)
    yield "api/wrong", asked.ask("/api/v1/evaluate", {"runs": 1})
    turns = [{"role": "user", "content": "I think that zoos should be closed."}]
    yield "api/debate", asked.ask("/", {"messages": turns})
    call = {"jsonrpc": "2.0", "id": 1}
    yield "api/mcp/tools", asked.ask("/mcp", call | {"method": "tools/list"})
    for tool, given in {
        "search": {"question": question, "k": 2},
        "compare": {"first": "city", "second": "village"},
        "brief": {"question": question},
        "document": {"identifier": first},
        "nope": {},
    }.items():
        body = call | {"method": "tools/call", "params": {"name": tool, "arguments": given}}
        yield f"api/mcp/{tool}", asked.ask("/mcp", body)


def help_group(words: tuple[str, ...] = ()) -> Outputs:
    """The help of all commands, as each lists those below it."""
    said = command(*words, "--help")
    yield "/".join(("help", *words, "help")), said
    listed = re.split(r"^(?:commands|verbs):\n", said, flags=re.M)[1:]
    for name in re.findall(r"^    ([a-z]\w*)", listed[0], re.M) if listed else ():
        yield from help_group((*words, name))
    if not words:
        yield "help/wrong", command("serach", "x") + command("search", "--indx", "y", "x")


def names_group() -> Outputs:
    """The public names: signatures and first lines of docstrings."""
    import sicetnon

    def shown(value: object) -> str:
        with contextlib.suppress(TypeError, ValueError):
            return f"{inspect.signature(value)}"
        return type(value).__name__

    def first(value: object) -> str:
        return (inspect.getdoc(value) or "").partition("\n")[0]

    yield "names/all", "\n".join(sorted(sicetnon.__all__))
    for name in sorted(sicetnon.__all__):
        value = getattr(sicetnon, name)
        yield f"names/{name}", f"{shown(value)}\n{first(value)}"
        if inspect.isclass(value) and not issubclass(value, Exception):
            members = [(each, getattr(value, each)) for each in dir(value) if each[0] != "_"]
            lines = [f"{each} {shown(held)} {first(held)}" for each, held in members]
            yield f"names/{name}.members", "\n".join(lines)


def model_group() -> Outputs:
    """The sample with annotations of the model, and the systems that read more by it."""
    source, models = f"{SAMPLE}/input", "quality,argumentativeness,embedding"
    annotated = index(source, models=models)
    yield from files(annotated, "model/index")
    yield "model/info", command("index", "info", annotated)
    yield from run_files("model", "touche-2020-task-1", source, "--index", annotated)
    yield from run_files("model", "touche-2022-task-1", processed(Path(source)))


def real_runs() -> Outputs:
    """Run files on real data; 2021 has other topics, and the systems of 2020.

    Left out: dense and hybrid, whose annotations take ten minutes, and the systems of task 2 that
    classify whole pages. The groups `model` and `run` have them on the sample.
    """
    arguments, passages = DATA / "touche-2020-task-1/input", DATA / "touche-2022-task-2/input"
    for year, number in itertools.product((2020, 2021), (1, 2)):
        task = f"touche-{year}-task-{number}"
        if is_wanted(f"real/{year}-task-{number}/"):
            source = Path("real-input", task)
            source.mkdir(parents=True)
            for path in arguments.glob("*.json") if number == 1 else ():
                (source / path.name).symlink_to(path)
            shutil.copy(DATA / "topics" / f"{task}.xml", source / "topics.xml")
            held = index(arguments) if number == 1 else pages(passages)
            some = "default bm25 every-signal" if number == 2 else ""
            options = {"only": "default" if year == 2021 else some, "but": "dense hybrid"}
            yield from run_files("real", task, source, "--index", held, **options)
    if is_wanted("real/2022-task-1/"):
        source, task = DATA / "touche-2022-task-1/input", "touche-2022-task-1"
        yield from run_files("real", task, source, "--stance", "rules")
    yield from run_files("real", "touche-2022-task-2", passages)


def real_group() -> Outputs:
    """Run files of all tasks on real data, scores of 2020 task 1, the index, and answers."""
    yield from real_runs()
    judged = DATA / "qrels/touche-2020-task-1-relevance.held-text.odd-topics.qrels"
    for run in sorted(Path("real").glob("2020-task-1/*/run.txt")):
        for rule in ("official", "condensed"):
            words = ("evaluate", run, "--qrels", judged, "--rule", rule, "--json")
            yield f"{run.parent}/{rule}.json", command(*words)
    if is_wanted("real/ask/") or is_wanted("real/index/"):
        held = index(DATA / "touche-2020-task-1/input")
        yield from files(held, "real/index")
        for name, question in QUESTIONS.items():
            yield f"real/ask/{name}", command("search", question, "--json", "--index", held)


GROUPS = {
    "index": index_group,
    "run": run_group,
    "score": score_group,
    "ask": ask_group,
    "page": page_group,
    "api": api_group,
    "help": help_group,
    "names": names_group,
    "model": model_group,
    "real": real_group,
}
SLOW = ("model", "real")


def is_wanted(name: str) -> bool:
    """Whether a name, or one that begins with it, is asked for."""
    return any(name.startswith(each) or each.startswith(name) for each in WANTED)
