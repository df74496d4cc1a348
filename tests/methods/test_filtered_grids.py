"""The filter on the levels of a learned grid: what its row builds."""

from __future__ import annotations

from typing import Any

import pytest

from alfilter.encodings import FilteredGrid
from alfilter.methods import build


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
