"""CPU kernels of a mesh's distance: the nearest of its triangles, and how often it winds around a point.

Triangles lie in leaves of eight, and every node of the tree above them holds the boxes of its eight children, so that
eight of either are a vector's lanes. Doubles throughout. Each call runs on one thread and releases the GIL. The plain
version is libigl's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types

from alfilter.kernels.jit import FAST, kernel
from alfilter.kernels.llvm import I32, I64, NO_RESULT, intrinsic

WIDE = 8  # children of a node, and triangles of a leaf
_ROUNDING = 32 * 2.0**-52  # how far distance and bound may be apart by rounding, for a largest coordinate of 1
_VECTOR = ir.VectorType(ir.DoubleType(), WIDE)
_FLAGS = ("contract",)


class Tree(NamedTuple):
    """nodes: (N, 6, 8), the least and greatest coordinates of each child's box. first: (levels,), the first node of a
    level. leaves: (M, 9, 8), of each triangle the corner a and the edges b - a and c - a.
    """

    nodes: Any
    first: Any
    leaves: Any


class Columns(NamedTuple):
    """Triangles by the cells of the plane of y and z that their boxes touch.

    first: (cells² + 1,), where the numbers of a cell's triangles begin in faces, (n,). corners: (m, 9), x, y, z of a, b
    and c. low: (2,) and scale: cells begin at low and are 1 / scale wide.
    """

    first: Any
    faces: Any
    corners: Any
    low: Any
    scale: Any
    cells: Any


class _Lanes:
    """Eight doubles, or a mask of eight lanes, in the expressions of an intrinsic."""

    def __init__(self, build: Any, value: Any) -> None:
        self.build, self.value = build, value

    @classmethod
    def of(cls, build: Any, number: Any) -> _Lanes:
        """One number in all lanes."""
        one = build.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, I32(0))
        return cls(build, build.shuffle_vector(one, one, ir.Constant(ir.VectorType(I32, WIDE), [0] * WIDE)))

    @classmethod
    def load(cls, build: Any, address: Any, row: int) -> _Lanes:
        """A row of an array (k, 8) there."""
        place = build.inttoptr(build.add(address, I64(8 * WIDE * row)), _VECTOR.as_pointer())
        return cls(build, build.load(place, align=8))

    def __add__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fadd(self.value, other.value, flags=_FLAGS))

    def __sub__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fsub(self.value, other.value, flags=_FLAGS))

    def __mul__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fmul(self.value, other.value, flags=_FLAGS))

    def __truediv__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fdiv(self.value, other.value, flags=_FLAGS))

    def __and__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.and_(self.value, other.value))

    def __le__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fcmp_ordered("<=", self.value, other.value))

    def __lt__(self, other: _Lanes) -> _Lanes:
        return _Lanes(self.build, self.build.fcmp_ordered("<", self.value, other.value))

    def select(self, yes: _Lanes, no: _Lanes) -> _Lanes:
        """The lanes of `yes` where this mask is set, of `no` elsewhere."""
        return _Lanes(self.build, self.build.select(self.value, yes.value, no.value))

    def min(self, other: _Lanes) -> _Lanes:
        return (self < other).select(self, other)

    def reduce_min(self) -> Any:
        """The least of the eight numbers."""
        lanes = self
        for half in (4, 2, 1):
            swapped = ir.Constant(ir.VectorType(I32, WIDE), [k ^ half for k in range(WIDE)])
            lanes = lanes.min(_Lanes(self.build, self.build.shuffle_vector(lanes.value, lanes.value, swapped)))
        return self.build.extract_element(lanes.value, I32(0))


Point = tuple[_Lanes, _Lanes, _Lanes]


def _dot(a: Point, b: Point) -> _Lanes:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _minus(a: Point, b: Point, times: _Lanes | None = None) -> Point:
    u, v, w = (x - (y if times is None else times * y) for x, y in zip(a, b, strict=True))
    return u, v, w


@intrinsic  # type: ignore[untyped-decorator]
def _box_distances(context: Any, node: Any, x: Any, y: Any, z: Any, out: Any) -> Any:
    """out (8,) = the squared distance of a point to the box of each child. node: (6, 8) and out: addresses."""

    def generate(context: Any, build: Any, signature: Any, arguments: Any) -> Any:
        node, *point, out = arguments
        zero, total = _Lanes(build, ir.Constant(_VECTOR, [0.0] * WIDE)), None
        for axis, number in enumerate(point):
            at = _Lanes.of(build, number)
            below, above = _Lanes.load(build, node, axis) - at, at - _Lanes.load(build, node, axis + 3)
            gap = (below < above).select(above, below)
            gap = (gap < zero).select(zero, gap)
            total = gap * gap if total is None else total + gap * gap
        assert total is not None
        build.store(total.value, build.inttoptr(out, _VECTOR.as_pointer()), align=8)
        return NO_RESULT

    double = types.float64
    return types.void(types.int64, double, double, double, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _leaf_distance(context: Any, leaf: Any, x: Any, y: Any, z: Any) -> Any:
    """The squared distance of a point to the triangles of a leaf, the address of (9, 8).

    Of each the least of those to the three sides and, where the point's projection is inside, to the plane.
    """

    def generate(context: Any, build: Any, signature: Any, arguments: Any) -> Any:
        leaf, *numbers = arguments
        rows = [_Lanes.load(build, leaf, row) for row in range(9)]
        corner, b, c = ((rows[k], rows[k + 1], rows[k + 2]) for k in (0, 3, 6))
        x, y, z = (_Lanes.of(build, number) for number in numbers)
        zero, one = (_Lanes(build, ir.Constant(_VECTOR, [number] * WIDE)) for number in (0.0, 1.0))
        p = _minus((x, y, z), corner)

        def to_side(p: Point, side: Point, square: _Lanes, dot: _Lanes) -> _Lanes:
            t = dot / (zero < square).select(square, one)
            t = (t < zero).select(zero, t).min(one)
            rest = _minus(p, side, t)
            return _dot(rest, rest)

        bb, cc, bc, pb, pc = _dot(b, b), _dot(c, c), _dot(b, c), _dot(p, b), _dot(p, c)
        opposite = _minus(c, b)
        far, past = _dot(opposite, opposite), _minus(p, b)
        sides = to_side(p, b, bb, pb).min(to_side(p, c, cc, pc))
        sides = sides.min(to_side(past, opposite, far, _dot(past, opposite)))
        s, t, area = cc * pb - bc * pc, bb * pc - bc * pb, bb * cc - bc * bc
        inside = (zero <= s) & (zero <= t) & (s + t <= area) & (zero < area)
        over = one / inside.select(area, one)
        rest = _minus(_minus(p, b, s * over), c, t * over)
        plane = _dot(rest, rest)
        return inside.select(plane.min(sides), sides).reduce_min()

    double = types.float64
    return double(types.int64, double, double, double), generate


@njit
def _largest(boxes: Any) -> Any:
    """The largest |coordinate| of the boxes of a node (6, 8), of which missing ones are infinite."""
    most = 0.0
    for row in range(6):
        for k in range(WIDE):
            number = abs(boxes[row, k])
            if most < number < np.inf:
                most = number
    return most


@kernel(fastmath=FAST)
def nearest(points: Any, order: Any, tree: Tree, out: Any) -> None:
    """out[i] = min_q |p_i - q| over all triangles, of the points (n, 3) that `order` names, one after the other.

    Neighbours in order should be neighbours in space: the search begins with what was nearest before. The result does
    not depend on where it begins: a box is left out only if it is farther by more than what rounding can change.
    """
    nodes, first, leaves = tree
    bottom, leaf, size = len(first) - 1, 0, _largest(nodes[0])
    waiting, levels, bounds = np.empty(16 * WIDE, np.int64), np.empty(16 * WIDE, np.int64), np.empty(16 * WIDE)
    found, node_bytes, leaf_bytes = np.empty(WIDE), 8 * 6 * WIDE, 8 * 9 * WIDE
    for i in order:
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        slack = _ROUNDING * max(size, abs(x), abs(y), abs(z))
        best, start = _leaf_distance(leaves.ctypes.data + leaf * leaf_bytes, x, y, z), leaf
        limit = (np.sqrt(best) + slack) ** 2
        waiting[0], levels[0], bounds[0], count = 0, 0, 0.0, 1
        while count > 0 and best > 0.0:
            count -= 1
            if bounds[count] > limit:
                continue
            number, level = waiting[count], levels[count]
            if level > bottom:
                if number != start:
                    least = _leaf_distance(leaves.ctypes.data + number * leaf_bytes, x, y, z)
                    if least < best:
                        best, leaf = least, number
                        limit = (np.sqrt(best) + slack) ** 2
                continue
            _box_distances(nodes.ctypes.data + (first[level] + number) * node_bytes, x, y, z, found.ctypes.data)
            base = count
            for k in range(WIDE):
                bound = found[k]
                if bound <= limit:  # the nearest comes last
                    at = count
                    while at > base and bounds[at - 1] < bound:
                        waiting[at], levels[at], bounds[at] = waiting[at - 1], levels[at - 1], bounds[at - 1]
                        at -= 1
                    waiting[at], levels[at], bounds[at] = WIDE * number + k, level + 1, bound
                    count += 1
        out[i] = np.sqrt(best)


@njit(inline="always")
def _side(ay: Any, az: Any, by: Any, bz: Any, y: Any, z: Any) -> Any:
    """Twice the area of (a, b, p), the same for (b, a) up to its sign, to the last bit."""
    if az < bz or (az == bz and ay <= by):
        return (by - ay) * (z - az) - (y - ay) * (bz - az)
    return -((ay - by) * (z - bz) - (y - by) * (az - bz))


@njit(inline="always")
def _turn(ay: Any, az: Any, by: Any, bz: Any, z: Any, side: Any) -> int:
    """±1 if the edge from a to b crosses the half line from p towards greater y, where it goes up or down."""
    if az <= z < bz:
        return 1 if side > 0.0 else 0
    if bz <= z < az:
        return -1 if side < 0.0 else 0
    return 0


@kernel()
def windings(points: Any, order: Any, columns: Columns, out: Any) -> None:
    """out (n,) = Σ ±1 over the triangles of a closed mesh that a line from each point (n, 3) towards greater x crosses.

    Exact for a line through an edge or a corner, too: what an edge counts on one side it takes back on the other.
    """
    first, faces, corners, low, scale, cells = columns
    for i in order:
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        row, column, total = int(np.floor((y - low[0]) * scale)), int(np.floor((z - low[1]) * scale)), 0
        if 0 <= row < cells and 0 <= column < cells:
            cell = row * cells + column
            for k in range(first[cell], first[cell + 1]):
                own = corners[faces[k]]
                ax, ay, az, bx, by, bz, cx, cy, cz = (
                    own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7], own[8],
                )  # fmt: skip
                ab, bc, ca = _side(ay, az, by, bz, y, z), _side(by, bz, cy, cz, y, z), _side(cy, cz, ay, az, y, z)
                turns = _turn(ay, az, by, bz, z, ab) + _turn(by, bz, cy, cz, z, bc) + _turn(cy, cz, ay, az, z, ca)
                if turns != 0:
                    area = ab + bc + ca
                    if ((ax - x) * bc + (bx - x) * ca + (cx - x) * ab) * area > 0.0:
                        total += turns
        out[i] = total
