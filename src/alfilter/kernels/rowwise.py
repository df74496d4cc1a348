"""Elementwise operations on a block of rows while it is in cache: activations forward, slopes and column sums backward.

Numba would check at every row whether its arrays overlap, which for rows of about sixty numbers takes as long as the
operation. Addresses and row strides are in bytes; columns are processed a vector at a time, the rest under a mask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba import types

from alfilter.kernels.llvm import I64, LANES, NO_RESULT, VECTOR, VectorBuilder, constant, intrinsic

Body = Callable[[Any, Any], None]  # byte offset of the column, mask
Vectors = dict[str, Any]
Block = tuple[Any, Any]  # address and row stride

_I, _F = types.int64, types.float32


def for_each_vector(vectors: VectorBuilder, columns: Any, body: Body) -> None:
    """`body` for every whole vector of columns, then for the remaining ones under a mask."""
    build = vectors.build
    whole = build.and_(columns, I64(-LANES))
    with build.if_then(build.icmp_signed(">", whole, I64(0))), vectors.loop(whole, LANES) as state:
        body(build.mul(state["k"], I64(4)), None)
    with build.if_then(build.icmp_signed(">", columns, whole)):
        body(build.mul(whole, I64(4)), vectors.mask(build.sub(columns, whole)))


def _rowwise(
    build: Any,
    size: tuple[Any, Any],
    reads: Mapping[str, Block],
    writes: Mapping[str, Block],
    operation: Callable[[Vectors], Vectors],
    sums: Mapping[str, Any] | None = None,
) -> Any:
    """Writes `operation` of what is read, row by row; size: rows, at least one, and columns.

    sums: addresses to which the column sums of the results of these names are added. A block is summed on its own
    first, so that less is lost to rounding.
    """
    vectors, (rows, columns), sums = VectorBuilder(build), size, sums or {}
    blocks = {**{f"read {name}": block for name, block in reads.items()}, **writes}

    def column_block(offset: Any, mask: Any) -> None:
        starts = {name: (I64, build.add(address, offset)) for name, (address, _) in blocks.items()}
        totals = {f"sum {name}": (VECTOR, constant(0.0)) for name in sums}
        with vectors.loop(rows, 1, **starts, **totals) as state:
            results = operation({name: vectors.load(state[f"read {name}"], mask) for name in reads})
            for name in writes:
                vectors.store(results[name], state[name], mask)
            for name in sums:
                state[f"sum {name}"] = build.fadd(state[f"sum {name}"], results[name])
            for name, (_, step) in blocks.items():
                state[name] = build.add(state[name], step)
        for name, address in sums.items():
            place = build.add(address, offset)
            vectors.store(build.fadd(vectors.load(place, mask), state[f"sum {name}"]), place, mask)

    for_each_vector(vectors, columns, column_block)
    return NO_RESULT


_SAME_ROW = I64(0)  # the stride of an operand that is the same for every row


@intrinsic  # type: ignore[untyped-decorator]
def add_bias(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← z + b."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, step, bias, *size = arguments
        reads = {"z": (z, step), "b": (bias, _SAME_ROW)}
        return _rowwise(build, size, reads, {"z": (z, step)}, lambda v: {"z": build.fadd(v["z"], v["b"])})

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_bias_relu(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← max(z+b, 0); NaN stays NaN."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, step, bias, *size = arguments

        def operation(v: Vectors) -> Vectors:
            total = build.fadd(v["z"], v["b"])
            return {"z": build.select(build.fcmp_ordered("<", total, constant(0.0)), constant(0.0), total)}

        return _rowwise(build, size, {"z": (z, step), "b": (bias, _SAME_ROW)}, {"z": (z, step)}, operation)

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_column_sums(context: Any, g: Any, step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """sums += the column sums of g."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, step, sums, *size = arguments
        return _rowwise(build, size, {"g": (g, step)}, {}, lambda v: v, {"g": sums})

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def slope_backward(
    context: Any, g: Any, step: Any, slope: Any, slope_step: Any, sums: Any, rows: Any, columns: Any
) -> Any:
    """g ← g ⊙ slope; sums += its column sums."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, step, slope, slope_step, sums, *size = arguments
        reads = {"g": (g, step), "slope": (slope, slope_step)}
        operation = lambda v: {"g": build.fmul(v["g"], v["slope"])}  # noqa: E731
        return _rowwise(build, size, reads, {"g": (g, step)}, operation, {"g": sums})

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def relu_backward(
    context: Any, g: Any, step: Any, value: Any, value_step: Any, sums: Any, rows: Any, columns: Any
) -> Any:
    """g ← g where value > 0, else 0; sums += its column sums."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, step, value, value_step, sums, *size = arguments

        def operation(v: Vectors) -> Vectors:
            # selecting between g and zero would become a masked store, many times slower on some processors
            positive = build.fcmp_ordered(">", v["value"], constant(0.0))
            return {"g": build.fmul(v["g"], build.select(positive, constant(1.0), constant(0.0)))}

        reads = {"g": (g, step), "value": (value, value_step)}
        return _rowwise(build, size, reads, {"g": (g, step)}, operation, {"g": sums})

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_rows(context: Any, out: Any, out_step: Any, a: Any, b: Any, step: Any, rows: Any, columns: Any) -> Any:
    """out ← a + b; a and b have the same stride."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        out, out_step, a, b, step, *size = arguments
        operation = lambda v: {"out": build.fadd(v["a"], v["b"])}  # noqa: E731
        return _rowwise(build, size, {"a": (a, step), "b": (b, step)}, {"out": (out, out_step)}, operation)

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_rows(context: Any, z: Any, s: Any, v: Any, step: Any, rows: Any, columns: Any) -> Any:
    """z ← s ⊙ v, all of the same stride; z may be one of them."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, s, v, step, *size = arguments
        operation = lambda f: {"z": build.fmul(f["s"], f["v"])}  # noqa: E731
        return _rowwise(build, size, {"s": (s, step), "v": (v, step)}, {"z": (z, step)}, operation)

    return types.void(*[_I] * 6), generate


@intrinsic  # type: ignore[untyped-decorator]
def sine_sum_backward(
    context: Any,
    g: Any,
    g_step: Any,
    more: Any,
    slope_a: Any,
    slope_b: Any,
    slope_step: Any,
    by_a: Any,
    by_b: Any,
    step: Any,
    sums: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """The gradient of sin a + sin b: by_a ← (g + more) ⊙ slope_a, by_b ← (g + more) ⊙ slope_b; sums += those of by_a.

    slope_a and slope_b have the same stride, and so have more, by_a and by_b.
    """

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, g_step, more, slope_a, slope_b, slope_step, by_a, by_b, step, sums, *size = arguments

        def operation(v: Vectors) -> Vectors:
            total = build.fadd(v["g"], v["more"])
            return {"by_a": build.fmul(total, v["slope_a"]), "by_b": build.fmul(total, v["slope_b"])}

        reads = {"g": (g, g_step), "more": (more, step)}
        slopes = {"slope_a": (slope_a, slope_step), "slope_b": (slope_b, slope_step)}
        writes = {"by_a": (by_a, step), "by_b": (by_b, step)}
        return _rowwise(build, size, {**reads, **slopes}, writes, operation, {"by_a": sums})

    return types.void(*[_I] * 12), generate


@intrinsic  # type: ignore[untyped-decorator]
def sine_product_backward(
    context: Any,
    g: Any,
    v: Any,
    sine: Any,
    cosine: Any,
    by_v: Any,
    by_h: Any,
    step: Any,
    v_sums: Any,
    h_sums: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """The gradient of v ⊙ sin h: by_v ← g sin h, by_h ← g v cos h, of the same stride; v_sums, h_sums += sums."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        *blocks, step, v_sums, h_sums, rows, columns = arguments

        def operation(f: Vectors) -> Vectors:
            slope = build.fmul(f["v"], f["cosine"])
            return {"by_v": build.fmul(f["g"], f["sine"]), "by_h": build.fmul(f["g"], slope)}

        names = ("g", "v", "sine", "cosine", "by_v", "by_h")
        places = {name: (block, step) for name, block in zip(names, blocks, strict=True)}
        reads, writes = ({name: places[name] for name in part} for part in (names[:4], names[4:]))
        return _rowwise(build, (rows, columns), reads, writes, operation, {"by_v": v_sums, "by_h": h_sums})

    return types.void(*[_I] * 11), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_relu(context: Any, v: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v), of the same stride; l(t) is t, or slope·t below zero."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        v, z, step, slope, *size = arguments
        leak = VectorBuilder(build).broadcast(slope)
        operation = lambda f: {"z": build.fmul(_leaky_slope(build, f["v"], leak), f["v"])}  # noqa: E731
        return _rowwise(build, size, {"v": (v, step)}, {"z": (z, step)}, operation)

    return types.void(_I, _I, _I, _F, _I, _I), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_relu_product(context: Any, v: Any, h: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v) ⊙ l(h), of the same stride."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        v, h, z, step, slope, *size = arguments
        leak = VectorBuilder(build).broadcast(slope)

        def operation(f: Vectors) -> Vectors:
            left, right = (build.fmul(_leaky_slope(build, f[name], leak), f[name]) for name in ("v", "h"))
            return {"z": build.fmul(left, right)}

        return _rowwise(build, size, {"v": (v, step), "h": (h, step)}, {"z": (z, step)}, operation)

    return types.void(_I, _I, _I, _I, _F, _I, _I), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_relu_product_backward(
    context: Any,
    g: Any,
    v: Any,
    h: Any,
    by_v: Any,
    by_h: Any,
    step: Any,
    v_sums: Any,
    h_sums: Any,
    slope: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """by_v ← g l'(v) l(h), by_h ← g l(v) l'(h), of the same stride; v_sums, h_sums += column sums."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, v, h, by_v, by_h, step, v_sums, h_sums, slope, *size = arguments
        leak = VectorBuilder(build).broadcast(slope)

        def operation(f: Vectors) -> Vectors:
            both = build.fmul(f["g"], build.fmul(_leaky_slope(build, f["v"], leak), _leaky_slope(build, f["h"], leak)))
            return {"by_v": build.fmul(both, f["h"]), "by_h": build.fmul(both, f["v"])}

        reads = {"g": (g, step), "v": (v, step), "h": (h, step)}
        writes = {"by_v": (by_v, step), "by_h": (by_h, step)}
        return _rowwise(build, size, reads, writes, operation, {"by_v": v_sums, "by_h": h_sums})

    return types.void(*[_I] * 8, _F, _I, _I), generate


def _leaky_slope(build: Any, t: Any, leak: Any) -> Any:
    """The slope of l at t: one, or `leak` below zero."""
    return build.select(build.fcmp_ordered("<", t, constant(0.0)), leak, constant(1.0))
