"""Figures of the studies from lines that were made without training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from alfilter.report.figures import studies
from alfilter.report.page.document import png_size


def responses() -> list[dict[str, Any]]:
    scales = {"alpha": [0.0, 1.0, 2.0], "response": [[0.1, 0.5, 0.1]] * 3}
    return [{"group": "B 20", "curves": {"0": [1.0, 0.5], "8": [0.2, 0.1]}, "scales": scales}]


def spectra() -> list[dict[str, Any]]:
    return [
        {"group": f"{name}, {stage}", "spectra": {"both": [1.0, 0.5, 0.0]}, "octaves": [0.6, 0.4]}
        for name in ("pe-mlp", "al-relu")
        for stage in ("start", "fitted")
    ]


def kernels() -> list[dict[str, Any]]:
    metrics = {"overlap": 0.9, "overlap_channels": 0.8, "overlap_unfiltered": 0.5}
    return [
        {"group": f"{method}, α constant", "method": method, "points": [[0.5, 0.4], [1.0, 1.1]], "metrics": metrics}
        for method in ("al-relu", "al-sine")
    ]


def meanings() -> list[dict[str, Any]]:
    metrics = {"gradient": 0.5, "p_gradient": 0.01, "centroid": -0.2, "p_centroid": 0.4}
    maps = {"picture": np.eye(4).tolist(), "alpha": np.ones((4, 4)).tolist()}
    return [{"group": group, "metrics": metrics, "maps": maps} for group in ("start 0", "start 16")]


def costs() -> list[dict[str, Any]]:
    return [
        {"method": "siren", "settings": {"vary": vary}, "sizes": {label: size}, "metrics": {"training": t, "memory": t}}
        for vary, label in (("N", "N"), ("width", "W"))
        for size, t in ((10, 1.0), (20, 2.0))
    ]


@pytest.mark.parametrize(
    ("draw", "lines"),
    [
        (studies.responses_figure, responses()),
        (studies.ntk_figure, spectra()),
        (studies.kernel_figure, kernels()),
        (studies.meaning_figure, meanings()),
        (studies.complexity_figure, costs()),
    ],
    ids=["responses", "ntk", "kernel", "meaning", "complexity"],
)
def test_every_figure_is_drawn(draw: Any, lines: list[dict[str, Any]]) -> None:
    assert min(png_size(draw(lines))) > 200


def test_the_mean_of_spectra_is_geometric_and_zeros_are_noise() -> None:
    lines = [{"group": "a", "spectra": {"both": values}} for values in ([1.0, 0.04], [1.0, 0.01], [1.0, 0.0])]
    mean = studies._mean_spectrum(lines[:2], "a")
    assert mean.tolist() == pytest.approx([1.0, 0.02])
    assert studies._mean_spectrum(lines[2:], "a")[1] == pytest.approx(1e-12)
