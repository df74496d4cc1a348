"""A field on grids and points: at the signal's own places, and the same in one pass or in many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from tests.support.processor import cloud_with_no_tree_of_zeros, flushes_denormals, shrink
from torch import Tensor, nn

from alfilter.evaluate import Section, axis_coords, distances_at, sample_axes, sample_grid, sample_points, sampling
from alfilter.evaluate.sampling import POINTS, in_passes
from alfilter.methods import build
from alfilter.runtime.thread_pool import flushed_denormals
from alfilter.signals import grid_coords


def echo(x: Tensor) -> Tensor:
    return x


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_a_grid_is_sampled_where_the_signal_was(shape: list[int]) -> None:
    sampled = sample_grid(echo, tuple(shape))
    assert torch.equal(sampled.reshape(-1, len(shape)), grid_coords(tuple(shape)))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 3000), st.data())
def test_places_that_are_samples_have_their_coordinates(samples: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, samples - 1))
    last = data.draw(st.integers(first, samples - 1))
    whole = axis_coords(samples, 0, samples - 1, samples)
    assert torch.equal(whole.unsqueeze(1), grid_coords((samples,)))
    assert torch.equal(axis_coords(last - first + 1, first, last, samples), whole[first : last + 1])
    assert torch.equal(axis_coords(2 * samples - 1, 0, samples - 1, samples)[::2], whole)


@pytest.mark.parametrize("limits", [(1 << 14, 64), (64, 64), (128, 1)])
def test_many_passes_give_what_one_gives(limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "POINTS", limits[0])
    monkeypatch.setattr(sampling, "_ROWS", limits[1])
    axes = [torch.linspace(-1, 1, 17), torch.linspace(0, 1, 31)]
    sampled: Any = sample_axes(echo, axes)
    assert torch.equal(sampled, torch.stack(torch.meshgrid(*axes, indexing="ij"), dim=-1))


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


def test_points_are_evaluated_independently_of_each_other() -> None:
    field = build("al-sine", in_dim=3, out_dim=1, width=16, depth=2, levels=3, grid=4)
    points = np.random.default_rng(0).uniform(-1, 1, (20_000, 3)).astype(np.float32)
    together = distances_at(field, points)
    assert np.array_equal(together[123:456], distances_at(field, points[123:456]))
    assert distances_at(field, points[:0]).shape == (0,)


class Shrinking(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.full((len(x), 1), float(shrink() > 0))


@flushes_denormals
@pytest.mark.parametrize("threads", [1, 2])
def test_fields_flush_denormals_and_functions_do_not(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "POINTS", 64)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for outside in (False, True):
            with flushed_denormals(outside):
                assert sample_grid(Shrinking(), (16, 16)).max() == 0
                assert sample_grid(lambda x: Shrinking()(x), (16, 16)).min() > 0
                assert (shrink() == 0) == outside
    finally:
        torch.set_num_threads(before)


@flushes_denormals
def test_a_function_may_make_a_tree_of_points() -> None:
    cloud = cloud_with_no_tree_of_zeros()

    def nearest(x: Tensor) -> Tensor:
        return torch.from_numpy(cKDTree(cloud).query(x.numpy())[0])[:, None]

    assert sample_grid(nearest, (8, 8)).shape == (8, 8, 1)


@pytest.mark.parametrize("method", ["siren", "al-grid", "hash-grid"])
def test_no_places_have_as_many_numbers_as_a_value(method: str) -> None:
    field = build(method, in_dim=2, out_dim=3, samples=(16, 16))
    assert sample_points(field, torch.zeros(0, 2)).shape == (0, 3)
    assert sample_axes(field, [torch.zeros(0), torch.zeros(4)]).shape == (0, 4, 3)
    assert sample_axes(field, [torch.zeros(4), torch.zeros(0)]).shape == (4, 0, 3)
    assert distances_at(echo, np.zeros((0, 3))).shape == (0,)


def test_coordinates_are_moved_to_the_field_s_device() -> None:
    """A device that holds no numbers: what arrives there is noted, and zeros come back."""

    class Far(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("shift", torch.zeros(1, device="meta"))

        def forward(self, x: Tensor) -> Tensor:
            arrived.append((x.device.type, x.shape[1]))
            return torch.zeros(len(x), 1)

    arrived: list[tuple[str, int]] = []
    field = Far()
    sample_grid(field, (4, 4, 4))
    sample_points(field, torch.zeros(5, 3))
    sample_points(field, torch.zeros(0, 3))
    distances_at(field, np.zeros((5, 3)))
    sample_grid(Section((4, 4, 4), (1, 2), (0.0,)).through(field), (4, 4))
    assert arrived == [("meta", 3)] * 5


@pytest.mark.parametrize("method", ["siren", "wire", "pe-mlp", "al-grid"])
def test_a_field_in_float64_is_evaluated_in_float64(method: str) -> None:
    field = build(method, in_dim=2, out_dim=1, samples=(16, 16), seed=1)
    single, double = sample_grid(field, (5, 6)), sample_grid(field.double(), (5, 6))
    assert double.dtype == torch.float64
    assert torch.allclose(single.double(), double, atol=1e-3)
    assert distances_at(field, np.zeros((3, 2))).dtype == np.float32
