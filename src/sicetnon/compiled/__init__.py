"""Kernels: functions that numba compiles when they are first called, and not before.

numba takes about half a second to load, and more than ten to compile all kernels on a new machine.
A small piece of work is done sooner without it, in plain Python and numpy.
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

PLAIN_SECONDS = 1.0
"""Work that a process does plainly before it loads the compiler: about what loading it costs."""


class Kernel(Generic[Parameters, Result]):
    """A function that is compiled when it is first called from Python.

    Another kernel may call it by its global name.

    Args:
        function: The function to compile.
        plain: Does the same without the compiler; used for small pieces of work.
        seconds: About how long `plain` takes, from the same arguments.
        is_stored: Whether the machine code is kept for other processes.
        allocates: As in `compiled`.

    Attributes:
        function: The function as Python runs it.
        plain: See above.
    """

    def __init__(
        self,
        function: Callable[Parameters, Result],
        plain: Callable[Parameters, Result] | None = None,
        seconds: Callable[Parameters, float] | None = None,
        is_stored: bool = True,
        allocates: bool = True,
    ):
        functools.update_wrapper(self, function)
        self.function, self.plain = function, plain
        self._seconds, self._is_stored, self._allocates = seconds, is_stored, allocates

    def __call__(self, *arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        """Call the compiled function, or the plain one if there is little to do."""
        if (
            self.plain is not None
            and not _plainness.is_over
            and self._seconds is not None
            and is_small(self._seconds(*arguments, **named))
        ):
            return self.plain(*arguments, **named)
        return self.dispatcher(*arguments, **named)  # type: ignore[no-any-return]

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The function as numba compiles it."""
        from sicetnon.compiled import compiler

        _plainness.is_over = True
        if not self._is_stored:
            return compiler.inlined_dispatcher(self.function, self._allocates)
        return compiler.dispatcher(self.function, self._allocates)

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
    plain: Callable[Parameters, Result],
    seconds: Callable[Parameters, float],
    allocates: bool = True,
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]: ...


@overload
def compiled(
    *, allocates: bool
) -> Callable[[Callable[Parameters, Result]], Kernel[Parameters, Result]]: ...


def compiled(
    function: Any = None, *, plain: Any = None, seconds: Any = None, allocates: bool = True
) -> Any:
    """Compile a function when it is first called; `compiler.dispatcher` has the details.

    Args:
        function: The function to compile.
        plain: Does the same without the compiler; used for small pieces of work.
        seconds: About how long `plain` takes, from the same arguments.
        allocates: Whether it makes arrays. One that makes none is faster: it counts no references
            to its arguments, which takes longer than the work on a word.
    """
    if function is None:
        return functools.partial(Kernel, plain=plain, seconds=seconds, allocates=allocates)
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
    """A function whose machine code `intrinsics` generates, since numba cannot."""

    @functools.cached_property
    def dispatcher(self) -> Any:
        from sicetnon.compiled import intrinsics

        return getattr(intrinsics, self.function.__name__)


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


class _Plainness:
    """The work that this process has done without compiling."""

    def __init__(self) -> None:
        self.is_over, self.seconds, self._lock = False, 0.0, threading.Lock()

    def is_enough(self, seconds: float) -> bool:
        with self._lock:
            self.seconds += seconds
            self.is_over = self.is_over or self.seconds > PLAIN_SECONDS
            return not self.is_over


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


_plainness = _Plainness()


def is_small(seconds: float) -> bool:
    """Whether a piece of work is better done without the compiler.

    So it is until this process has done as much work plainly as loading the compiler takes: then
    it is loaded, since whoever works that much goes on working. No process takes more than twice
    the time that it would have taken with the better choice.

    Args:
        seconds: About how long the plain way takes; the work counts as done.
    """
    return not _plainness.is_over and _plainness.is_enough(seconds)


def expect(seconds: float) -> None:
    """Compile from now on if the work to come is large.

    Args:
        seconds: About how long the plain way takes; the work does not count as done.
    """
    _plainness.is_over = _plainness.is_over or seconds > PLAIN_SECONDS


def load_compiler(seconds: float) -> None:
    """As `expect`, and load the compiler now if it will be needed, while other threads work.

    Args:
        seconds: As in `expect`.
    """
    expect(seconds)
    if _plainness.is_over:
        from sicetnon.compiled import compiler  # noqa: F401
