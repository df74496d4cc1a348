"""The filter on the levels of a learned grid: what its row builds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from alfilter.encodings import FilteredGrid
from alfilter.errors import UserError
from alfilter.methods import METHODS, build
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import fit


def test_its_levels_are_those_of_a_hash_grid() -> None:
    sizes = {"levels": 4, "base": 4, "finest": 32, "table": 8, "width": 4, "depth": 1}
    filtered = build("al-grid", in_dim=2, out_dim=1, samples=(20, 16), **sizes).encoding
    plain = build("hash-grid", in_dim=2, out_dim=1, samples=(20, 16), **sizes).encoding
    assert isinstance(filtered, FilteredGrid)
    assert filtered.layout == plain.layout  # type: ignore[union-attr]
    assert filtered.out_dim == plain.out_dim


@pytest.mark.parametrize(
    ("in_dim", "samples", "expected"),
    [(2, (512, 64), (128, 16)), (1, (4000,), (250,)), (2, None, (128, 128)), (3, (100, 100, 100), (12, 12, 12))],
)
def test_nodes_of_alpha_follow_the_samples(in_dim: int, samples: Any, expected: tuple[int, ...]) -> None:
    sizes = {"levels": 2, "base": 2, "finest": 4, "table": 4, "width": 4}
    encoding: Any = build("al-grid", in_dim=in_dim, out_dim=1, samples=samples, **sizes).encoding
    assert tuple(encoding.alpha.values.shape[:-1]) == expected


def test_a_finite_band_is_learned() -> None:
    """Without a compiled step: the table, α and the network all move, and the error falls."""
    sizes = {"levels": 3, "base": 2, "finest": 7, "table": 6, "width": 8, "depth": 1, "grid": 3}
    field = build("al-grid", in_dim=2, out_dim=3, preset="default", samples=(8, 8), bandwidth=2.0, **sizes)
    assert field.compiled() is None
    before = {name: values.detach().clone() for name, values in field.named_parameters()}
    pixels = np.random.default_rng(0).integers(0, 256, (8, 8, 3), np.uint8)
    history = fit(field, ImageTask(GridSignal(pixels)), steps=60).history
    assert history[-1]["psnr"] > history[0]["psnr"] + 3
    assert not [name for name, values in field.named_parameters() if torch.equal(values, before[name])]


@pytest.mark.parametrize("kind", ["audio", "volume", "video", "lightfield"])
@pytest.mark.parametrize("preset", ["default", "reconstruct"])
def test_other_signals_have_the_grid_of_hash_grid_and_an_alpha_that_does_not_fade(kind: str, preset: str) -> None:
    ours, plain = METHODS["al-grid"].presets[f"{preset}-{kind}"], METHODS["hash-grid"].presets[f"default-{kind}"]
    assert {**plain.options, "rate": 0.25} == ours.options
    assert ours.adapt is plain.adapt
    assert ours.training["filter_loss"] == "log"
    assert ours.training["settle"] < 1
    assert ours.training.get("fill", 0.0) == (1.0 if preset == "reconstruct" else 0.0)


def test_a_pace_of_zero_is_refused() -> None:
    with pytest.raises(UserError, match="al-grid option 'rate' must be between 1e-06 and 1000, got 0"):
        build("al-grid", in_dim=2, out_dim=1, rate=0.0)
