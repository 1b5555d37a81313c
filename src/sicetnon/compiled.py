"""numba's compiler, set as this package needs it: compiled once a machine, without the GIL."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function when it is first called, and keep the machine code on disk.

    Where neither the package's folder nor the user's cache folder can be written (a sandbox), it
    is compiled anew in each process instead.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)
