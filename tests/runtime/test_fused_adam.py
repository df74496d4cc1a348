"""Adam's compiled update on flat arrays: where it may run, and the same numbers however they are cut."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from alfilter.runtime.fused_adam import can_fuse, fused_update

NUMBERS = (0.1, 0.999, 0.001, 0.5, 1e-8, 0.01, 0.9)  # 1-β₁, β₂, 1-β₂, correction, ε, rate, keep


def test_where_it_may_run() -> None:
    pytest.importorskip("numba")
    p = torch.zeros(3, 4, requires_grad=True)
    assert can_fuse(p)
    assert can_fuse(p.detach()[0])
    assert not can_fuse(p.detach().T)
    assert not can_fuse(p.detach().double())
    p.grad = torch.zeros(4, 3).T
    assert not can_fuse(p)


def test_by_hand() -> None:
    """m = 0.1 · 2, v = 0.001 · 4, p = 0.9 · 1 - 0.01 m / (√v / 0.5)."""
    pytest.importorskip("numba")
    arrays = [np.full(1, value, np.float32) for value in (1.0, 2.0, 0.0, 0.0)]
    fused_update(arrays, NUMBERS)
    expected = 0.9 - 0.01 * 0.2 / (0.004**0.5 / 0.5)
    assert [array.item() for array in arrays] == pytest.approx([expected, 2.0, 0.2, 0.004], rel=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
def test_sums_of_workers_are_one_gradient(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("alfilter.runtime.fused_adam._SWEEP_WORTH_SHARING", 100)
    monkeypatch.setattr("alfilter.runtime.thread_pool._reserved", threads)
    sums = torch.randn(2, 1000, generator=torch.Generator().manual_seed(0))
    p, mean, square = np.ones((3, 600), np.float32)
    whole = [p.copy(), sums.sum(0)[400:].numpy(), mean.copy(), square.copy()]
    fused_update(whole, NUMBERS)
    fused_update([p, sums[0, 400:].numpy(), mean, square], NUMBERS, sums)
    for one, other in zip(whole, (p, None, mean, square), strict=True):
        if other is not None:
            np.testing.assert_allclose(other, one, rtol=1e-6)
    assert not sums[:, 400:].any()
    assert sums[:, :400].all()
