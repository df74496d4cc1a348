"""The facts of a kernel, and two of them compared by hand."""

from __future__ import annotations

import pytest
import torch

from alfilter.analysis.ntk_facts import OCTAVES, kernel_facts, retention_by_range
from alfilter.methods import build


def test_facts_as_numbers() -> None:
    facts = kernel_facts(build("siren", in_dim=2, out_dim=1, width=8, depth=1), points=16)
    numbers = facts.numbers()
    assert len(numbers["spectrum"]) == 16
    assert numbers["spectrum"][0] == 1.0
    assert len(numbers["octaves"]) == OCTAVES
    assert -1 <= numbers["frequency_order"] <= 1


def test_a_spectrum_retains_itself() -> None:
    values = 0.9 ** torch.arange(64).double()
    assert list(retention_by_range(values, values).values()) == pytest.approx([1.0] * 4)


def test_where_the_baseline_is_noise_there_is_no_ratio() -> None:
    steep = torch.tensor([1.0] * 32 + [0.0] * 32).double()
    assert retention_by_range(torch.ones(64).double(), steep)["tail"] is None
