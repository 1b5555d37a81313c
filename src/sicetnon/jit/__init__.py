"""Kernels: functions that numba compiles when they are first called, and not before.

numba takes about half a second to load, and more than ten to compile all kernels on a new machine.
A small piece of work is done sooner without it, by a twin in numpy.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, overload

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

NUMPY_SECONDS = 1.0
"""Seconds that a process spends in twins before it loads numba: about what loading it costs."""


class Kernel(Generic[Parameters, Result]):
    """A function that is compiled when it is first called from Python.

    Another kernel may call it by its global name.

    Args:
        function: The function to compile.
        numpy: The twin in numpy, for small pieces of work.
        seconds: Estimated seconds of the twin, from the same arguments.
        is_stored: Whether the machine code is cached on disk for other processes.
        allocates: As in `compiled`.

    Attributes:
        function: The function as Python runs it.
        numpy: Its twin, or None.
    """

    def __init__(
        self,
        function: Callable[Parameters, Result],
        numpy: Callable[Parameters, Result] | None = None,
        seconds: Callable[Parameters, float] | None = None,
        is_stored: bool = True,
        allocates: bool = True,
    ):
        functools.update_wrapper(self, function)
        self.function, self.numpy = function, numpy
        self._seconds, self._is_stored, self._allocates = seconds, is_stored, allocates

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Call the compiled function, or its twin if there is little to do."""
        if (
            self.numpy is not None
            and not _budget.compiles_now
            and self._seconds is not None
            and use_numpy(self._seconds(*arguments, **named))
        ):
            return self.numpy(*arguments, **named)
        return self.dispatcher(*arguments, **named)  # type: ignore[no-any-return]

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it."""
        from sicetnon.jit import numba_cache

        _budget.compiles_now = True
        if not self._is_stored:
            return numba_cache.inlined_dispatcher(self.function, self._allocates)
        return numba_cache.dispatcher(self.function, self._allocates)

    @property
    def _numba_type_(self) -> Any:
        # numba asks this of whatever compiled code names
        return self.dispatcher._numba_type_

    def __reduce__(self) -> str:
        # numba pickles what a kernel refers to, to know whether stored machine code is its own
        return self.function.__qualname__


@overload
def compiled(function: Callable[Parameters, Result]) -> Kernel[Parameters, Result]: ...


@overload
def compiled(
    *,
    numpy: Callable[Parameters, Result],
    seconds: Callable[Parameters, float],
    allocates: bool = True,
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]: ...


@overload
def compiled(
    *, allocates: bool
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]: ...


def compiled(
    function: Any = None, *, numpy: Any = None, seconds: Any = None, allocates: bool = True
) -> Any:
    """Compile a function when it is first called; `numba_cache.dispatcher` has the details.

    Args:
        function: The function to compile.
        numpy: The twin in numpy, for small pieces of work.
        seconds: Estimated seconds of the twin, from the same arguments.
        allocates: Whether it makes arrays. One that makes none is faster: it counts no references
            to its arguments, which takes longer than the work on a word.
    """
    if function is None:
        return functools.partial(Kernel, numpy=numpy, seconds=seconds, allocates=allocates)
    return Kernel(function)


class Inlined(Kernel[Parameters, Result]):
    """A function that kernels call as compiled code, and Python as it stands."""

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Call the plain function."""
        return self.function(*arguments, **named)


@overload
def inlined(function: Callable[Parameters, Result]) -> Inlined[Parameters, Result]: ...


@overload
def inlined(
    *, allocates: bool
) -> Callable[[Callable[Parameters, Result]], Inlined[Parameters, Result]]: ...


def inlined(function: Any = None, *, allocates: bool = True) -> Any:
    """Make a plain function part of the kernels that call it.

    A call that hands over several arrays takes longer than the work on a word.

    Args:
        function: The function.
        allocates: As in `compiled`.
    """
    if function is None:
        return functools.partial(Inlined, is_stored=False, allocates=allocates)
    return Inlined(function, is_stored=False)


class _Generated(Inlined[Parameters, Result]):
    """A function whose machine code `numba_cache` generates, since numba cannot."""

    @functools.cached_property
    def dispatcher(self) -> Any:
        from sicetnon.jit import numba_cache

        return getattr(numba_cache, self.function.__name__)


@_Generated
def prefetch(array: Any, index: Any) -> None:
    """Start loading the cache line of an element that is read soon.

    Args:
        array: An array of one dimension, without gaps.
        index: The index of the element; there need be none.
    """


@_Generated
def eight_bytes(array: Any, index: Any) -> Any:
    """Read several elements of an array at once, which takes as long as reading one.

    Args:
        array: An array of one dimension, without gaps.
        index: The index of the first element; eight bytes from there on must be in the array.

    Returns:
        A number of 64 bits without a sign. The first element is in its lowest bits.
    """
    return array[index:].view("u1")[:8].view("<u8")[0]


class _CompileBudget:
    """The seconds that this process has spent in twins."""

    def __init__(self) -> None:
        self.compiles_now, self.seconds, self._lock = False, 0.0, threading.Lock()

    def covers(self, seconds: float) -> bool:
        with self._lock:
            self.seconds += seconds
            self.compiles_now = self.compiles_now or self.seconds > NUMPY_SECONDS
            return not self.compiles_now


@contextlib.contextmanager
def importing_numba() -> Iterator[None]:
    """Keep numba from reading `.numba_config.yaml` of the working folder, which may be anybody's.

    It could name a folder with kernels of its own, which are code. A program that has imported
    numba before has decided for itself.
    """
    if "numba" in sys.modules:
        yield
        return
    import yaml

    load = yaml.safe_load
    yaml.safe_load = lambda stream: None if _is_numbas(stream) else load(stream)
    try:
        yield
        from numba.core import config

        # else it would be read again before a kernel is compiled
        config._config_fname = ""
    finally:
        yaml.safe_load = load


def _is_numbas(file: object) -> bool:
    return getattr(file, "name", None) == ".numba_config.yaml"


_budget = _CompileBudget()


def use_numpy(seconds: float) -> bool:
    """Whether to run the numpy twin.

    Run it until the process has spent `NUMPY_SECONDS` in twins, then load numba. This never costs
    more than twice the optimum.

    Args:
        seconds: Estimated seconds of the twin; they count as spent.
    """
    return not _budget.compiles_now and _budget.covers(seconds)


def announce_work(seconds: float) -> None:
    """Skip the numpy phase if much work is expected.

    Args:
        seconds: Estimated seconds of the twin; they do not count as spent.
    """
    _budget.compiles_now = _budget.compiles_now or seconds > NUMPY_SECONDS


def preload_numba(seconds: float) -> None:
    """Announce work, and load numba now if it will be needed, while other threads work.

    Args:
        seconds: Estimated seconds of the twin.
    """
    announce_work(seconds)
    if _budget.compiles_now:
        from sicetnon.jit import numba_cache  # noqa: F401
