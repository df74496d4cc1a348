"""When kernels may run."""

from __future__ import annotations

import pytest
import torch

from alfilter.kernels import dispatch
from alfilter.kernels.dispatch import can_use_kernels, has_nan, load_kernels


def test_when_kernels_may_run() -> None:
    pytest.importorskip("numba")
    batch = torch.zeros(4, 2)
    assert can_use_kernels(batch, torch.zeros(3))
    assert not can_use_kernels(batch.double())
    assert not can_use_kernels(batch, torch.zeros(3, dtype=torch.float64))
    assert not can_use_kernels(torch.zeros(4)), "a single point is no batch"
    assert not can_use_kernels(torch.zeros(0, 2))
    assert not can_use_kernels(torch.zeros(4, 2, device="meta"))
    seen = []
    torch.func.vmap(lambda row: seen.append(can_use_kernels(row[None])) or row)(batch)
    assert seen == [False]


def test_without_numba_everything_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "kernels_available", lambda: False)
    assert not can_use_kernels(torch.zeros(4, 2))


def test_kernels_are_loaded_by_name() -> None:
    pytest.importorskip("numba")
    assert load_kernels("adam") is load_kernels("adam")
    with pytest.raises(ImportError):
        load_kernels("none")


def test_nan_is_noticed() -> None:
    assert not has_nan(torch.ones(3))
    assert has_nan(torch.tensor([1.0, float("nan")]))
