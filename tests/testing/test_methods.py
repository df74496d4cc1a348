"""The contract of a start: from its own seed, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.support.encodings import Sound
from torch import nn

from alfilter.config import Density
from alfilter.methods import METHODS, Field, Preset, build, register
from alfilter.testing.methods import check_presets, check_seeds, check_trains, check_unknown_option


def test_a_start_from_the_global_numbers_is_noticed() -> None:
    with pytest.raises(AssertionError, match="draws from torch's global random numbers"):
        check_seeds(lambda seed: nn.Linear(2, 2))


def test_a_start_that_ignores_its_seed_is_noticed() -> None:
    with pytest.raises(AssertionError, match="starts the same for two seeds"):
        check_seeds(lambda seed: Sound())


def test_a_field_that_does_not_learn_is_noticed() -> None:
    def make() -> Field:
        return build("siren", in_dim=2, out_dim=3, width=4).requires_grad_(False)

    with pytest.raises((AssertionError, RuntimeError)):
        check_trains(make)


@pytest.fixture
def registered() -> Iterator[str]:
    """The name of a method that a test registers."""
    yield "my-sine"
    METHODS.unregister("my-sine")


@pytest.mark.parametrize(
    ("which", "preset", "message"),
    [
        ("default-audio", Preset({"grid": (4, 4)}), "option 'grid' needs 1 sizes for 1 coordinates, got 2"),
        ("default-lightfield", Preset({"grid": (4, 4)}), "option 'grid' needs 4 sizes for 4 coordinates, got 2"),
        ("reconstruct", Preset(adapt=lambda density: ({"levls": 3}, {})), "no option 'levls'"),
        ("default-volume", Preset(adapt=lambda density: ({}, {"stps": 3})), "no option 'stps'"),
        ("default-shape", Preset(adapt=lambda density: ({"levels": 100 * density.dims}, {})), "got 300"),
        ("small", Preset(adapt=lambda density: ({}, {"steps": 1 if density.gap < 2 else 0})), "got 0"),
    ],
)
def test_a_preset_that_cannot_be_used_is_noticed(which: str, preset: Preset, message: str, registered: str) -> None:
    register(registered, replace(METHODS["al-sine"], presets={"default": Preset(), which: preset}))
    with pytest.raises(AssertionError, match=f"preset '{which}' of my-sine cannot be used: .*{message}"):
        check_presets(registered)


def test_presets_follow_the_kind_that_they_are_for(registered: str) -> None:
    tried: set[int] = set()

    def adapt(density: Density) -> tuple[dict[str, int], dict[str, int]]:
        tried.add(density.dims)
        return {"levels": 2}, {}

    kinds = ("audio", "image", "volume", "lightfield")
    presets = {f"default-{kind}": Preset({"width": 8, "depth": 1}, adapt=adapt) for kind in kinds}
    register(registered, replace(METHODS["al-sine"], presets={"default": Preset(), **presets}))
    check_presets(registered)
    assert tried == {1, 2, 3, 4}


def test_presets_and_options_of_a_sound_method() -> None:
    check_presets("siren")
    check_unknown_option("siren")
