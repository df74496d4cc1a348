"""How large and how costly a method is: sizing it to a parameter budget, and the products a point costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import torch

from alfilter.errors import UserError
from alfilter.methods.field import Field, parameter_count
from alfilter.methods.method import Samples
from alfilter.methods.table import build, method
from alfilter.methods.table import preset as preset_of

TOLERANCE = 0.05  # of the budget
_POINTS = 64


def sized(
    name: str,
    params: int,
    in_dim: int,
    out_dim: int,
    samples: Samples | None = None,
    *,
    preset: str | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The options that give a method `params` parameters, to 5 %: those given, and those that size the method.

    That is the method's `size_by`, for most of them the width, or the preset's. An error says the nearest count that is
    possible.

    >>> sized("siren", 100_000, in_dim=2, out_dim=3)
    {'width': 222}
    """
    if not isinstance(params, int) or isinstance(params, bool) or params < 1:
        raise UserError(f"a parameter budget must be a whole number of at least 1, got {params!r}")
    *coarse, by = (preset_of(name, preset).size_by if preset else ()) or (method(name).size_by,)
    for given in {*coarse, by} & set(options):
        raise UserError(f"{name} is sized by its option {given!r}, which is given too; leave out one of them")
    limits = {f.name: f.metadata for f in fields(method(name).options)}
    if by not in limits:
        raise UserError(f"{name} has no option that sizes it; set its own: alfilter methods {name}")

    def count(sizes: Mapping[str, int]) -> int:
        chosen = {**options, **sizes}
        return parameter_count(build(name, in_dim=in_dim, out_dim=out_dim, preset=preset, samples=samples, **chosen))

    low, high = int(limits[by].get("low") or 1), int(limits[by].get("high") or 1 << 13)
    tried = []
    for steps in _steps(count, params, {option: limits[option] for option in coarse}):
        size, got = _nearest(lambda each, steps=steps: count({**steps, by: each}), params, low, high)
        if abs(got - params) <= TOLERANCE * params:
            return {**options, **steps, by: size}
        tried.append((abs(got - params), got, size))
    _, got, size = min(tried)
    raise UserError(
        f"{name} cannot have {params:,} parameters within {TOLERANCE:.0%}; the nearest is {got:,} ({by}={size})"
    )


def _steps(count: Any, wanted: int, coarse: Mapping[str, Any]) -> list[dict[str, int]]:
    """Values of an option of large steps to try: the largest that fits with all others as they are, and the next."""
    if not coarse:
        return [{}]
    ((option, limits),) = coarse.items()
    size = int(limits["low"])
    while size < limits["high"] and count({option: size + 1}) <= wanted:
        size += 1
    return [{option: size}, {option: min(size + 1, int(limits["high"]))}]


def _nearest(count: Any, wanted: int, low: int, high: int) -> tuple[int, int]:
    """The size in [low, high] whose count, which grows with it, is nearest to the wanted one, and that count."""
    below, above, current = low, low, count(low)
    seen = {low: current}
    while current < wanted and above < high:  # from small to large: a count can be costly to have
        below, above = above, min(2 * above, high)
        seen[above] = current = count(above)
    while above - below > 1:
        middle = (below + above) // 2
        seen[middle] = count(middle)
        below, above = (middle, above) if seen[middle] < wanted else (below, middle)
    size = min(seen, key=lambda s: (abs(seen[s] - wanted), s))
    return size, seen[size]


def cost_per_point(field: Field) -> float:
    """MFLOP that the matrix products of one training step cost for one point: three times those of the forward pass.

    Counted while the field is evaluated: a multiplication and an addition are two operations, gathers and activations
    are none.

    >>> from alfilter.methods import build
    >>> round(cost_per_point(build("al-sine", in_dim=2, out_dim=3, grid=8)), 2)
    0.84
    """
    from torch.utils.flop_counter import FlopCounterMode  # not needed to build or train

    x = torch.zeros(_POINTS, field.in_dim, dtype=torch.float64)
    dtype = field.shift.dtype
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        field.double()(x)  # in float64 every product is an operation that torch can count
    field.to(dtype)
    return 3 * counter.get_total_flops() / _POINTS / 1e6
