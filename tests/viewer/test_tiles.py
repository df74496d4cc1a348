"""A tile's pixels are the field's values at exactly those places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.evaluate import sample_axes
from alfilter.methods import METHODS, build
from alfilter.render.image import render
from alfilter.render.view import View
from alfilter.training import load
from alfilter.viewer.tiles import (
    MAX_ZOOM,
    MIN_ZOOM,
    TILE,
    Cache,
    TileIndex,
    as_uint16,
    axes_of,
    evaluate,
    extent,
    in_float64,
    needs_float64,
)

SHAPE = (40, 52)


def test_places_by_hand() -> None:
    rows, columns = TileIndex(8, 0, 0).places((2, 3))  # two screen pixels per sample
    assert rows.tolist() == [-0.25, 0.25, 0.75, 1.25]
    assert columns.tolist() == [-0.25, 0.25, 0.75, 1.25, 1.75, 2.25]
    assert TileIndex(0, 0, 0).places((2, 3))[1].tolist() == [0.0, 1.0, 2.0]


@settings(max_examples=60)
@given(st.integers(MIN_ZOOM, 90), st.integers(1, 700), st.integers(1, 700))
def test_tiles_cover_the_picture_once(zoom: int, rows: int, columns: int) -> None:
    scale = TileIndex(zoom, 0, 0).scale
    for axis, samples in enumerate((rows, columns)):
        end = extent(samples, scale)
        tiles = range(-(-end // TILE))
        if len(tiles) > 40:
            continue
        spans = [TileIndex(zoom, *((k, 0) if axis == 0 else (0, k))).spans((rows, columns))[axis] for k in tiles]
        assert [p for span in spans for p in span] == list(range(end))
        with pytest.raises(UserError, match="outside the picture"):
            TileIndex(zoom, *((len(tiles), 0) if axis == 0 else (0, len(tiles)))).spans((rows, columns))


def test_at_scale_one_and_sixty_four_a_tile_is_render(trained: Path) -> None:
    field = load(trained / "al" / "model.safetensors")
    whole = evaluate(field, TileIndex(0, 0, 0), SHAPE)
    assert np.array_equal(whole, render(field, View()).numpy())
    spot = TileIndex(48, 3, 5)  # 64 times: a tile is 2 samples wide
    rows, columns = (places.tolist() for places in spot.places(SHAPE))
    region = f"{columns[0]},{rows[0]},{columns[-1] + 1},{rows[-1] + 1}"
    drawn = render(field, View(size=f"{TILE}x{TILE}", region=region)).numpy()
    assert np.abs(evaluate(field, spot, SHAPE) - drawn).max() < 1e-5
    assert np.ptp(drawn[:64, :64]) > 1e-3  # inside one sample there is more than one value


def test_far_inside_neighbours_still_differ(trained: Path) -> None:
    field = load(trained / "al" / "model.safetensors")
    middle = [int((n / 2) * 2**22) // TILE for n in SHAPE]
    spot = TileIndex(22 * 8, *middle)
    assert needs_float64(spot, SHAPE)
    assert not needs_float64(TileIndex(0, 0, 0), SHAPE)
    axes = axes_of(spot, SHAPE)
    assert all(axis.dtype == torch.float64 and bool((axis.diff() > 0).all()) for axis in axes)
    values = evaluate(in_float64(field), spot, SHAPE)
    assert np.ptp(values) > 0
    assert np.abs(np.diff(values[:, :, 0], axis=1)).max() < 1e-6  # and it is smooth, not a staircase
    assert np.abs(values - evaluate(field, TileIndex(0, 0, 0), SHAPE)[SHAPE[0] // 2, SHAPE[1] // 2]).max() < 0.2


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_has_tiles_near_and_far(name: str) -> None:
    small = {"width": 8} if "width" in METHODS[name].options.__dataclass_fields__ else {}
    field = build(name, in_dim=2, out_dim=3, samples=(12, 10), **small).eval()
    deep = TileIndex(20 * 8, (6 << 20) // TILE, (5 << 20) // TILE)
    for drawn, spot in ((field, TileIndex(8, 0, 0)), (in_float64(field), deep)):
        axes = [axis[:5] for axis in axes_of(spot, (12, 10))]
        values = sample_axes(drawn, axes)
        assert values.shape == (5, 5, 3)
        assert values.dtype == axes[0].dtype
        assert bool(torch.isfinite(values).all())


def test_what_is_not_there_is_refused() -> None:
    for spot in (TileIndex(0, -1, 0), TileIndex(0, 0, 1), TileIndex(MAX_ZOOM + 1, 0, 0), TileIndex(MIN_ZOOM - 1, 0, 0)):
        with pytest.raises(UserError):
            spot.spans(SHAPE)


def test_touching() -> None:
    spot = TileIndex(0, 1, 1)  # samples 127.5 … 255.5 both ways
    assert spot.touches((200, 200, 210, 210))
    assert spot.touches((0, 0, 128, 128))
    assert not spot.touches((0, 0, 127, 400))
    assert not spot.touches((256, 200, 300, 210))


def test_shades_are_clipped_and_never_nan() -> None:
    assert as_uint16(np.array([np.nan, -3, 0.25, 7])).tolist() == [0, 0, 16384, 65535]


def test_the_cache_keeps_the_latest_within_its_bytes() -> None:
    cache = Cache(limit=30)
    for number in range(4):
        cache.put(number, TileIndex(0, 0, number), bytes(10))
    assert cache.get(0) is None
    assert [cache.get(n) for n in (1, 2, 3)] == [bytes(10)] * 3
    cache.get(1)
    cache.put(1, TileIndex(0, 0, 1), bytes(12))
    assert cache.get(2) is None
    assert cache.size == 22
    cache.drop(lambda key, spot: spot.column == 1)
    assert cache.get(1) is None
    assert cache.size == 10
