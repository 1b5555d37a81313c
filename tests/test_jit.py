"""The cache of compiled kernels."""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sicetnon
from sicetnon.jit import compiled, eight_bytes, prefetch

KERNEL = """
from sicetnon.jit import compiled

@compiled
def half(number: float) -> float:
    return number / 2

print(half(3.0))
"""

CALLED = """
from sicetnon.jit import {called_as}

NUMBER = {number}

@{called_as}
def part(number: float) -> float:
    return number / {divided} + NUMBER
"""

CALLING = """
from part import part
from sicetnon.jit import compiled

@compiled
def whole(number: float) -> float:
    return part(number)

print(whole(3.0))
"""

MADE = """
from part import part
from sicetnon.jit import compiled

def maker(called):
    @compiled
    def whole(number: float) -> float:
        return called(number)

    return whole

print(maker(part)(3.0))
"""

SMALL = """
import sys
from sicetnon.cli import main
from sicetnon import Index

index = Index.build([{"text": f"Tenure helps teacher {n}."} for n in range(30)])
index = index.add(["Tenure costs money."]).delete(["3"])
for system in ("default", "bm25-rm3", "dirichlet", "dph"):
    assert len(index.search("Does tenure help teachers?", system=system, sides=False)) == 10
sys.stdout = None
assert main(["search", "Should teachers get tenure?"]) == 0
assert main(["brief", "Should teachers get tenure?"]) == 0
sys.stdout = sys.__stdout__
print([name for name in ("numba", "scipy", "llvmlite") if name in sys.modules])
"""

COMPILED = """
import sys
from sicetnon import Index, jit

index = Index.build([{"text": f"Tenure helps teacher {n}."} for n in range(300)])
jit.announce_work(2 * jit.NUMPY_SECONDS)
for system in ("default", "bm25-rm3", "dirichlet", "dph"):
    assert len(index.search("Does tenure help teachers?", k=300, system=system, sides=False)) == 300
print([name for name in ("numba", "numba.np.arraymath", "scipy.linalg") if name in sys.modules])
"""


Here = Callable[[str], str]


@pytest.fixture
def run_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Runs `kernel.py` as a new process would, in this one, which has numba already."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def run(cache: str = "cache") -> str:
        if cache:
            monkeypatch.setenv("SICETNON_CACHE", str(tmp_path / cache))
        else:
            monkeypatch.delenv("SICETNON_CACHE", raising=False)
        for name in ("kernel", "part"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        importlib.import_module("kernel")
        return capsys.readouterr().out

    return run


def run(source: Path, **changes: str) -> str:
    """The output of a program, which complains about nothing."""
    done = subprocess.run(
        [sys.executable, str(source)], env=os.environ | changes, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_kernels_are_in_the_cache_folder_and_compiled_once(tmp_path: Path) -> None:
    source = tmp_path / "source" / "kernel.py"
    source.parent.mkdir()
    source.write_text(KERNEL)
    places = {"SICETNON_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    written = []
    for _ in range(2):
        assert run(source, **places) == "1.5\n"
        files = sorted((tmp_path / "cache" / "kernels").rglob("*.nb?"))
        written.append({path: path.stat().st_mtime_ns for path in files})
    assert written[0]
    assert written[0] == written[1]
    assert [path.name for path in source.parent.iterdir()] == ["kernel.py"]


def test_processes_that_start_at_once_compile_a_kernel_once(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("import logging\nlogging.basicConfig(level='INFO')\n" + KERNEL)
    places = {"SICETNON_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
    started = [
        subprocess.Popen(
            [sys.executable, str(source)],
            env=os.environ | places,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    said = [process.communicate() for process in started]
    assert {output for output, _ in said} == {"1.5\n"}
    assert sum("compiling for this machine" in complaints for _, complaints in said) == 1
    assert not list((tmp_path / "cache").rglob("*.lock"))


def test_signatures_never_share_a_file(tmp_path: Path, run_here: Here) -> None:
    # or processes that compile at the same time, each its own, mix up their machine code
    source = tmp_path / "kernel.py"
    names = []
    for argument, cache in (("3.0", "first"), ("3", "second")):
        source.write_text(KERNEL.replace("3.0", argument))
        os.utime(source, (1, 1))
        assert run_here(cache) == "1.5\n"
        names.append({path.name for path in (tmp_path / cache).rglob("*.nbc")})
    assert all(names)
    assert not names[0] & names[1]


@pytest.mark.parametrize("damage", [lambda code: code[:-100], lambda code: b"x" * len(code)])
def test_damaged_machine_code_is_compiled_anew(
    tmp_path: Path, run_here: Here, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    run_here()
    (kept,) = (tmp_path / "cache").rglob("*.nbc")
    whole = kept.stat().st_size
    kept.write_bytes(damage(kept.read_bytes()))
    damaged = kept.read_bytes()
    assert run_here() == "1.5\n"
    assert kept.stat().st_size == whole
    assert kept.read_bytes() != damaged


class _Payload:
    """Runs code when it is unpickled."""

    def __init__(self, marker: Path):
        self._marker = marker

    def __reduce__(self) -> Any:
        return Path.touch, (self._marker,)


def _plant(cache: Path, marker: Path) -> Path:
    """Put code in the place of a kernel, with the digest that it needs."""
    (kept,) = cache.rglob("*.nbc")
    code = pickle.dumps(_Payload(marker))
    file: Any = sys.modules["kernel"].half.dispatcher._cache._cache_file
    kept.write_bytes(file._digest(code) + code)
    return kept


def _opened_to_all(path: Path) -> None:
    path.chmod(0o777)


def _opened_to_the_group(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def _given_away(path: Path) -> None:
    if os.getuid():
        pytest.skip("needs the right to give a file away")
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize("part", ["file", "folder", "kernels", "cache"])
@pytest.mark.parametrize("change", [_opened_to_all, _opened_to_the_group, _given_away])
@pytest.mark.parametrize("variable", ["SICETNON_CACHE", "XDG_CACHE_HOME"])
def test_what_others_can_write_is_not_loaded(
    tmp_path: Path,
    run_here: Here,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    change: Callable[[Path], None],
    part: str,
) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    named = "cache"
    if variable != "SICETNON_CACHE":
        monkeypatch.setenv(variable, str(tmp_path / "home"))
        named = ""
    run_here(named)
    cache = tmp_path / (named or "home/sicetnon")
    planted = _plant(cache, tmp_path / "marker")
    places = {"file": planted, "folder": planted.parent, "kernels": cache / "kernels"}
    if part == "cache" and not named and change is not _given_away:
        pytest.skip("it is made private")
    change(places.get(part, cache))
    assert run_here(named) == "1.5\n"
    assert not (tmp_path / "marker").exists()


def test_what_the_user_alone_can_write_is_loaded(tmp_path: Path, run_here: Here) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    before = os.umask(0o002)
    try:
        run_here()
        # as proof that it is loaded, and that the test above plants what would be
        _plant(tmp_path / "cache", tmp_path / "marker")
        with contextlib.suppress(Exception):
            run_here()
    finally:
        os.umask(before)
    assert (tmp_path / "marker").exists()


@pytest.mark.parametrize("change", [_opened_to_all, _given_away])
def test_numbas_own_folder_is_held_to_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None]
) -> None:
    source, cache = tmp_path / "kernel.py", tmp_path / "numba"
    source.write_text(KERNEL)
    assert run(source, NUMBA_CACHE_DIR=str(cache)) == "1.5\n"
    (kept,) = cache.rglob("*.nbc")
    kept.write_bytes(b"x" * 99)
    change(cache)
    assert run(source, NUMBA_CACHE_DIR=str(cache)) == "1.5\n"
    assert kept.read_bytes() == b"x" * 99


@pytest.mark.parametrize("setting", ["cache_dir: own", "cache_dir: [", "debug_cache: 1"])
def test_a_file_of_the_working_folder_sets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    # it may have come with a corpus, and so may kernels beside it
    (tmp_path / "corpus").mkdir()
    monkeypatch.chdir(tmp_path / "corpus")
    Path(".numba_config.yaml").write_text(setting)
    source = tmp_path / "kernel.py"
    source.write_text(KERNEL)
    # the environment would take precedence
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert run(source, SICETNON_CACHE=str(tmp_path / "cache")) == "1.5\n"
    assert list((tmp_path / "cache").rglob("*.nbc"))
    assert [each.name for each in Path.cwd().iterdir()] == [".numba_config.yaml"]


@pytest.mark.parametrize("called_as", ["compiled", "inlined"])
def test_a_change_of_what_a_kernel_calls_counts(
    tmp_path: Path, run_here: Here, called_as: str
) -> None:
    part = tmp_path / "part.py"
    (tmp_path / "kernel.py").write_text(CALLING)
    for divided, number, printed in ((2, 1, "2.5\n"), (4, 1, "1.75\n"), (4, 2, "2.75\n")):
        part.write_text(CALLED.format(called_as=called_as, divided=divided, number=number))
        # a file of the same size within a second has the same bytecode file
        os.utime(part, (divided + number, divided + number))
        assert run_here() == printed


def test_a_change_of_what_a_kernel_is_made_with_counts(tmp_path: Path, run_here: Here) -> None:
    part = tmp_path / "part.py"
    (tmp_path / "kernel.py").write_text(MADE)
    for divided, printed in ((2, "2.5\n"), (4, "1.75\n")):
        part.write_text(CALLED.format(called_as="inlined", divided=divided, number=1))
        os.utime(part, (divided, divided))
        assert run_here() == printed


def test_a_full_disk_keeps_no_kernels(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    full = (
        "import resource, sys\nsys.dont_write_bytecode = True\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    )
    source.write_text(full + KERNEL)
    assert run(source, SICETNON_CACHE=str(tmp_path / "cache"), NUMBA_CACHE_DIR="") == "1.5\n"
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_without_a_folder_for_kernels_they_are_compiled_anew(tmp_path: Path) -> None:
    package = Path(sicetnon.__file__).parents[1]
    modules = [
        ".".join(path.relative_to(package).with_suffix("").parts)
        for path in package.rglob("*.py")
        if re.search(r"from sicetnon\.jit import .*\bcompiled\b", path.read_text())
    ]
    assert "sicetnon.retrieval.kernels" in modules
    source = tmp_path / "kernel.py"
    source.write_text("".join(f"import {module}\n" for module in modules) + KERNEL)
    assert run(source, NUMBA_CACHE_DIR="/proc/nowhere") == "1.5\n"


def test_small_work_needs_no_compiler(tmp_path: Path) -> None:
    source = tmp_path / "small.py"
    source.write_text(SMALL)
    assert run(source, SICETNON_CACHE=str(tmp_path / "cache")) == "[]\n"
    assert not (tmp_path / "cache" / "kernels").exists()


def test_kernels_that_are_kept_need_no_compiler(tmp_path: Path) -> None:
    source = tmp_path / "compiled.py"
    source.write_text(COMPILED)
    run(source)
    assert run(source) == "['numba']\n"


def test_much_work_is_compiled_in_the_end() -> None:
    program = """
from sicetnon import jit
print(jit.use_numpy(0.1), jit.use_numpy(2 * jit.NUMPY_SECONDS), jit.use_numpy(0.0))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "True False False\n"


@compiled(allocates=False)
def total(numbers: NDArray[np.float64], ahead: int) -> float:
    """A sum, with numbers asked for that are so many places ahead."""
    found = 0.0
    for place in range(numbers.size):
        prefetch(numbers, place + ahead)
        found += numbers[place]
    return found


@pytest.mark.parametrize("ahead", [0, 5, 1 << 40, -(1 << 40)])
def test_numbers_may_be_asked_for_that_are_not_there(ahead: int) -> None:
    assert total(np.arange(10.0), ahead) == 45.0
    assert total(np.empty(0), ahead) == 0.0


@compiled(allocates=False)
def wide(numbers: NDArray[Any], place: int) -> int:
    """Several elements as one number."""
    return eight_bytes(numbers, place)


@pytest.mark.parametrize("place", [0, 1, 2, 5])
@pytest.mark.parametrize("kind", ["<u2", "<i4"])
def test_several_elements_are_read_at_once(kind: str, place: int) -> None:
    numbers = np.arange(1, 10).astype(kind)
    expected = int.from_bytes(numbers[place:].tobytes()[:8], "little")
    assert wide(numbers, place) == eight_bytes(numbers, place) == expected


INTERRUPTED = """
import os, signal
from numba.core import event
from sicetnon.jit import compiled

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        print("compiled")

@compiled
def half(number: float) -> float:
    return number / 2

event.register("numba:compile", Interrupt())
try:
    half(3.0)
except KeyboardInterrupt:
    print("interrupted")
event._registered.clear()
print(half(3.0))
"""


def test_an_interrupt_waits_for_the_compiler(tmp_path: Path) -> None:
    source = tmp_path / "interrupted.py"
    source.write_text(INTERRUPTED)
    assert run(source) == "compiled\ninterrupted\n1.5\n"
