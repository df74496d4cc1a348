"""The figure of kernels: with and without its baseline."""

from __future__ import annotations

import pytest

from alfilter.report.figures.ntk import COLOURS, _colours, ntk_figure
from alfilter.report.page.document import png_size


@pytest.mark.parametrize("baseline", ["siren", "none"])
def test_three_panels(baseline: str) -> None:
    spectra = {"siren": [1.0, 0.5, 0.0], "al-sine": [1.0, 0.7, 1e-20]}
    octaves = {name: [0.5, 0.3, 0.2] for name in spectra}
    width, height = png_size(ntk_figure(spectra, octaves, baseline))
    assert width > 3 * height


def test_colours_repeat_after_the_last() -> None:
    assert len(set(COLOURS)) == len(COLOURS)
    assert _colours(len(COLOURS) + 2)[-2:] == list(COLOURS[:2])
