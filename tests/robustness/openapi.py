"""Holds the HTTP API against its own description: schemathesis, all checks, a real server.

python -m tests.robustness.openapi --examples 100
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGURATION = Path(__file__).with_name("openapi.toml")
PHASES = ("examples", "coverage", "fuzzing")
_MOST_SECONDS = 3600


def held_against_its_description(
    examples: int, phases: tuple[str, ...] = PHASES, seed: int = 1
) -> subprocess.CompletedProcess[str]:
    """What schemathesis says; its exit status is 0 where no check fails.

    Args:
        examples: Random requests for each operation at most.
        phases: Kinds of requests.
        seed: Of the random requests.
    """
    from support.debates import both_sides
    from support.served import served

    command = [sys.executable, "-m", "schemathesis.cli", "--no-color"]
    command += ["--config-file", str(CONFIGURATION), "run"]
    options = ["--checks=all", f"--max-examples={examples}", f"--seed={seed}"]
    options += [f"--phases={','.join(phases)}", "--generation-database=none"]
    with served(both_sides()) as client, tempfile.TemporaryDirectory() as folder:
        command += [f"{client.url}/api/v1/openapi.json", *options]
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_MOST_SECONDS
        )


def main() -> int:
    """Run it, and print what it says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100, help="random requests per operation")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    done = held_against_its_description(options.examples, seed=options.seed)
    print(done.stdout + done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    sys.exit(main())
