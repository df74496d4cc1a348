"""When kernels may run."""

from __future__ import annotations

import pytest
import torch

from alfilter.errors import UserError
from alfilter.kernels import dispatch
from alfilter.kernels.dispatch import VARIABLE, can_use_kernels, current_way, fixed_way, has_nan, load_kernels, use_way


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


def test_the_environment_names_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert (fixed_way(), current_way()) == (None, "blocks")
    monkeypatch.setenv(VARIABLE, "layers")
    assert (fixed_way(), current_way()) == ("layers", "layers")
    with use_way("blocks"):
        assert current_way() == "blocks", "a run keeps its own"
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(UserError) as caught:
        current_way()
    assert str(caught.value) == (
        "ALFILTER_KERNELS is one of blocks, layers, plain, got 'fast'; unset it for the fastest"
    )


def test_the_plain_way_calls_no_kernel() -> None:
    pytest.importorskip("numba")
    batch = torch.zeros(4, 2)
    with use_way("plain"):
        assert not can_use_kernels(batch)
        with use_way("layers"):
            assert can_use_kernels(batch)
    assert can_use_kernels(batch)
