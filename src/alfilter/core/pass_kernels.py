"""Passes over a block of rows while it is hot: an activation on the way forth, its slope and the sums on the way back.

Numba's compiler would ask at every row whether its arrays overlap, which for rows of some sixty numbers takes as long
as the pass. Addresses and steps are in bytes; columns go in eights, the last of them as far as there are any.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from alfilter.core.instructions import I64, LANES, NOTHING, VECTOR, Writer, constant, intrinsic

Body = Callable[[Any, Any], None]  # column's offset in bytes, mask
Combine = Callable[[Writer, Any, Any], Any]


@intrinsic  # type: ignore[untyped-decorator]
def relu_pass(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← max(z+b, 0) of a block, NaN kept."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, step, bias, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            beside = writer.load(build.add(bias, offset), mask)
            with writer.loop(rows, 1, **_places(build, offset, at=z)) as state:
                total = build.fadd(writer.load(state["at"], mask), beside)
                below = build.fcmp_ordered("<", total, constant(0.0))
                writer.store(build.select(below, constant(0.0), total), state["at"], mask)
                _advance(build, state, at=step)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def slope_pass(context: Any, g: Any, step: Any, slope: Any, slope_step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """g ← g ⊙ slope of a block; sums += its column sums."""
    return types.void(*[types.int64] * 7), _backward(lambda w, g, slope: w.build.fmul(g, slope))


@intrinsic  # type: ignore[untyped-decorator]
def open_pass(context: Any, g: Any, step: Any, value: Any, value_step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """g ← g where value > 0, else 0, of a block; sums += its column sums."""

    def combine(writer: Writer, g: Any, value: Any) -> Any:
        # a choice between what was read and zero would become a masked store, many times slower on some processors
        opened = writer.build.fcmp_ordered(">", value, constant(0.0))
        return writer.build.fmul(g, writer.build.select(opened, constant(1.0), constant(0.0)))

    return types.void(*[types.int64] * 7), _backward(combine)


@intrinsic  # type: ignore[untyped-decorator]
def add_pass(context: Any, out: Any, out_step: Any, a: Any, b: Any, step: Any, rows: Any, columns: Any) -> Any:
    """out ← a + b of blocks; a and b have the same step."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        out, out_step, a, b, step, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            with writer.loop(rows, 1, **_places(build, offset, out=out, a=a, b=b)) as state:
                writer.store(
                    build.fadd(writer.load(state["a"], mask), writer.load(state["b"], mask)), state["out"], mask
                )
                _advance(build, state, out=out_step, a=step, b=step)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 7), generate


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
        given, given_step, more, slope, turn, slope_step, by_a, by_b, step, sums, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            place = build.add(sums, offset)
            starts = _places(build, offset, given=given, more=more, slope=slope, turn=turn, by_a=by_a, by_b=by_b)
            with writer.loop(rows, 1, total=(VECTOR, constant(0.0)), **starts) as state:
                g = build.fadd(writer.load(state["given"], mask), writer.load(state["more"], mask))
                made = build.fmul(g, writer.load(state["slope"], mask))
                writer.store(made, state["by_a"], mask)
                writer.store(build.fmul(g, writer.load(state["turn"], mask)), state["by_b"], mask)
                state["total"] = build.fadd(state["total"], made)
                steps = {"given": given_step, "slope": slope_step, "turn": slope_step}
                _advance(build, state, **steps, more=step, by_a=step, by_b=step)
            _add_to(writer, place, state["total"], mask)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 12), generate


@intrinsic  # type: ignore[untyped-decorator]
def shift_pass(context: Any, z: Any, step: Any, bias: Any, rows: Any, columns: Any) -> Any:
    """z ← z + b of a block."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, step, bias, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            beside = writer.load(build.add(bias, offset), mask)
            with writer.loop(rows, 1, **_places(build, offset, at=z)) as state:
                writer.store(build.fadd(writer.load(state["at"], mask), beside), state["at"], mask)
                _advance(build, state, at=step)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def sum_pass(context: Any, g: Any, step: Any, sums: Any, rows: Any, columns: Any) -> Any:
    """sums += the column sums of a block."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, step, sums, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            with writer.loop(rows, 1, total=(VECTOR, constant(0.0)), **_places(build, offset, at=g)) as state:
                state["total"] = build.fadd(state["total"], writer.load(state["at"], mask))
                _advance(build, state, at=step)
            _add_to(writer, build.add(sums, offset), state["total"], mask)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 5), generate


@intrinsic  # type: ignore[untyped-decorator]
def open_leaky_pass(context: Any, v: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v) of blocks with the same step; l(t) is t, or slope·t below zero."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        v, z, step, slope, rows, columns = arguments
        writer = Writer(build)
        least = writer.spread(slope)

        def eight(offset: Any, mask: Any) -> None:
            with writer.loop(rows, 1, **_places(build, offset, v=v, z=z)) as state:
                t = writer.load(state["v"], mask)
                writer.store(build.fmul(_leak(build, t, least), t), state["z"], mask)
                _advance(build, state, v=step, z=step)

        by_eights(writer, columns, eight)
        return NOTHING

    whole = types.int64
    return types.void(whole, whole, whole, types.float32, whole, whole), generate


@intrinsic  # type: ignore[untyped-decorator]
def leaky_pass(context: Any, v: Any, h: Any, z: Any, step: Any, slope: Any, rows: Any, columns: Any) -> Any:
    """z ← l(v) ⊙ l(h) of blocks with the same step."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        v, h, z, step, slope, rows, columns = arguments
        writer = Writer(build)
        least = writer.spread(slope)

        def eight(offset: Any, mask: Any) -> None:
            with writer.loop(rows, 1, **_places(build, offset, v=v, h=h, z=z)) as state:
                a, b = writer.load(state["v"], mask), writer.load(state["h"], mask)
                made = build.fmul(build.fmul(_leak(build, a, least), a), build.fmul(_leak(build, b, least), b))
                writer.store(made, state["z"], mask)
                _advance(build, state, v=step, h=step, z=step)

        by_eights(writer, columns, eight)
        return NOTHING

    whole = types.int64
    return types.void(*[whole] * 4, types.float32, whole, whole), generate


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

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, v, h, by_v, by_h, step, sums, more_sums, slope, rows, columns = arguments
        writer = Writer(build)
        least = writer.spread(slope)

        def eight(offset: Any, mask: Any) -> None:
            places = build.add(sums, offset), build.add(more_sums, offset)
            totals = {f"{i}": (VECTOR, constant(0.0)) for i in range(2)}
            starts = _places(build, offset, g=g, v=v, h=h, by_v=by_v, by_h=by_h)
            with writer.loop(rows, 1, **totals, **starts) as state:
                a, b, given = (writer.load(state[name], mask) for name in ("v", "h", "g"))
                left, right = _leak(build, a, least), _leak(build, b, least)
                both = build.fmul(given, build.fmul(left, right))
                made = build.fmul(both, b), build.fmul(both, a)
                for i, name in enumerate(("by_v", "by_h")):
                    writer.store(made[i], state[name], mask)
                    state[f"{i}"] = build.fadd(state[f"{i}"], made[i])
                _advance(build, state, **dict.fromkeys(("g", "v", "h", "by_v", "by_h"), step))
            for i, place in enumerate(places):
                _add_to(writer, place, state[f"{i}"], mask)

        by_eights(writer, columns, eight)
        return NOTHING

    whole = types.int64
    return types.void(*[whole] * 8, types.float32, whole, whole), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_pass(context: Any, z: Any, s: Any, v: Any, step: Any, rows: Any, columns: Any) -> Any:
    """z ← s ⊙ v of blocks with the same step; z may be one of them."""

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        z, s, v, step, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            with writer.loop(rows, 1, **_places(build, offset, z=z, s=s, v=v)) as state:
                made = build.fmul(writer.load(state["s"], mask), writer.load(state["v"], mask))
                writer.store(made, state["z"], mask)
                _advance(build, state, z=step, s=step, v=step)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 6), generate


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

    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, v, sine, cosine, by_v, by_h, step, sums, more_sums, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            places = build.add(sums, offset), build.add(more_sums, offset)
            totals = {f"{i}": (VECTOR, constant(0.0)) for i in range(2)}
            starts = _places(build, offset, g=g, v=v, sine=sine, cosine=cosine, by_v=by_v, by_h=by_h)
            with writer.loop(rows, 1, **totals, **starts) as state:
                given = writer.load(state["g"], mask)
                turned = build.fmul(writer.load(state["v"], mask), writer.load(state["cosine"], mask))
                made = build.fmul(given, writer.load(state["sine"], mask)), build.fmul(given, turned)
                for i, name in enumerate(("by_v", "by_h")):
                    writer.store(made[i], state[name], mask)
                    state[f"{i}"] = build.fadd(state[f"{i}"], made[i])
                _advance(build, state, **dict.fromkeys(starts, step))
            for i, place in enumerate(places):
                _add_to(writer, place, state[f"{i}"], mask)

        by_eights(writer, columns, eight)
        return NOTHING

    return types.void(*[types.int64] * 11), generate


def _leak(build: Any, t: Any, least: Any) -> Any:
    """The slope of l at t: one, or `least` below zero."""
    return build.select(build.fcmp_ordered("<", t, constant(0.0)), least, constant(1.0))


def _backward(combine: Combine) -> Any:
    def generate(_: Any, build: Any, __: Any, arguments: Any) -> Any:
        g, step, other, other_step, sums, rows, columns = arguments
        writer = Writer(build)

        def eight(offset: Any, mask: Any) -> None:
            place = build.add(sums, offset)
            starts = _places(build, offset, at=g, beside=other)
            with writer.loop(rows, 1, total=(VECTOR, constant(0.0)), **starts) as state:
                made = combine(writer, writer.load(state["at"], mask), writer.load(state["beside"], mask))
                writer.store(made, state["at"], mask)
                state["total"] = build.fadd(state["total"], made)
                _advance(build, state, at=step, beside=other_step)
            _add_to(writer, place, state["total"], mask)

        by_eights(writer, columns, eight)
        return NOTHING

    return generate


def _add_to(writer: Writer, place: Any, total: Any, mask: Any) -> None:
    """A block's sum to the sum of all: with blocks summed on their own, less is lost to rounding."""
    writer.store(writer.build.fadd(writer.load(place, mask), total), place, mask)


def _places(build: Any, offset: Any, **starts: Any) -> dict[str, tuple[Any, Any]]:
    """What a loop over rows carries: addresses of a column."""
    return {name: (I64, build.add(start, offset)) for name, start in starts.items()}


def _advance(build: Any, state: dict[str, Any], **steps: Any) -> None:
    """On to the next row."""
    for name, step in steps.items():
        state[name] = build.add(state[name], step)


def by_eights(writer: Writer, columns: Any, body: Body) -> None:
    """`body` for every eight columns, then for the rest of them under a mask."""
    build = writer.build
    whole = build.and_(columns, I64(-LANES))
    with build.if_then(build.icmp_signed(">", whole, I64(0))), writer.loop(whole, LANES) as state:
        body(build.mul(state["k"], I64(4)), None)
    with build.if_then(build.icmp_signed(">", columns, whole)):
        body(build.mul(whole, I64(4)), writer.mask(build.sub(columns, whole)))
