"""numba's compiler, set as this package needs it: compiled once a machine, without the GIL."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from numba import njit
from numba.core import event

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class _Announcement(event.Listener):
    """Tells whoever waits at a terminal why the first call on a machine takes seconds."""

    def __init__(self) -> None:
        self._made = False

    def on_start(self, event: Any) -> None:
        if not self._made and sys.stderr.isatty():
            print("compiling for this machine, once; some seconds …", file=sys.stderr)  # noqa: T201
        self._made = True

    def on_end(self, event: Any) -> None:
        """Nothing is said when it ends."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function when it is first called, and keep the machine code on disk.

    A division by zero gives infinity, as in numpy: a check before each division would cost a tenth
    of the time of a search.

    Where neither the package's folder nor the user's cache folder can be written (a sandbox), it
    is compiled anew in each process instead.
    """
    try:
        return njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:
        return njit(nogil=True, error_model="numpy")(function)
