"""The rows of METHODS: each keeps the contract, counts as its formula says, and refuses what it cannot take."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support import grid_methods as grids

import alfilter
from alfilter.config import Training
from alfilter.errors import UserError
from alfilter.methods import METHODS, method, parameter_count, preset, training
from alfilter.testing import check_method

# B = 4 puts both edges of a band that starts at C_N/2 on channels, where the sigmoid's slope is easiest to get wrong
SMALL: dict[str, dict[str, Any]] = {
    "al-sine": {"width": 8, "depth": 2, "levels": 3, "bandwidth": 4.0, "omega": 5.0},
    "al-relu": {"width": 8, "depth": 2, "levels": 3, "bandwidth": 4.0},
    "pe-mlp": {"width": 8, "depth": 2, "levels": 3},
    "fourier-features": {"width": 8, "depth": 2, "features": 6, "sigma": 2.0},
    "siren": {"width": 8, "depth": 2, "omega": 10.0},
    "gauss": {"width": 8, "depth": 2, "sigma": 0.5},
    "wire": {"width": 8, "depth": 2, "omega": 3.0, "scale": 2.0},
    "hosc": {"width": 8, "depth": 2, "omega": 5.0, "beta": 2.0, "learn_beta": True},
    "sinc": {"width": 8, "depth": 2, "omega": 5.0},
    "finer": {"width": 8, "depth": 2, "omega": 5.0, "detach": False},  # the source's gradient is not the derivative
    "mfn-fourier": {"width": 8, "depth": 2, "scale": 6.0},
    "mfn-gabor": {"width": 8, "depth": 2, "scale": 6.0},
    "bacon": {"width": 8, "shares": (1, 2, 1), "resolution": 8},
    "poly-inr": {"width": 8, "levels": 3},
    **grids.SMALL,
}
PRESETS = [(name, which) for name, row in METHODS.items() for which in row.presets]


def mlp_count(inputs: int, outputs: int, width: int, depth: int) -> int:
    return (inputs + 1) * width + (depth - 1) * (width + 1) * width + (width + 1) * outputs


@pytest.mark.parametrize("name", METHODS)
def test_contract(name: str) -> None:
    check_method(name, **SMALL[name])


@pytest.mark.parametrize(("name", "which"), PRESETS)
def test_contract_with_a_presets_options(name: str, which: str) -> None:
    if preset(name, which).options:
        check_method(name, **{**SMALL[name], **preset(name, which).options})


@pytest.mark.parametrize(("name", "which"), PRESETS)
def test_presets_build_and_have_a_training(name: str, which: str) -> None:
    field = alfilter.build(name, in_dim=2, out_dim=3, preset=which, samples=(8, 6))
    assert field(torch.zeros(2, 2)).shape == (2, 3)
    assert field.spec["preset"] == which
    assert isinstance(training(name, which, steps=7), Training)
    assert training(name, which, steps=7).steps == 7


def test_a_model_file_remembers_its_preset(tmp_path: Path) -> None:
    """A further fit of a loaded field follows the recipe it was built with."""
    field = alfilter.build("siren", in_dim=2, out_dim=3, preset="default", samples=(8, 6), width=4)
    alfilter.save(field, tmp_path / "model.safetensors")
    assert alfilter.load(tmp_path / "model.safetensors").spec == field.spec


@pytest.mark.parametrize("name", METHODS)
def test_every_option_is_documented_and_has_the_sources_value(name: str) -> None:
    options = METHODS[name].options
    assert all(f.metadata["doc"] for f in fields(options))
    assert "default" in METHODS[name].presets
    # a model file without the word has its samples at the ends, so that is the option's default and not the paper's
    own = {"placement": "unit"} if any(f.name == "placement" for f in fields(options)) else {}
    if name != "al-grid":  # has no source but this package
        assert METHODS[name].presets["paper"].options == own, "the options' own defaults are the source's values"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("al-sine", 8 * 6 + mlp_count(12, 3, 8, 2)),
        ("al-relu", 8 * 6 + mlp_count(12, 3, 8, 2)),
        ("pe-mlp", mlp_count(12, 3, 8, 2)),
        ("fourier-features", mlp_count(12, 3, 8, 2)),
        ("siren", mlp_count(2, 3, 8, 2)),
        ("gauss", mlp_count(2, 3, 8, 2)),
        ("wire", (2 + 1) * 5 + 2 * (5 + 1) * 5 + 2 * 5 * 3 + 3),  # int(8/√2) = 5 complex neurons
        ("hosc", mlp_count(2, 3, 8, 2) + 2),  # a β for each hidden layer
        ("sinc", mlp_count(2, 3, 8, 2)),
        ("finer", mlp_count(2, 3, 8, 2)),
        ("mfn-fourier", 3 * (2 + 1) * 8 + 2 * (8 + 1) * 8 + (8 + 1) * 3),
        ("mfn-gabor", 3 * (2 + 1 + 2 + 1) * 8 + 2 * (8 + 1) * 8 + (8 + 1) * 3),
        ("bacon", 3 * 8 + 2 * (8 + 1) * 8 + 2 * (8 + 1) * 3),  # frequencies are frozen
        ("poly-inr", 3 * (2 + 1) * 8 + 3 * (8 + 1) * 8 + (8 + 1) * 3),
        *grids.COUNTS.items(),
    ],
)
def test_parameter_count_is_a_formula(name: str, expected: int) -> None:
    assert set(SMALL) == set(METHODS)
    assert parameter_count(alfilter.build(name, in_dim=2, out_dim=3, samples=(8, 6), **SMALL[name])) == expected


def test_parameter_count_of_the_papers_image_setting() -> None:
    """512² α grid, C_N = 32, three layers of 256, three colours."""
    field = alfilter.build("al-sine", in_dim=2, out_dim=3)
    assert parameter_count(field) == 512 * 512 + mlp_count(32, 3, 256, 3)


# ── the field ────────────────────────────────────────────────────────────────────────────────────────────────────────


# ── the α grid's size ────────────────────────────────────────────────────────────────────────────────────────────────


# ── what is refused, and how ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"level": 4}, "al-sine has no option 'level'; did you mean 'levels'?"),
        ({"zzzz": 4}, "al-sine has no option 'zzzz'; known: bandwidth, bounded, coordinates, depth, gain, grid"),
        ({"levels": 0}, "al-sine option 'levels' must be between 1 and 20, got 0"),
        ({"levels": 2.0}, "al-sine option 'levels' must be a whole number, got 2.0 (float)"),
        ({"levels": True}, "al-sine option 'levels' must be a whole number, got True (bool)"),
        ({"levels": "8"}, "al-sine option 'levels' must be a whole number, got '8' (str)"),
        ({"levels": None}, "al-sine option 'levels' must be a whole number, got None (NoneType)"),
        ({"kappa": float("nan")}, "al-sine option 'kappa' must be a finite number, got nan"),
        ({"kappa": -1}, "al-sine option 'kappa' must be between 0.001 and 1000, got -1.0"),
        ({"unit": "channels"}, "al-sine option 'unit' must be one of channel, axis, got 'channels'"),
        ({"coordinates": 1}, "al-sine option 'coordinates' must be true or false, got 1 (int)"),
        ({"grid": (8, 0)}, "al-sine option 'grid' must be between 1 and 4096, got 0"),
        ({"grid": (8, 8, 8)}, "option 'grid' needs 2 sizes for 2 coordinates, got 3; give one per axis"),
        ({"grid": "8x8"}, "al-sine option 'grid' must be a whole number or sizes like 64x64 or none, got '8x8' (str)"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError) as error:
        alfilter.build("al-sine", in_dim=2, out_dim=3, **options)
    assert text in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", METHODS)
def test_every_bound_of_every_option_is_kept(name: str) -> None:
    for f in fields(METHODS[name].options):
        low, high = f.metadata["low"], f.metadata["high"]
        for limit, outside in ((low, low - 1 if low is not None else None), (high, high * 2 if high else None)):
            if limit is not None:
                changed: dict[str, Any] = {f.name: outside}
                with pytest.raises(UserError, match=f"option '{f.name}' must be"):
                    alfilter.build(name, in_dim=1, out_dim=1, **changed)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"in_dim": 0}, "in_dim must be a whole number from 1 to 32, got 0"),
        ({"out_dim": 1.5}, "out_dim must be a whole number from 1 to 65536, got 1.5"),
        ({"in_dim": True}, "in_dim must be a whole number from 1 to 32, got True"),
        ({"samples": (4,)}, "samples must name 2 sizes of at least 1 for 2 coordinates, got (4,)"),
        ({"samples": (4, 0)}, "samples must name 2 sizes of at least 1 for 2 coordinates, got (4, 0)"),
        ({"preset": "papr"}, "siren has no preset 'papr'; did you mean 'paper'?"),
    ],
)
def test_wrong_sizes_are_explained(arguments: dict[str, Any], text: str) -> None:
    sizes: dict[str, Any] = {"in_dim": 2, "out_dim": 1, **arguments}
    with pytest.raises(UserError) as error:
        alfilter.build("siren", **sizes)
    assert str(error.value) == text


def test_an_unknown_method_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="there is no method 'sirene'; did you mean 'siren'"):
        method("sirene")
    with pytest.raises(UserError, match="there is no method"):
        alfilter.build("sirene", in_dim=1, out_dim=1)


def test_an_unknown_training_setting_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="training has no option 'step'; did you mean 'steps'"):
        training("siren", step=3)
