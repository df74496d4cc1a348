"""Encodings as rows of a page's table: followed in NumPy they give torch's features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import alfilter as al
from alfilter.core import dyadic_encoding, random_features
from alfilter.errors import UserError
from alfilter.export.page import page_text
from alfilter.export.program import program_of
from alfilter.methods import Field

FACTS = {"kind": "image", "shape": [6, 8], "channels": 3, "mode": "RGB", "bits": 8, "low": 0, "high": 255}


def small(method: str, out_dim: int = 3, **options: Any) -> Field:
    field = al.build(method, in_dim=2, out_dim=out_dim, samples=(6, 8), **options)
    field.signal = {**FACTS, "channels": out_dim}
    return field.eval()


def features(field: Field, x: torch.Tensor) -> Any:
    """The table's features in NumPy, without any filter."""
    program = program_of(field)
    first, count = program.steps["table"]
    rows = program.numbers[first : first + count].reshape(-1, 8).astype(np.float64)
    turns = x.numpy().astype(np.float64) @ rows[:, : x.shape[1]].T
    kinds = np.stack((turns, np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)))
    return np.take_along_axis(kinds, rows[None, None, :, 4].astype(int), 0)[0], rows[:, 5]


def test_the_table_is_the_encoding() -> None:
    x = torch.rand(20, 2) * 2 - 1
    result, places = features(small("pe-mlp", levels=4), x)
    assert np.allclose(result, dyadic_encoding(x.double(), 4).numpy(), atol=1e-6)
    assert (places == -1).all()
    centred = small("pe-mlp", levels=4, placement="centres")
    inside = x.double() * torch.tensor([5 / 6, 7 / 8], dtype=torch.float64)
    assert np.allclose(features(centred, x)[0], dyadic_encoding(inside, 4).numpy(), atol=1e-6)
    with pytest.raises(UserError, match="a page has no phases"):
        features(small("pe-mlp", placement="unit"), x)
    field = small("fourier-features", features=7)
    result, _ = features(field, x)
    assert np.allclose(result, random_features(x.double(), field.encoding.frequencies.double()).numpy(), atol=1e-5)  # type: ignore[operator,union-attr]
    result, places = features(small("al-sine", levels=3, coordinates=True), x)
    assert places.tolist() == [-1, -1, *range(12)]
    assert np.allclose(result[:, :2], x.numpy())


def test_a_table_without_places_between_has_no_page() -> None:
    with pytest.raises(UserError, match="fit it with between=linear"):
        page_text(small("diner", between="refuse"), "t")
