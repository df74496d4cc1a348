"""The figure of a picture with gaps."""

from __future__ import annotations

import numpy as np
import pytest

from alfilter.report.figures.sparse import sparse_figure
from alfilter.report.page.document import png_size


@pytest.mark.parametrize(("channels", "with_alpha"), [(3, True), (1, False)])
def test_six_panels_or_five(channels: int, with_alpha: bool) -> None:
    truth = np.random.default_rng(0).random((8, 12, channels)).astype(np.float32)
    seen = np.zeros((8, 12), bool)
    seen[::2, ::2] = True
    alpha = np.linspace(0, 7, 96).reshape(8, 12) if with_alpha else None
    data = sparse_figure(truth, truth + 0.1, seen, alpha, {"seen": 20.0, "unseen": float("inf")})
    width, height = png_size(data)
    assert width > 1000
    assert height > 400
