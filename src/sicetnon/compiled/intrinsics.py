"""What LLVM can do and numba cannot say. To import this module loads numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sicetnon.compiled.compiler import inlined_dispatcher

_READ, _KEEP, _DATA = 0, 3, 1


def _typed(_: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, __: Any, values: Any) -> Any:
        data = context.make_array(array)(context, builder, values[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        signature = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], signature)
        address = builder.bitcast(builder.gep(data, [values[1]]), byte)
        builder.call(function, [address, number(_READ), number(_KEEP), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, place), generate


_call: Any = intrinsic(_typed)


def _prefetch(array: Any, place: Any) -> None:
    _call(array, place)


prefetch = inlined_dispatcher(_prefetch, allocates=False)
