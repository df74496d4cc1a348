"""Passes over a block of rows while it is hot: an activation on the way forth, its slope and the sums on the way back.

Numba's compiler would ask at every row whether its arrays overlap, which for rows of some sixty numbers takes as long
as the pass. Addresses and steps from row to row are in bytes; columns go in eights, the last of them as far as there
are any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numba import types

from alfilter.kernels.llvm import I64, LANES, NOTHING, VECTOR, Writer, constant, intrinsic

Body = Callable[[Any, Any], None]  # column's offset in bytes, mask
Vectors = dict[str, Any]
Block = tuple[Any, Any]  # address and step

_I, _F = types.int64, types.float32


def by_eights(writer: Writer, columns: Any, body: Body) -> None:
    """`body` for every eight columns, then for the rest of them under a mask."""
    build = writer.build
    whole = build.and_(columns, I64(-LANES))
    with build.if_then(build.icmp_signed(">", whole, I64(0))), writer.loop(whole, LANES) as state:
        body(build.mul(state["k"], I64(4)), None)
    with build.if_then(build.icmp_signed(">", columns, whole)):
        body(build.mul(whole, I64(4)), writer.mask(build.sub(columns, whole)))


def _write(
    build: Any,
    size: tuple[Any, Any],
    reads: Mapping[str, Block],
    writes: Mapping[str, Block],
    made: Callable[[Vectors], Vectors],
    sums: Mapping[str, Any] | None = None,
) -> Any:
    """A pass: `made` of what is read, row by row, is written; size: rows, at least one, and columns.

    sums: addresses to which the column sums of what is made under these names are added. A block is summed up on its
    own first, so that less is lost to rounding.
    """
    writer, (rows, columns), sums = Writer(build), size, sums or {}
    blocks = {**{f"read {name}": block for name, block in reads.items()}, **writes}

    def eight(offset: Any, mask: Any) -> None:
        starts = {name: (I64, build.add(address, offset)) for name, (address, _) in blocks.items()}
        totals = {f"sum {name}": (VECTOR, constant(0.0)) for name in sums}
        with writer.loop(rows, 1, **starts, **totals) as state:
            found = made({name: writer.load(state[f"read {name}"], mask) for name in reads})
            for name in writes:
                writer.store(found[name], state[name], mask)
            for name in sums:
                state[f"sum {name}"] = build.fadd(state[f"sum {name}"], found[name])
            for name, (_, step) in blocks.items():
                state[name] = build.add(state[name], step)
        for name, address in sums.items():
            place = build.add(address, offset)
            writer.store(build.fadd(writer.load(place, mask), state[f"sum {name}"]), place, mask)

    by_eights(writer, columns, eight)
    return NOTHING


_STILL = I64(0)  # the step of what is the same in every row


@intrinsic  # type: ignore[untyped-decorator]
def shift_pass(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← z + b of a block."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        z, step, bias, *size = given
        reads = {"z": (z, step), "b": (bias, _STILL)}
        return _write(build, size, reads, {"z": (z, step)}, lambda v: {"z": build.fadd(v["z"], v["b"])})

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def relu_pass(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← max(z+b, 0) of a block, NaN kept."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        z, step, bias, *size = given

        def made(v: Vectors) -> Vectors:
            total = build.fadd(v["z"], v["b"])
            return {"z": build.select(build.fcmp_ordered("<", total, constant(0.0)), constant(0.0), total)}

        return _write(build, size, {"z": (z, step), "b": (bias, _STILL)}, {"z": (z, step)}, made)

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def sum_pass(context: Any, g: Any, step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """sums += the column sums of a block."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        g, step, sums, *size = given
        return _write(build, size, {"g": (g, step)}, {}, lambda v: v, {"g": sums})

    return types.void(*[_I] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def slope_pass(context: Any, g: Any, step: Any, slope: Any, slope_step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """g ← g ⊙ slope of a block; sums += its column sums."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        g, step, slope, slope_step, sums, *size = given
        reads = {"g": (g, step), "slope": (slope, slope_step)}
        made = lambda v: {"g": build.fmul(v["g"], v["slope"])}  # noqa: E731
        return _write(build, size, reads, {"g": (g, step)}, made, {"g": sums})

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def open_pass(context: Any, g: Any, step: Any, value: Any, value_step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """g ← g where value > 0, else 0, of a block; sums += its column sums."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        g, step, value, value_step, sums, *size = given

        def made(v: Vectors) -> Vectors:
            # a choice between what was read and zero would become a masked store, many times slower on some processors
            opened = build.fcmp_ordered(">", v["value"], constant(0.0))
            return {"g": build.fmul(v["g"], build.select(opened, constant(1.0), constant(0.0)))}

        reads = {"g": (g, step), "value": (value, value_step)}
        return _write(build, size, reads, {"g": (g, step)}, made, {"g": sums})

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_pass(context: Any, out: Any, out_step: Any, a: Any, b: Any, step: Any, rows: Any, columns: Any) -> Any:
    """out ← a + b of blocks; a and b have the same step."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        out, out_step, a, b, step, *size = given
        made = lambda v: {"out": build.fadd(v["a"], v["b"])}  # noqa: E731
        return _write(build, size, {"a": (a, step), "b": (b, step)}, {"out": (out, out_step)}, made)

    return types.void(*[_I] * 7), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_pass(context: Any, z: Any, s: Any, v: Any, step: Any, rows: Any, columns: Any) -> Any:
    """z ← s ⊙ v of blocks with the same step; z may be one of them."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        z, s, v, step, *size = given
        made = lambda found: {"z": build.fmul(found["s"], found["v"])}  # noqa: E731
        return _write(build, size, {"s": (s, step), "v": (v, step)}, {"z": (z, step)}, made)

    return types.void(*[_I] * 6), generate


@intrinsic  # type: ignore[untyped-decorator]
def split_pass(
    context: Any,
    given: Any,
    given_step: Any,
    more: Any,
    slope: Any,
    turn: Any,
    slope_step: Any,
    by_a: Any,
    by_b: Any,
    step: Any,
    sums: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """by_a ← (given + more) ⊙ slope and by_b ← (given + more) ⊙ turn of blocks; sums += the column sums of by_a.

    slope and turn have the same step, and so have more, by_a and by_b.
    """

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        given, given_step, more, slope, turn, slope_step, by_a, by_b, step, sums, *size = arguments

        def made(v: Vectors) -> Vectors:
            g = build.fadd(v["given"], v["more"])
            return {"by_a": build.fmul(g, v["slope"]), "by_b": build.fmul(g, v["turn"])}

        reads = {"given": (given, given_step), "more": (more, step)}
        slopes = {"slope": (slope, slope_step), "turn": (turn, slope_step)}
        writes = {"by_a": (by_a, step), "by_b": (by_b, step)}
        return _write(build, size, {**reads, **slopes}, writes, made, {"by_a": sums})

    return types.void(*[_I] * 12), generate


@intrinsic  # type: ignore[untyped-decorator]
def turn_pass(
    context: Any,
    g: Any,
    v: Any,
    sine: Any,
    cosine: Any,
    by_v: Any,
    by_h: Any,
    step: Any,
    sums: Any,
    more_sums: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """by_v ← g sin h, by_h ← g v cos h of blocks with the same step; sums, more_sums += their column sums."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        *blocks, step, sums, more_sums, rows, columns = given

        def made(f: Vectors) -> Vectors:
            turned = build.fmul(f["v"], f["cosine"])
            return {"by_v": build.fmul(f["g"], f["sine"]), "by_h": build.fmul(f["g"], turned)}

        names = ("g", "v", "sine", "cosine", "by_v", "by_h")
        places = {name: (block, step) for name, block in zip(names, blocks, strict=True)}
        reads, writes = ({name: places[name] for name in part} for part in (names[:4], names[4:]))
        return _write(build, (rows, columns), reads, writes, made, {"by_v": sums, "by_h": more_sums})

    return types.void(*[_I] * 11), generate


@intrinsic  # type: ignore[untyped-decorator]
def open_leaky_pass(context: Any, v: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v) of blocks with the same step; l(t) is t, or slope·t below zero."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        v, z, step, slope, *size = given
        least = Writer(build).spread(slope)
        made = lambda f: {"z": build.fmul(_leak(build, f["v"], least), f["v"])}  # noqa: E731
        return _write(build, size, {"v": (v, step)}, {"z": (z, step)}, made)

    return types.void(_I, _I, _I, _F, _I, _I), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_pass(context: Any, v: Any, h: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v) ⊙ l(h) of blocks with the same step."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        v, h, z, step, slope, *size = given
        least = Writer(build).spread(slope)

        def made(f: Vectors) -> Vectors:
            left, right = (build.fmul(_leak(build, f[name], least), f[name]) for name in ("v", "h"))
            return {"z": build.fmul(left, right)}

        return _write(build, size, {"v": (v, step), "h": (h, step)}, {"z": (z, step)}, made)

    return types.void(_I, _I, _I, _I, _F, _I, _I), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_gradient_pass(
    context: Any,
    g: Any,
    v: Any,
    h: Any,
    by_v: Any,
    by_h: Any,
    step: Any,
    sums: Any,
    more_sums: Any,
    slope: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """by_v ← g l'(v) l(h), by_h ← g l(v) l'(h) of blocks with the same step; sums, more_sums += their column sums."""

    def generate(_: Any, build: Any, __: Any, given: Any) -> Any:
        g, v, h, by_v, by_h, step, sums, more_sums, slope, *size = given
        least = Writer(build).spread(slope)

        def made(f: Vectors) -> Vectors:
            both = build.fmul(f["g"], build.fmul(_leak(build, f["v"], least), _leak(build, f["h"], least)))
            return {"by_v": build.fmul(both, f["h"]), "by_h": build.fmul(both, f["v"])}

        reads = {"g": (g, step), "v": (v, step), "h": (h, step)}
        writes = {"by_v": (by_v, step), "by_h": (by_h, step)}
        return _write(build, size, reads, writes, made, {"by_v": sums, "by_h": more_sums})

    return types.void(*[_I] * 8, _F, _I, _I), generate


def _leak(build: Any, t: Any, least: Any) -> Any:
    """The slope of l at t: one, or `least` below zero."""
    return build.select(build.fcmp_ordered("<", t, constant(0.0)), least, constant(1.0))
