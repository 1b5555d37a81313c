"""Lucene as a peer, in a process of its own that runs `Lucene.java`.

It takes the jars of an OpenSearch, as the tests of clusters do (`SICETNON_OPENSEARCH`, by default
../shared/opensearch), and a JDK of 21 or newer.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.peers import IDS, K1, THREADS, B, Peer, analyzer, read_corpus

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from support.engine import HOME, java

_PROGRAM = Path(__file__).with_name("Lucene.java")
_FLAGS = (
    "-Xmx1g", "-XX:+UseSerialGC", "--add-modules=jdk.incubator.vector",
    "--enable-native-access=ALL-UNNAMED",
)  # fmt: skip


class Lucene(Peer):
    """Lucene with two writer threads, term frequencies and no positions, merged to one segment.

    It is given words that were analysed here, as PISA is. Lengths are one byte, so that scores
    differ a little from exact BM25. No texts are stored: one number per document, in a column.
    Hits are not counted, so that block-max WAND can skip. The program takes its own time for a
    query, without the pipe to it. The memory of a build is that of both processes.
    """

    name = "lucene"
    model: tuple[object, ...] = ("bm25", K1, B)

    @classmethod
    def unavailable(cls) -> str | None:
        """The missing requirement; None if Lucene can run."""
        if not list(HOME.glob("lib/lucene-core-*.jar")):
            return f"no Lucene in {HOME / 'lib'}; set SICETNON_OPENSEARCH"
        return None if java() else "no JDK of 21 or newer; set JAVA_HOME"

    def prepare(self) -> None:
        """Compile the program."""
        runtime = java()
        assert runtime
        self._folder = tempfile.TemporaryDirectory(prefix="lucene-")
        self._jars = f"{HOME / 'lib'}/*"
        compiler = runtime.with_name("javac")
        command: list[str | Path] = [compiler, "-cp", self._jars, "-d", self._folder.name, _PROGRAM]
        subprocess.run(command, check=True, capture_output=True)
        jars = f"{self._jars}:{self._folder.name}"
        self._command: list[str | Path] = [runtime, *_FLAGS, "-cp", jars, "Lucene"]

    def index(self, corpus: Path, work: Path) -> None:
        """Feed analysed words through a pipe."""
        analyze = analyzer()
        process = self._start("build", work / "index", THREADS)
        assert process.stdin
        assert process.stdout
        names: list[str] = []
        for name, text in read_corpus(corpus):
            names.append(name)
            process.stdin.write(" ".join(analyze(text)) + "\n")
        process.stdin.close()
        self.beside_bytes = int(process.stdout.readline())
        if process.wait():
            raise RuntimeError("the build ended with an error")
        (work / IDS).write_text("\n".join(names), encoding="utf-8")

    def open(self, work: Path) -> None:
        """Map the index, in a process that waits for queries."""
        self.prepare()
        self._analyze = analyzer()
        self._process = self._start("search", work / "index", *self.model)
        self._ids = (work / IDS).read_text("utf-8").split("\n")
        assert self._process.stdout
        self._process.stdout.readline()

    def search(self, query: str, k: int) -> Sequence[str]:
        """A boolean OR of analysed terms."""
        answer = self._ask(self._analyze(query), k)
        return [self._ids[int(number)] for number in answer[2::2]]

    def milliseconds(self, query: str, k: int) -> float:
        """The time to analyse the query, to search as the program takes it, and to get ids."""
        started = time.perf_counter_ns()
        terms = self._analyze(query)
        analysed = time.perf_counter_ns()
        answer = self._ask(terms, k)
        answered = time.perf_counter_ns()
        _ = [self._ids[int(number)] for number in answer[2::2]]
        ended = time.perf_counter_ns()
        return (analysed - started + int(answer[0]) + ended - answered) / 1e6

    def _ask(self, terms: Sequence[str], k: int) -> list[str]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{k} {' '.join(terms)}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().split()

    def _start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
