"""Vectors in LLVM's intermediate language, for the few loops that numba does not compile well.

Code written here is inlined into compiled kernels; addresses are integers, as in the kernels. `SHAPE` says how wide a
vector of this processor is and how many rows a tile of a matrix product has; everything else follows from it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numba.extending
from llvmlite import binding, ir
from numba.core import config
from numba.core.registry import cpu_target

# numba's decorator for a function that is written as LLVM instructions; kernels call it without `context`
intrinsic: Any = numba.extending.intrinsic


class Shape(NamedTuple):
    """lanes: float32 numbers of a vector. rows: of a tile that is two vectors wide, whose sums stay in registers."""

    lanes: int
    rows: int


# by the registers there are: 32 of 512 bits, 16 of 256, 16 of 128, or 32 of 128
AVX512, AVX2, SSE, NEON = Shape(16, 12), Shape(8, 6), Shape(4, 6), Shape(4, 12)


def vector_shape(features: str, machine: str, lanes: str = "") -> Shape:
    """The shape for a processor's features, as LLVM lists them. lanes: 4, 8 or 16 if they are to be others.

    >>> vector_shape("+sse2,+avx2,-avx512f", "x86_64")
    Shape(lanes=8, rows=6)
    """
    words = features.split(",")
    own = AVX512 if "+avx512f" in words else AVX2 if "+avx2" in words else NEON if machine in _ARM else SSE
    return {"4": own if own.lanes == 4 else SSE, "8": AVX2, "16": AVX512}.get(lanes, own)


_ARM = ("aarch64", "arm64", "ARM64")
SHAPE = vector_shape(
    cpu_target.target_context.codegen().magic_tuple()[2], platform.machine(), os.environ.get("ALFILTER_LANES", "")
)
LANES = SHAPE.lanes
# LLVM's tuning flag `prefer-256-bit`, on by default for some Intel processors; this turns it off
_WHOLE_VECTORS = ",-prefer-256-bit" if SHAPE == AVX512 else ""
FLOAT, I1, I32, I64 = ir.FloatType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
VECTOR, INT_VECTOR = ir.VectorType(FLOAT, LANES), ir.VectorType(I32, LANES)
NO_RESULT = ir.Constant(ir.IntType(8).as_pointer(), None)  # the value of a void function


@contextmanager
def whole_vectors() -> Iterator[None]:
    """Inside, LLVM optimises loops for the whole width of this processor's vectors; numba's lock must be held.

    It is told by the target machine of its optimiser, which is numba's own for all other code of the process.
    """
    codegen: Any = cpu_target.target_context.codegen()
    own, codegen._tm = codegen._tm, _target_machine()
    try:
        yield
    finally:
        codegen._tm = own


@cache
def _target_machine() -> Any:
    """numba's own, or one that differs by the tuning flag."""
    codegen: Any = cpu_target.target_context.codegen()
    if not _WHOLE_VECTORS:
        return codegen._tm
    options: dict[str, Any] = {"opt": int(config.OPT)}  # type: ignore[attr-defined]
    codegen._customize_tm_options(options)
    target: Any = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(**{**options, "features": options["features"] + _WHOLE_VECTORS})


def constant(number: float) -> Any:
    """A vector of one float32 constant."""
    return ir.Constant(VECTOR, [number] * LANES)


class VectorBuilder:
    """Emits vector instructions at the position of an `llvmlite` builder."""

    def __init__(self, builder: Any) -> None:
        self.build = builder

    def broadcast(self, number: Any) -> Any:
        """A vector whose lanes all hold one number."""
        one = self.build.insert_element(ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined), number, I32(0))
        return self.build.shuffle_vector(one, one, ir.Constant(INT_VECTOR, [0] * LANES))

    def mask(self, count: Any) -> Any:
        """The mask of the first `count` lanes."""
        lanes = ir.Constant(INT_VECTOR, list(range(LANES)))
        return self.build.icmp_signed("<", lanes, self.broadcast(self.build.trunc(count, I32)))

    def load_scalar(self, address: Any) -> Any:
        return self.build.load(self.build.inttoptr(address, FLOAT.as_pointer()), align=4)

    def store_scalar(self, number: Any, address: Any) -> None:
        self.build.store(number, self.build.inttoptr(address, FLOAT.as_pointer()), align=4)

    def load(self, address: Any, mask: Any = None) -> Any:
        """A vector; lanes that the mask leaves out are zero, and their memory is not read."""
        place = self.build.inttoptr(address, VECTOR.as_pointer())
        if mask is None:
            return self.build.load(place, align=4)
        kind = ir.FunctionType(VECTOR, [place.type, I32, mask.type, VECTOR])
        return self.build.call(self._llvm_function("masked.load", kind, ".p0"), [place, I32(4), mask, constant(0.0)])

    def store(self, vector: Any, address: Any, mask: Any = None) -> None:
        place = self.build.inttoptr(address, VECTOR.as_pointer())
        if mask is None:
            self.build.store(vector, place, align=4)
            return
        kind = ir.FunctionType(ir.VoidType(), [VECTOR, place.type, I32, mask.type])
        self.build.call(self._llvm_function("masked.store", kind, ".p0"), [vector, place, I32(4), mask])

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once if the processor can."""
        return self.build.call(self._llvm_function("fmuladd", ir.FunctionType(VECTOR, [VECTOR] * 3)), [a, b, c])

    def round(self, a: Any) -> Any:
        """The nearest integers."""
        return self.build.call(self._llvm_function("rint", ir.FunctionType(VECTOR, [VECTOR])), [a])

    @contextmanager
    def loop(self, count: Any, step: int, **carried: tuple[Any, Any]) -> Iterator[dict[str, Any]]:
        """A loop over k = 0, step, … below `count`, run at least once. carried: name=(type, start) of loop variables.

        Yields k and the variables at the start of an iteration; what is assigned there is their next value.
        """
        entry, inside, after = self.build.block, *(self.build.append_basic_block(n) for n in ("loop", "after"))
        self.build.branch(inside)
        self.build.position_at_end(inside)
        phis = {name: self.build.phi(kind) for name, (kind, _) in carried.items()}
        k = self.build.phi(I64)
        for name, (_, start) in carried.items():
            phis[name].add_incoming(start, entry)
        k.add_incoming(I64(0), entry)
        state = {**phis, "k": k}
        yield state
        following = self.build.add(k, I64(step))
        k.add_incoming(following, self.build.block)
        for name, phi in phis.items():
            phi.add_incoming(state[name], self.build.block)
        self.build.cbranch(self.build.icmp_signed("<", following, count), inside, after)
        self.build.position_at_end(after)

    def _llvm_function(self, name: str, kind: Any, ending: str = "") -> Any:
        """The declaration of an LLVM intrinsic on vectors."""
        full_name = f"llvm.{name}.v{LANES}f32{ending}"
        module = self.build.module
        return module.globals[full_name] if full_name in module.globals else ir.Function(module, kind, full_name)
