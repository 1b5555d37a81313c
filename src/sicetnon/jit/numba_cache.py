"""numba's compiler, set as this package needs it: compiled once per machine, without the GIL.

It also has instructions of processors that LLVM has and numba lacks: a prefetch, and a wide load.
To import this module loads numba, which takes about half a second.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import logging
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from sicetnon.jit import Kernel, importing_numba
from sicetnon.operating_system import code_folder, is_own_file, is_own_folder, try_lock

with importing_numba():
    from llvmlite import ir
    from numba import njit, types
    from numba.core import caching, event
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.runtime import nrt
    from numba.extending import intrinsic

_LOG = logging.getLogger("sicetnon.jit")
_DIGEST_BYTES = hashlib.sha256().digest_size
_NUMBERS = (int, float, np.number)
# a kernel compiles within three seconds; a process that is paused must not hold others up
_LONGEST_WAIT, _LOOKING = 20.0, 0.05
_READ, _KEEP, _DATA = 0, 3, 1
_UNALIGNED = 1


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay signals that end the program until a block that compiles is done: seconds at most.

    An exception that is raised in a finaliser of llvmlite would be printed and lost.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = list[int]()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handled = {number: handler for number, handler in before.items() if callable(handler)}
    for number in handled:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handled.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


class _Announcement(event.Listener):
    """Says at a terminal why the first call on a machine takes seconds."""

    def __init__(self) -> None:
        self._made = False

    def on_start(self, event: Any) -> None:
        if not self._made:
            _LOG.info("compiling for this machine, once: about 20 seconds …")
        self._made = True

    def on_end(self, event: Any) -> None:
        """Nothing is said when it ends."""


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


class _Locator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Keeps machine code in the folder `kernels` of the cache, not beside the source."""

    def __init__(self, function: Callable[..., Any], file: str):
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        # numba's own setting may come from a file
        named = os.environ.get("NUMBA_CACHE_DIR")
        folder = Path(named) if named else code_folder("kernels")
        self._folder = folder / self.get_suitable_cache_subpath(file)  # type: ignore[no-untyped-call]
        self._top = folder

    def get_cache_path(self) -> str:
        """The folder for the kernels of one package folder."""
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        """Make the folder; an error where others can write: they could put code there."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own_folder(self._folder, self._top):
            raise PermissionError("others can write there")
        super().ensure_cache_path()  # type: ignore[no-untyped-call]


class _KernelFiles(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012  # as in numba


class _KernelFile(caching.IndexDataCacheFile):
    """A file for each signature, named by it: a digest, and the machine code.

    numba numbers its files in an index. Two processes that compile at the same time then give the
    same number to different signatures, and a later one calls the wrong machine code.
    """

    def save(self, key: object, data: object) -> None:
        """Keep the machine code of a signature, if the disk has room."""
        code: bytes = self._dump(data)  # type: ignore[no-untyped-call]
        try:
            with self._open_for_write(self._path(key)) as file:
                Path(file.name).chmod(0o600)
                file.write(self._digest(code) + code)
        except OSError:
            _announce_loss()

    def load(self, key: object) -> Any:
        """The machine code of a signature, or None if there is none of this source and numba.

        It is a pickle, which can run code: one that others can write is not loaded.
        """
        try:
            with Path(self._path(key)).open("rb") as file:
                kept = file.read() if is_own_file(os.fstat(file.fileno())) else b""
        except OSError:
            return None
        code = kept[_DIGEST_BYTES:]
        return pickle.loads(code) if kept[:_DIGEST_BYTES] == self._digest(code) else None

    def _digest(self, code: bytes) -> bytes:
        """Tells damaged machine code, and that of another source or numba."""
        made_from = repr((self._source_stamp, self._version)).encode()
        return hashlib.sha256(made_from + code).digest()

    def _path(self, key: object) -> str:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        return str(Path(self._cache_path) / name)

    @contextlib.contextmanager
    def compiling(self, key: object) -> Iterator[None]:
        """Keep other processes from compiling the same signature meanwhile."""
        path = Path(self._path(key))
        lock = path.with_suffix(".lock")
        file = None
        if not path.exists():
            with contextlib.suppress(OSError):  # no folder can be written
                path.parent.mkdir(parents=True, exist_ok=True)
                file = lock.open("ab")
        if file is None:
            yield
            return
        try:
            with file:
                end = time.monotonic() + _LONGEST_WAIT
                with contextlib.suppress(OSError):  # a file system without locks
                    while not try_lock(file) and not path.exists() and time.monotonic() < end:
                        time.sleep(_LOOKING)
                yield
        finally:
            with contextlib.suppress(OSError):
                lock.unlink(missing_ok=True)


class _KernelCache(caching.FunctionCache):
    _impl_class = _KernelFiles
    _cache_file: _KernelFile

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)  # type: ignore[no-untyped-call]
        # numba's stamp covers the kernel's own file; what it calls may lie in another one
        stamp = (self._impl.locator.get_source_stamp(), _compiler_digest(), _code_parts(function))
        self._cache_file = _KernelFile(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, stamp
        )

    def load_overload(self, signature: object, target: Any) -> Any:
        """The kernel of a signature, if its machine code is on disk; else None.

        numba would first load all that it knows how to compile (and scipy, where it is installed).
        That takes a third of a second, and only a compilation needs it.
        """
        nrt.rtsys.initialize(target)  # what machine code calls to make arrays
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)  # type: ignore[no-untyped-call]

    def compiled_once(self, kernel: Any) -> Callable[[Any], Any]:
        """The function that compiles a kernel, or loads what another process has just compiled."""
        compile_ = kernel.compile

        def once(signature: Any) -> Any:
            key = self._index_key(signature, kernel.targetctx.codegen())  # type: ignore[no-untyped-call]
            # a thread that waits for a process must not have what a compiling thread waits for
            with global_compiler_lock, self._cache_file.compiling(key), _uninterrupted():
                return compile_(signature)

        return once


def _code_parts(function: Callable[..., Any]) -> list[tuple[object, ...]]:
    """A kernel and all that it calls, as written: what its machine code is made of."""
    parts: dict[Callable[..., Any], tuple[object, ...]] = {}
    waiting = [function]
    while waiting:
        part = waiting.pop()
        if part in parts:
            continue
        codes = list(_nested(part.__code__))
        named = sorted({name for code in codes for name in code.co_names})
        values = {name: part.__globals__.get(name) for name in named}
        values |= inspect.getclosurevars(part).nonlocals
        numbers = [(name, value) for name, value in values.items() if isinstance(value, _NUMBERS)]
        parts[part] = (part.__module__, part.__qualname__, *map(_written, codes), *numbers)
        waiting += [value.function for value in values.values() if isinstance(value, Kernel)]
    return list(parts.values())


@functools.cache
def _compiler_digest() -> str:
    """A digest of this file, which says how kernels are compiled."""
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _written(code: CodeType) -> tuple[object, ...]:
    constants = [value for value in code.co_consts if not isinstance(value, CodeType)]
    return code.co_code, code.co_names, repr(constants)


@functools.cache
def _announce_loss() -> None:
    _LOG.info(
        "found no room for kernels in a folder that this user alone can write: each process "
        "compiles for about 20 seconds"
    )


def dispatcher(function: Callable[..., Any], allocates: bool = True) -> Any:
    """Numba's dispatcher of a function: compiles it when it is first called, for each signature.

    The machine code is kept in `code_folder("kernels")`, or in the folder that `NUMBA_CACHE_DIR`
    names. Where none can be written (a sandbox), or others can write it, the function is compiled
    anew in each process.

    A division by zero gives infinity, as in numpy: a check before each division would cost a tenth
    of the time of a search.
    """
    # `_nrt` counts references; numba's types do not know it
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
    made: Any = njit(**options)(function)
    try:
        # what `cache=True` does, with our folder in place of numba's choice
        made._cache = _KernelCache(function)
        made.compile = made._cache.compiled_once(made)
    except RuntimeError:  # no folder can be written
        _announce_loss()
    return made


def inlined_dispatcher(function: Callable[..., Any], allocates: bool = True) -> Any:
    """The dispatcher of a function whose machine code becomes part of that of its callers."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": allocates}
    return njit(forceinline=True, **options)(function)


def _is_contiguous(array: Any) -> bool:
    return isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"


def _address(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """The address of an element of an array."""
    data = context.make_array(signature.args[0])(context, builder, values[0]).data
    return builder.gep(data, [values[1]])


def _prefetch_call(_: Any, array: Any, index: Any) -> Any:
    """The signature of a call and its code generator; None for arrays that are not contiguous."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], function_type)
        address = builder.bitcast(_address(context, builder, signature, values), byte)
        builder.call(function, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, index), generate


def _load_call(_: Any, array: Any, index: Any) -> Any:
    """The signature and the code generator of a load of eight bytes."""
    if not _is_contiguous(array):
        return None

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address = _address(context, builder, signature, values)
        word = builder.load(builder.bitcast(address, ir.IntType(64).as_pointer()))
        word.align = _UNALIGNED
        return word

    return types.uint64(array, index), generate


_prefetch_instruction: Any = intrinsic(_prefetch_call)
_load_instruction: Any = intrinsic(_load_call)


def _prefetch(array: Any, index: Any) -> None:
    _prefetch_instruction(array, index)


def _eight_bytes(array: Any, index: Any) -> Any:
    return _load_instruction(array, index)


prefetch = inlined_dispatcher(_prefetch, allocates=False)
eight_bytes = inlined_dispatcher(_eight_bytes, allocates=False)
