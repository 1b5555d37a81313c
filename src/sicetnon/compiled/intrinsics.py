"""Instructions of processors that LLVM has and numba lacks: a prefetch, and a wide load.

Importing this module loads numba. numba depends on llvmlite, which builds LLVM's instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sicetnon.compiled.compiler import inlined_dispatcher

_READ, _KEEP, _DATA = 0, 3, 1
_UNALIGNED = 1


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
    """As `_prefetch_call`, for a load of eight bytes."""
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
