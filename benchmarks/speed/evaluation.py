"""Times scoring the 21 official runs of 2022 task 2, and a run of a million lines made up here.

    python -m benchmarks.speed.evaluation [--data DIR]

Every case runs in a process of its own, with all of its imports, as a command would; what is
printed is its wall time and its peak memory. The limits of the specification: 15 s on two cores
and 1 GB for the official runs with intervals on relevance, quality and stance.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TASK = "touche-2022-task-2"
DIMENSIONS = ("relevance", "quality", "stance")
CASES = {
    "official": "the official rule, with intervals",
    "baseline": "the same against a baseline (100,000 assignments a comparison)",
    "trec": "trec_eval's rule, by score",
    "library": "five measures, four of them by ir_measures",
    "million": "one run of a million lines, official rule",
}


def main() -> None:
    """Run every case, each in its own process."""
    default = os.environ.get("SICETNON_DATA", ROOT / ".." / "shared" / "data")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(default).resolve())
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        run_case(options.case, options.data)
        return
    for case, title in CASES.items():
        started = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "benchmarks.speed.evaluation",
            "--data",
            str(options.data),
            "--case",
            case,
        ]
        result = subprocess.run(command, check=False, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        said = result.stdout.strip() if result.returncode == 0 else result.stderr[-500:]
        print(f"{title}: {seconds:.1f} s with start and imports; {said}", flush=True)


def run_case(case: str, data: Path) -> None:
    """Run one case and print what it took."""
    from sicetnon.evaluation import evaluate

    runs = sorted((data / "runs" / TASK).glob("*/*.txt.gz"))
    qrels = [data / "qrels" / f"{TASK}-{dimension}.qrels" for dimension in DIMENSIONS]
    if case == "million":
        with tempfile.TemporaryDirectory() as directory:
            run, judgments = write_million(Path(directory))
            scores = evaluate(run, judgments)
    elif not runs:
        sys.exit(f"no official runs in {data}; set SICETNON_DATA or give --data")
    elif case == "baseline":
        scores = evaluate(runs, qrels, baseline=runs[-1])
    elif case == "library":
        measures = ["nDCG@5", "nDCG", "P(rel=2)@5", "AP", "RR"]
        scores = evaluate(runs, qrels, measures, rule="trec")
    else:
        scores = evaluate(runs, qrels, rule=case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(scores)} scores, peak memory {peak:.0f} MB")


def write_million(directory: Path) -> tuple[Path, Path]:
    """Write a run of 1,000 topics with 1,000 lines each, and judgments for it."""
    run, qrels = directory / "run.txt", directory / "relevance.qrels"
    with run.open("w") as file:
        for topic in range(1000):
            for rank in range(1, 1001):
                document = (rank * 7919 + topic * 104729) % 868655
                file.write(
                    f"{topic} Q0 clueweb12-{document:06d}-{rank:05d}___{rank} {rank} "
                    f"{1000.5 - rank} made-up\n"
                )
    with qrels.open("w") as file:
        for topic in range(1000):
            for rank in range(1, 51):
                document = (rank * 7919 + topic * 104729) % 868655
                file.write(f"{topic} 0 clueweb12-{document:06d}-{rank:05d}___{rank} {rank % 3}\n")
    return run, qrels


if __name__ == "__main__":
    main()
