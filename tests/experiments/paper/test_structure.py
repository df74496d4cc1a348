"""Overall structure: blind to what is finer than the seen pixels, not to what is coarser."""

from __future__ import annotations

import pytest
import torch

from alfilter.experiments.paper.structure import structure


def scene() -> torch.Tensor:
    rows, columns = torch.meshgrid(torch.linspace(0, 6, 48), torch.linspace(0, 6, 48), indexing="ij")
    return (0.5 + 0.4 * torch.sin(rows) * torch.cos(columns)).unsqueeze(-1)


def test_the_same_picture_has_the_same_structure() -> None:
    assert structure(scene(), scene(), "random:0.05") == pytest.approx(1.0)


def test_fine_noise_costs_less_than_a_shift() -> None:
    noise = 0.2 * torch.randn(scene().shape, generator=torch.Generator().manual_seed(0))
    noisy, shifted = (structure(each, scene(), "random:0.05") for each in (scene() + noise, scene().roll(16, 0)))
    assert noisy > 0.8 > shifted
    assert structure(scene() + noise, scene(), "random:0.35") < noisy, "with more pixels seen, finer detail counts"
