"""The prefetch instruction of processors, which LLVM has and numba lacks.

Importing this module loads numba. numba depends on llvmlite, which builds LLVM's instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sicetnon.compiled.compiler import inlined_dispatcher

_READ, _KEEP, _DATA = 0, 3, 1


def _prefetch_call(_: Any, array: Any, index: Any) -> Any:
    """The signature of a call and its code generator; None for arrays that are not contiguous."""
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
        return None

    def generate(context: Any, builder: Any, __: Any, values: Any) -> Any:
        data = context.make_array(array)(context, builder, values[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], signature)
        address = builder.bitcast(builder.gep(data, [values[1]]), byte)
        builder.call(function, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, index), generate


_call: Any = intrinsic(_prefetch_call)


def _prefetch(array: Any, index: Any) -> None:
    _call(array, index)


prefetch = inlined_dispatcher(_prefetch, allocates=False)
