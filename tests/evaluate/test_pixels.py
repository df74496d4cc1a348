"""Pixels that cover several samples are means over them; others are places."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.evaluate import axis_coords, pixel_axis, pixel_bands, sample_axes, sample_grid, sample_pixels
from alfilter.evaluate import pixels as module


def places(coords: torch.Tensor, samples: int) -> torch.Tensor:
    return (coords.double() + 1) / 2 * (samples - 1)


@given(st.integers(1, 40), st.integers(1, 60))
def test_as_many_pixels_as_samples_or_more_are_places(samples: int, more: int) -> None:
    axis = pixel_axis(samples + more - 1, 0, samples - 1, samples)
    assert (axis.each, len(axis)) == (1, samples + more - 1)
    assert torch.equal(axis.coords, axis_coords(samples + more - 1, 0, samples - 1, samples))


@given(st.integers(2, 60), st.data())
def test_fewer_pixels_cover_the_samples_evenly(samples: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, samples - 1))
    axis = pixel_axis(count, 0, samples - 1, samples)
    at = places(axis.coords, samples).view(count, axis.each)
    width = samples / count
    centres = (torch.arange(count) + 0.5) * width - 0.5
    assert axis.width == pytest.approx(width)
    assert width / axis.each <= 1 + 1e-9
    inner = (at > 1e-3).all(1) & (at < samples - 1 - 1e-3).all(1)  # places beyond an end are moved to it
    assert torch.allclose(at.mean(1)[inner], centres[inner].double(), atol=1e-3)
    assert at.min() >= -1e-3
    assert at.max() <= samples - 1 + 1e-3


@pytest.mark.parametrize("shape", [(12,), (12, 8), (4, 8, 12)])
def test_whole_factors_are_area_means(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    wave = lambda x: torch.stack([(7 * x).sin().sum(-1), x.prod(-1)], dim=-1)  # noqa: E731
    grid = sample_grid(wave, shape)
    for factor in (2, 4):
        expected = grid
        for axis in range(len(shape)):
            expected = torch.unflatten(expected, axis, (-1, factor)).mean(axis + 1)
        axes = [pixel_axis(n // factor, 0, n - 1, n) for n in shape]
        assert torch.allclose(sample_pixels(wave, axes), expected, atol=1e-6)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_BAND", 4)
            bands = list(pixel_bands(wave, axes))
        assert len(bands) > 1 or len(axes[0]) == 1
        assert torch.equal(torch.cat([band for _, band in bands]), sample_pixels(wave, axes))


def test_a_region_and_a_wider_spacing() -> None:
    axis = pixel_axis(2, 4, 11, samples=20)  # the samples 4 to 11
    assert places(axis.coords, 20).tolist() == pytest.approx([4, 5, 6, 7, 8, 9, 10, 11], abs=1e-4)
    wide = pixel_axis(2, 4, 11, samples=20, spacing=4.0)
    assert places(wide.coords, 20).tolist() == pytest.approx([5.5, 9.5], abs=1e-4)
    assert (wide.each, wide.width) == (1, 4.0)
    constant = sample_pixels(lambda x: torch.full((len(x), 1), 3.0), [axis, wide])
    assert torch.equal(constant, torch.full((2, 2, 1), 3.0))
    assert torch.equal(sample_axes(lambda x: x, [wide.coords]), sample_pixels(lambda x: x, [wide]))
