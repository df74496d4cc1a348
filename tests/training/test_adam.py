"""Our Adam is the optimiser everybody means by that name."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from alfilter.runtime.flat_params import FlatLayout
from alfilter.training.adam import Adam, Group


def test_first_step_by_hand() -> None:
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    p.grad = torch.tensor([0.5, -4.0])
    Adam([Group([p], lr=0.1)]).step()
    # after one step m̂ = g and v̂ = g², so every number moves by the rate against its gradient's sign
    assert p.tolist() == pytest.approx([0.9, -1.9], abs=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("beta2", [0.999, 0.9])
@pytest.mark.parametrize(("amsgrad", "clip"), [(False, None), (True, None), (True, 0.5)])
def test_equals_torchs_own(decay: float, beta2: float, amsgrad: bool, clip: float | None) -> None:
    generator = torch.Generator().manual_seed(0)
    start = [torch.randn(4, 3, generator=generator), torch.randn(5, generator=generator)]
    mine, theirs = ([nn.Parameter(t.clone()) for t in start] for _ in range(2))
    ours = Adam([Group([mine[0]], 1e-2, decay), Group([mine[1]], 3e-2)], beta2=beta2, amsgrad=amsgrad, clip=clip)
    torchs = torch.optim.AdamW(
        [
            {"params": [theirs[0]], "lr": 1e-2, "weight_decay": decay},
            {"params": [theirs[1]], "lr": 3e-2, "weight_decay": 0},
        ],
        betas=(0.9, beta2),
        amsgrad=amsgrad,
        foreach=False,
    )
    for _ in range(20):
        for p, q in zip(mine, theirs, strict=True):
            p.grad = torch.randn(p.shape, generator=generator)
            q.grad = p.grad.clone()
        if clip is not None:
            nn.utils.clip_grad_norm_(theirs, clip)
        ours.step()
        torchs.step()
    for p, q in zip(mine, theirs, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-5, atol=1e-6)


def test_the_factor_scales_both_rates_and_no_gradient_means_no_move() -> None:
    p, q, still = (nn.Parameter(torch.zeros(1)) for _ in range(3))
    p.grad, q.grad = torch.ones(1), torch.ones(1)
    Adam([Group([p, still], lr=0.2), Group([q], lr=0.4)]).step(factor=0.5)
    assert (p.item(), q.item(), still.item()) == pytest.approx((-0.1, -0.2, 0.0), abs=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_table_on_several_threads_is_torchs_too(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long enough to be cut in slices; most rows never see a gradient, as in a table."""
    monkeypatch.setattr("alfilter.runtime.thread_pool._WORTH_SHARING", 1 << 17)
    generator = torch.Generator().manual_seed(0)
    start = torch.randn((1 << 17) + 5, generator=generator)
    mine, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    ours, torchs = Adam([Group([mine], 1e-2)]), torch.optim.AdamW([theirs], 1e-2, weight_decay=0, foreach=False)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for _ in range(3):
            grad = torch.where(torch.rand(start.shape, generator=generator) < 0.1, start, 0.0)
            mine.grad, theirs.grad = grad, grad.clone()
            ours.step()
            torchs.step()
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_gradients_of_several_workers_are_added_up_and_zeroed(
    workers: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alfilter.runtime.fused_adam._SWEEP_WORTH_SHARING", 1000)
    start = [torch.randn(700, 3), torch.randn(5), torch.randn(40)]
    layout = FlatLayout(start)
    sums = torch.randn(workers, layout.total)
    whole, apart = ([nn.Parameter(t) for t in layout.views(torch.zeros(layout.total))] for _ in range(2))
    for p, q, t in zip(whole, apart, start, strict=True):
        p.data.copy_(t)
        q.data.copy_(t)
    optimisers = [Adam([Group(ps[:2], 1e-2, 0.1), Group(ps[2:], 3e-2)]) for ps in (whole, apart)]
    assert optimisers[1].adds_up()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for step in range(3):
            numbers = torch.randn(sums.shape, generator=torch.Generator().manual_seed(step))
            for p, q, g, h in zip(whole, apart, layout.views(numbers.sum(0)), layout.views(sums[0]), strict=True):
                p.grad, q.grad = g, h
            sums.copy_(numbers)
            optimisers[0].step(0.5)
            optimisers[1].step(0.5, sums)
            assert not any(q.grad.any() for q in apart if q.grad is not None)
            parts = [layout.views(row) for row in sums]
            assert not any(part.any() for row in parts for part in row)
    finally:
        torch.set_num_threads(before)
    for p, q in zip(whole, apart, strict=True):
        torch.testing.assert_close(p, q, rtol=1e-5, atol=1e-6)


def test_what_must_see_the_whole_gradient_does_not_add_up() -> None:
    groups = [Group([nn.Parameter(torch.zeros(3))], 1e-2)]
    assert Adam(groups).adds_up()
    assert not Adam(groups, clip=1.0).adds_up()
    assert not Adam(groups, amsgrad=True).adds_up()
    assert not Adam([Group([nn.Parameter(torch.zeros(3).double())], 1e-2)]).adds_up()
