"""The end of a process: at once, but after all that is registered to run at the end."""

from __future__ import annotations

import subprocess
import sys

import pytest

WORK = {
    "plain": "",
    "exit function": "import atexit; atexit.register(print, 'last words')",
    "temporary folder": (
        "import tempfile; folder = tempfile.TemporaryDirectory(); import atexit, os; "
        "atexit.register(lambda: print('last words' if os.path.exists(folder.name) else 'gone'))"
    ),
    "another thread": (
        "import threading; main = threading.main_thread(); "
        "threading.Thread(target=lambda: (main.join(), print('last words'))).start()"
    ),
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize(
    ("command", "status"),
    [("--version", 0), ("search", 2), ("parse tea", 0), ("search tea --index nowhere", 1)],
)
def test_a_process_says_all_that_it_has_to_say(name: str, command: str, status: int) -> None:
    code = f"{WORK[name]}\nfrom sicetnon.cli import program\nprint('first words')\nprogram()"
    done = subprocess.run(
        [sys.executable, "-c", code, *command.split()], capture_output=True, text=True, check=False
    )
    said = done.stdout.splitlines()
    assert said[0] == "first words"
    assert ("last words" in said) == (name != "plain")
    assert bool(done.stderr) == bool(status)
    assert done.returncode == status


def test_a_search_ends_with_the_status_of_the_command() -> None:
    module = [sys.executable, "-m", "sicetnon"]
    question = ["search", "Should teachers get tenure?", "--no-sides"]
    found = subprocess.run([*module, *question], capture_output=True, text=True, check=True)
    assert found.stdout.strip()
    assert not found.stderr
    missing = [*module, *question, "--index", "nowhere"]
    done = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
