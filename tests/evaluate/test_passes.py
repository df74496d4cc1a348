"""A field in passes: every place once, the same values however many there are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from alfilter.evaluate.passes import POINTS, in_passes
from alfilter.methods import build


@pytest.mark.parametrize("total", [1, 63, 64, 65, POINTS, POINTS + 1, 2 * POINTS + 3])
def test_every_place_once(total: int) -> None:
    sizes: list[int] = []

    def places(first: int, count: int) -> Tensor:
        sizes.append(count)
        return torch.arange(first, first + count, dtype=torch.float32)[:, None]

    values = in_passes(lambda x: 2 * x, total, places)
    assert torch.equal(values, 2 * torch.arange(total, dtype=torch.float32)[:, None])
    assert (sum(sizes), max(sizes) <= POINTS) == (total, True)


def test_values_do_not_depend_on_how_many_places_there_are() -> None:
    field = build("siren", in_dim=2, out_dim=3, width=16)
    x = torch.rand(200, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    whole = in_passes(field, 200, lambda first, count: x[first : first + count])
    alone = torch.cat([in_passes(field, 1, lambda first, count, k=k: x[k : k + 1]) for k in range(0, 200, 17)])
    assert torch.equal(whole[::17], alone)
    assert not whole.requires_grad
