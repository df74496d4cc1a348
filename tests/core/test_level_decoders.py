"""Decoders of levels: what each of them sees."""

from __future__ import annotations

import torch

from alfilter.core.level_decoders import level_inputs, level_values


def test_a_level_sees_the_coordinates_and_the_sum_up_to_it() -> None:
    features = torch.tensor([[9.0, 8.0, 1.0, 2.0, 10.0, 20.0, 100.0, 200.0]])
    rows = level_inputs(features, 2, 3)
    assert [row.tolist() for row in rows] == [[[9, 8, 1, 2]], [[9, 8, 11, 22]], [[9, 8, 111, 222]]]


def test_every_level_has_a_decoder_of_its_own() -> None:
    """relu(w (x + g)) + b with w = 1, 2 and b = 0, 5: x = 1, g = 2, 3."""
    decoders = [
        [(torch.tensor([[w, w]]), torch.zeros(1)), (torch.ones(1, 1), torch.tensor([b]))]
        for w, b in ((1.0, 0.0), (2.0, 5.0))
    ]
    assert level_values(torch.tensor([[1.0, 2.0, 3.0]]), 1, decoders).flatten().tolist() == [3.0, 17.0]
