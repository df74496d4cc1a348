"""PNG's row filters undone: each filter applied by the standard's words, then undone."""

from __future__ import annotations

import numpy as np
import pytest

kernels = pytest.importorskip("alfilter.kernels.png_filters", reason="needs numba")


def paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    distances = [abs(guess - left), abs(guess - up), abs(guess - corner)]
    return (left, up, corner)[distances.index(min(distances))]


def filtered(plain: np.ndarray, kinds: list[int], size: int) -> np.ndarray:
    """Rows as a PNG stores them: the filter's number, then every byte less its prediction."""
    lines = np.zeros((plain.shape[0], plain.shape[1] + 1), np.uint8)
    for r, kind in enumerate(kinds):
        lines[r, 0] = kind
        for i in range(plain.shape[1]):
            left = int(plain[r, i - size]) if i >= size else 0
            up = int(plain[r - 1, i]) if r else 0
            corner = int(plain[r - 1, i - size]) if r and i >= size else 0
            guess = (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]
            lines[r, i + 1] = (int(plain[r, i]) - guess) % 256
    return lines


@pytest.mark.parametrize("size", [1, 2, 6, 8])
def test_every_filter_is_undone(size: int) -> None:
    plain = np.random.default_rng(size).integers(0, 256, (10, 5 * size), dtype=np.uint8)
    lines, out = filtered(plain, [0, 1, 2, 3, 4] * 2, size), np.empty_like(plain)
    assert not kernels.unfilter(lines, out, size)
    assert np.array_equal(out, plain)


def test_an_unknown_filter_is_reported() -> None:
    assert kernels.unfilter(np.array([[5, 1, 2]], np.uint8), np.zeros((1, 2), np.uint8), 1)
