"""Rows with a table of features: sizes that follow the signal, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from alfilter.config import Density
from alfilter.core.hash_grid import corners
from alfilter.encodings import HashGrid, SampleTable
from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.methods.grids import HashGridOptions, finest_cells, follow_samples, grid_sizes
from alfilter.signals import GridSignal


def test_the_finest_grid_follows_the_signal() -> None:
    half = HashGridOptions()
    assert finest_cells(half, 2, (100, 300)) == (150, 150)
    assert finest_cells(HashGridOptions(density=2.0), 2, (100, 300)) == (600, 600)
    assert finest_cells(HashGridOptions(finest=17), 2, (100, 300)) == (17, 17)
    assert [finest_cells(half, dims, None)[0] for dims in (1, 2, 3, 4)] == [256, 256, 2048, 64]


def test_an_aligned_grid_has_a_node_on_every_sample() -> None:
    """So a sample reads one row of the finest level, and no other sample reads it."""
    field = build("hash-grid", in_dim=2, out_dim=1, preset="default", samples=(9, 5), seen=Density(2, 6.7))
    layout = field.encoding.layout  # type: ignore[union-attr]
    assert layout.cells[-1] == (8, 4)
    x = GridSignal(np.zeros((9, 5, 1), np.uint8)).coords()
    index, weight = corners(x, layout)
    rows = index[:, -1].gather(1, weight[:, -1].argmax(-1, keepdim=True))
    assert torch.allclose(weight[:, -1].max(-1).values, torch.ones(45), atol=1e-5)
    assert len(rows.unique()) == 45


def test_rows_of_a_level() -> None:
    assert [grid_sizes(HashGridOptions(), dims, (16,))["table"] for dims in (2, 3)] == [1 << 24, 1 << 19]
    assert grid_sizes(HashGridOptions(table=10), 2, (16,))["table"] == 1024
    with pytest.raises(UserError, match="defined for 1 to 4 coordinates, got 5; take al-sine or siren"):
        grid_sizes(HashGridOptions(), 5, (16,))


def test_a_small_signal_has_no_grid_finer_than_its_samples() -> None:
    field = build("filter-bank", in_dim=2, out_dim=1, samples=(20, 10), width=4, backbone=4, table=8)
    assert isinstance(field.encoding, HashGrid)
    assert max(field.encoding.layout.cells[-1]) == 20


def test_diner_has_a_row_per_sample() -> None:
    field = build("diner", in_dim=2, out_dim=1, samples=(5, 7), width=4)
    assert isinstance(field.encoding, SampleTable)
    assert sum(p.numel() for p in field.encoding.parameters()) == 5 * 7 * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "diner keeps a row per sample and must know how many there are; give samples or the option table"),
        ({"table": (4, 4, 4)}, "option 'table' needs 2 sizes for 2 coordinates, got 3; give one per axis"),
    ],
)
def test_a_table_of_no_size_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refusal:
        build("diner", in_dim=2, out_dim=1, **arguments)
    assert str(refusal.value) == message


@pytest.mark.parametrize("method", ["hash-grid", "al-grid"])
def test_the_first_weights_fall_from_level_to_level(method: str) -> None:
    options = {"levels": 3, "features": 2, "base": 4, "finest": 16, "table": 8}
    even = next(build(method, in_dim=2, out_dim=1, **options, taper=1.0).network.parameters())
    tapered = next(build(method, in_dim=2, out_dim=1, **options, taper=0.5).network.parameters())
    torch.testing.assert_close(tapered, even * torch.tensor([1, 1, 0.5, 0.5, 0.25, 0.25]))


def test_batches_of_a_video_are_bounded() -> None:
    picture, video = follow_samples(Density(2, 8192))[1], follow_samples(Density(3, 352))[1]
    assert picture["batch"] == 1 << 18
    assert video["batch"] == 1 << 16
    assert video["batch"] >= video["micro"]
    assert follow_samples(Density(3, 64))[1] == {}  # every sample has a node, and the usual batches


@pytest.mark.parametrize("method", ["hash-grid", "al-grid"])
def test_a_sine_network_on_a_grid(method: str) -> None:
    """Its first weights start within 1/C, as SIREN's, and a step of it is one compiled call."""
    sizes = {"levels": 3, "features": 2, "base": 4, "finest": 16, "table": 8, "width": 8}
    field = build(method, in_dim=2, out_dim=1, **sizes, activation="sine", omega=5.0)
    first, second = [p for p in field.network.parameters() if p.dim() == 2][:2]
    assert first.abs().max() <= 1 / 6
    assert second.abs().max() <= (6 / 8) ** 0.5 / 5
    assert field.compiled() is not None
    x = torch.rand(50, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    (weight, bias), (more, offset), (last, end) = field.network.layers()  # type: ignore[operator]
    z = torch.sin(5.0 * (field.encoding(x) @ weight.t() + bias))
    z = torch.sin(5.0 * (z @ more.t() + offset))
    torch.testing.assert_close(field(x), z @ last.t() + end)
