"""Compiled passes over cells: numpy's results to the bit, shared among threads or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.geometry.cells import (
    children_to_see,
    gradient_norms,
    pruned,
    sign_changes,
    unfinished,
    unknown_corners,
    upsampled,
)
from alfilter.kernels.dispatch import use_way

pytest.importorskip("numba")

seeds = st.integers(0, 2**32 - 1)


def grid(seed: int, side: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(side,) * 3).astype(np.float32)


def by_both(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    """What the compiled pass and what numpy gives."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with use_way("blocks"):
        compiled = function(*arguments)
    with use_way("plain"):
        return compiled, function(*copies)


@given(seeds, st.sampled_from([3, 5, 30]))
@settings(max_examples=20, deadline=None)
def test_compiled_passes_are_numpys_to_the_bit(seed: int, side: int) -> None:
    rng, values = np.random.default_rng(seed), grid(seed, side) + np.float32(0.7)
    known, marked = rng.random(values.shape) < 0.6, rng.random([side - 1] * 3) < 0.3
    for function, arguments in (
        (upsampled, (values,)), (sign_changes, (values,)), (gradient_norms, (values,)), (unfinished, (values, known)),
        (unknown_corners, (marked, known)),
    ):  # fmt: skip
        compiled, plain = by_both(function, *arguments)
        assert compiled.dtype == plain.dtype
        assert np.array_equal(compiled, plain), function.__name__


@given(seeds, st.floats(0.05, 1.0), st.booleans(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_compiled_pruning_is_numpys(seed: int, reach: float, bends: bool, smooth: bool) -> None:
    rng = np.random.default_rng(seed)
    values = grid(seed, 9) if not smooth else upsampled(upsampled(grid(seed, 3)))
    active = rng.random((8, 8, 8)) < rng.choice([0.0, 0.5, 1.0])
    (left, doubt), (plain_left, plain_doubt) = by_both(pruned, values, active, reach, 0.5 if bends else None)
    assert np.array_equal(left, plain_left)
    assert (doubt is None) == (plain_doubt is None) == (not bends)
    if bends:
        assert np.array_equal(doubt[active], plain_doubt[active])
    fine = upsampled(values)
    if bends:  # a doubt is known in active cells alone
        doubt = plain_doubt
    compiled, plain = by_both(children_to_see, fine, left, doubt)
    assert np.array_equal(compiled, plain)


def test_passes_share_their_planes_among_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    values = grid(1, 40)
    alone = upsampled(values), sign_changes(values), pruned(values, np.ones((39,) * 3, bool), 0.3, 0.5)
    monkeypatch.setattr("alfilter.runtime.thread_pool._reserved", 3)
    shared = upsampled(values), sign_changes(values), pruned(values, np.ones((39,) * 3, bool), 0.3, 0.5)
    assert all(np.array_equal(a, b) for a, b in zip(alone[:2], shared[:2], strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(alone[2], shared[2], strict=True))
