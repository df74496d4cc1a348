"""The contract of a start: from its own seed, and from nothing else."""

from __future__ import annotations

import pytest
from tests.support.encodings import Sound
from torch import nn

from alfilter.methods import Field, build
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


def test_presets_and_options_of_a_sound_method() -> None:
    check_presets("siren")
    check_unknown_option("siren")
