"""Preset `source` is what it says: layer sizes, standard deviations of the start, size of the first output, recipe.

The numbers are those of the released codes: SIREN's and torch's uniform starts have the standard deviation bound/√3,
Glorot's √(2/(n+m)); Instant-NGP's network pads its outputs to 16.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from alfilter.methods import Density, build, parameter_count, training

TORCH2, TORCH64, TORCH256 = 0.408, 0.0722, 0.0361  # 1/√(3 n)
SIREN256 = math.sqrt(6 / 256) / 30 / math.sqrt(3)
SHAPES: dict[str, list[tuple[tuple[int, ...], float]]] = {
    "siren": [((256, 2), 0.289), *[((256, 256), SIREN256)] * 3, ((3, 256), SIREN256)],
    "gauss": [((256, 2), TORCH2), *[((256, 256), TORCH256)] * 7, ((3, 256), TORCH256)],
    "sinc": [((256, 2), TORCH2), *[((256, 256), TORCH256)] * 2, ((3, 256), TORCH256)],
    "fourier-features": [((256, 512), 0.051), *[((256, 256), 0.062)] * 2, ((3, 256), 0.087)],
    "wire": [((181, 2), TORCH2), ((2, 3, 181), 0.0429), *[((2, 181, 181), 0.0429)] * 2],
    "bacon": [((256, 256), 0.0884)] * 4 + [((3, 256), 0.0884)] * 4,
    "diner": [((64, 2), TORCH2), *[((64, 64), TORCH64)] * 2, ((3, 64), TORCH64)],
    "filter-bank": [((7, 128, 2), 141.0), ((128, 2), 0.289), *[((128, 128), 0.00125)] * 7,
                    ((64, 896), 0.0193), ((64, 64), TORCH64), ((3, 64), TORCH64)],
    "hash-grid": [((64, 32), 0.144), ((64, 64), 0.125), ((3, 64), 0.157)],
    "acorn": [((64, 16), 0.144), ((64, 64), TORCH64), ((3, 64), TORCH64)],
}  # fmt: skip
OUTPUTS = {"siren": 0.045, "gauss": 0.24, "sinc": 0.14, "fourier-features": 0.43, "wire": 0.11, "bacon": 1.0,
           "diner": 0.078, "filter-bank": 0.080, "hash-grid": 2e-5, "acorn": 0.11}  # fmt: skip
SEEDS = 16  # over which the first output is averaged: three numbers of a few random weights scatter
SCATTERED = ("siren", "gauss")  # the sources' numbers are those of one start, and theirs scatter most
RECIPES: dict[str, dict[str, Any]] = {
    "siren": {"lr": 1e-4, "schedule": "constant", "steps": 10_000},
    "gauss": {"lr": 5e-5, "steps": 250_000},
    "sinc": {"schedule": "constant"},
    "fourier-features": {"lr": 1e-3, "schedule": "constant", "steps": 2000},
    "wire": {"lr": 5e-3 / 4, "batch": 65536, "steps": 8000, "every": 4},  # 512²: four batches per epoch
    "bacon": {"lr": 5e-3, "schedule": "constant", "steps": 5001, "amsgrad": True},
    "diner": {"lr": 1e-4, "lr_encoding": 1e-4, "schedule": "constant", "steps": 10_000},
    "filter-bank": {"lr": 1e-4, "epsilon": 1e-15, "beta2": 0.99, "steps": 50_000, "every": 5000, "decay": 0.5,
                    "batch": 1 << 18, "clip": 1.0},
    "hash-grid": {"lr": 1e-2, "epsilon": 1e-15, "beta2": 0.99, "decay": 0.33, "every": 10_000, "batch": 1 << 18},
    "acorn": {"lr": 1e-3, "schedule": "constant", "steps": 100_300},
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_and_start(name: str) -> None:
    field = build(name, in_dim=2, out_dim=3, preset="source", samples=(512, 512))
    weights = [p.detach() for n, p in field.network.named_parameters() if p.dim() >= 2 and "biases" not in n]
    assert [tuple(w.shape) for w in weights] == [shape for shape, _ in SHAPES[name]]
    for weight, (shape, spread) in zip(weights, SHAPES[name], strict=True):
        assert weight.std().item() == pytest.approx(spread, rel=0.1 if math.prod(shape) < 1000 else 0.03)


@pytest.mark.parametrize("name", OUTPUTS)
def test_first_output(name: str) -> None:
    x = torch.rand(2000, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    powers = []
    for seed in range(SEEDS):
        field = build(name, in_dim=2, out_dim=3, preset="source", samples=(512, 512), seed=seed)
        with torch.no_grad():
            powers.append(field.network(field.encoding(x)).square().mean().item())
    size = math.sqrt(sum(powers) / SEEDS)
    assert size == pytest.approx(OUTPUTS[name], rel=0.3 if name in SCATTERED else 0.15)


@pytest.mark.parametrize("name", RECIPES)
def test_recipe(name: str) -> None:
    recipe = training(name, "source", Density(2, 512.0))
    assert {key: getattr(recipe, key) for key in RECIPES[name]} == pytest.approx(RECIPES[name])


@pytest.mark.parametrize("name", ["gauss", "wire"])
def test_rates_that_fall_to_a_tenth(name: str) -> None:
    recipe = training(name, "source", Density(2, 512.0))
    assert recipe.schedule == "step"
    assert recipe.decay ** (recipe.steps / recipe.every) == pytest.approx(0.1)


def test_rates_of_the_hash_grid_fall_within_its_steps() -> None:
    recipe = training("hash-grid", "source", Density(2, 512.0))
    assert recipe.steps == 30_000
    assert recipe.steps > 2 * recipe.every


def test_biases_of_fourier_features_start_around_zero() -> None:
    network = build("fourier-features", in_dim=2, out_dim=3, preset="source").network
    biases = [p.detach() for n, p in network.named_parameters() if "biases" in n]
    assert len(biases) == 4
    assert torch.cat([each.flatten() for each in biases]).std().item() == pytest.approx(0.01, rel=0.1)


def test_what_else_the_sources_say() -> None:
    assert parameter_count(build("siren", in_dim=2, out_dim=3, preset="source")) == 198_915
    assert build("sinc", in_dim=2, out_dim=3, preset="source").spec["options"]["omega"] == pytest.approx(94.2, abs=0.1)
    encoder = build("acorn", in_dim=2, out_dim=3, preset="source", samples=(512, 512)).encoding
    sizes = [tuple(p.shape) for n, p in encoder.named_parameters() if "weights" in n]
    assert sizes[1:-1] == [(256, 256)] * 4  # five layers
    grid = build("hash-grid", in_dim=2, out_dim=3, preset="source", samples=(64, 64)).network
    assert all(not p.any() for n, p in grid.named_parameters() if "biases" in n)
    small, large = (training("wire", "source", Density(2, side)) for side in (128.0, 1024.0))
    assert (small.steps, small.lr) == (2000, 5e-3)
    assert (large.steps, large.lr) == (32_000, pytest.approx(5e-3 / 16))
