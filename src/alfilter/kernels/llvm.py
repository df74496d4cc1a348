"""Vectors of eight numbers in the compiler's own language, for the few loops that numba does not make quick enough.

What is written here ends up inside compiled kernels as it stands. A processor with shorter vectors gets each of them as
two; addresses are whole numbers, as kernels know them. Numba keeps compiled kernels by the file they stand in: after a
change here or in another module they call, touch theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba.extending
from llvmlite import ir

# a function in a compiled kernel by the instructions it stands for; called without the context it is given
intrinsic: Any = numba.extending.intrinsic

LANES = 8
FLOAT, I1, I32, I64 = ir.FloatType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
VECTOR, WHOLE = ir.VectorType(FLOAT, LANES), ir.VectorType(I32, LANES)
NOTHING = ir.Constant(ir.IntType(8).as_pointer(), None)  # what a function without a result gives


def constant(number: float) -> Any:
    """A vector of a known number, which must be one in single precision."""
    return ir.Constant(VECTOR, [number] * LANES)


class Writer:
    """Writes instructions on vectors where a builder stands."""

    def __init__(self, builder: Any) -> None:
        self.build = builder

    def spread(self, number: Any) -> Any:
        """A vector of one number."""
        one = self.build.insert_element(ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined), number, I32(0))
        return self.build.shuffle_vector(one, one, ir.Constant(WHOLE, [0] * LANES))

    def mask(self, count: Any) -> Any:
        """Which of the lanes are among the first `count`."""
        lanes = ir.Constant(WHOLE, list(range(LANES)))
        return self.build.icmp_signed("<", lanes, self.spread(self.build.trunc(count, I32)))

    def number(self, address: Any) -> Any:
        return self.build.load(self.build.inttoptr(address, FLOAT.as_pointer()), align=4)

    def put(self, number: Any, address: Any) -> None:
        self.build.store(number, self.build.inttoptr(address, FLOAT.as_pointer()), align=4)

    def load(self, address: Any, mask: Any = None) -> Any:
        """Eight numbers; with a mask, zeros where it is not set, of which nothing is read."""
        place = self.build.inttoptr(address, VECTOR.as_pointer())
        if mask is None:
            return self.build.load(place, align=4)
        kind = ir.FunctionType(VECTOR, [place.type, I32, mask.type, VECTOR])
        return self.build.call(self._known("masked.load", kind, ".p0"), [place, I32(4), mask, constant(0.0)])

    def store(self, vector: Any, address: Any, mask: Any = None) -> None:
        place = self.build.inttoptr(address, VECTOR.as_pointer())
        if mask is None:
            self.build.store(vector, place, align=4)
            return
        kind = ir.FunctionType(ir.VoidType(), [VECTOR, place.type, I32, mask.type])
        self.build.call(self._known("masked.store", kind, ".p0"), [vector, place, I32(4), mask])

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c, rounded once where the processor can."""
        return self.build.call(self._known("fmuladd", ir.FunctionType(VECTOR, [VECTOR] * 3)), [a, b, c])

    def nearest(self, a: Any) -> Any:
        """The nearest whole numbers."""
        return self.build.call(self._known("rint", ir.FunctionType(VECTOR, [VECTOR])), [a])

    @contextmanager
    def loop(self, count: Any, step: int, **carried: tuple[Any, Any]) -> Iterator[dict[str, Any]]:
        """While k = 0, step, … is below `count`, at least once. carried: name=(type, start) of what goes round.

        Gives the numbers as they are at the start of a round, and k; what is set there goes on to the next.
        """
        entry, inside, after = self.build.block, *(self.build.append_basic_block(n) for n in ("round", "after"))
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

    def _known(self, name: str, kind: Any, ending: str = "") -> Any:
        """A function of the compiler's."""
        whole = f"llvm.{name}.v{LANES}f32{ending}"
        module = self.build.module
        return module.globals[whole] if whole in module.globals else ir.Function(module, kind, whole)
