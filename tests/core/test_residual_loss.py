"""Powers of the residual: by hand, and their gradient."""

from __future__ import annotations

import pytest
import torch

from alfilter.core.residual_loss import ResidualLoss


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(ResidualLoss(), 9.0 + 1.0), (ResidualLoss(1, 0.5), 2.0), (ResidualLoss(2, 1.0, weighted=True), 90.0 + 10.0)],
)
def test_by_hand(loss: ResidualLoss, expected: float) -> None:
    target = torch.tensor([[1.0, 2.0, 10.0]])[:, : 2 + loss.weighted]
    assert loss(torch.tensor([[4.0, 1.0]]), target).item() == expected


def test_several_predictions_add_up() -> None:
    prediction, target = torch.randn(3, 5, 2), torch.randn(5, 3).abs()
    loss = ResidualLoss(2, 0.5, weighted=True)
    torch.testing.assert_close(loss(prediction, target), torch.stack([loss(p, target) for p in prediction]).sum())


@pytest.mark.parametrize("power", [1, 2])
def test_gradient(power: int) -> None:
    target = torch.rand(6, 3, dtype=torch.float64)
    prediction = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: ResidualLoss(power, 0.3, weighted=True)(p, target), prediction)
