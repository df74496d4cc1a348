"""What the paper prints, and its place beside our numbers."""

from __future__ import annotations

import pytest
from tests.support.result_lines import fitting_lines

from alfilter.experiments.paper.printed import IMAGE_FITTING, SHAPES, TRAITS, beside, printed_for


def test_printed_values_are_the_papers() -> None:
    assert IMAGE_FITTING.values["al-sine"] == {"psnr": 46.27, "ssim": 0.9938, "lpips": 2.41e-3}
    assert SHAPES.values["al-sine"]["chamfer"] == pytest.approx(1.73e-6, abs=5e-9)
    assert [round(SHAPES.values[row]["iou"], 3) for row in ("pe-mlp", "siren", "bacon", "al-sine")] == [
        *(0.977, 0.980, 0.976, 0.983)
    ]
    assert TRAITS["finer"] == ("partial", "no", "partial")


def test_half_runs_have_printed_values_and_the_twin_of_shapes_has_none() -> None:
    assert printed_for("shapes-half") is printed_for("shapes-paper") is SHAPES
    assert printed_for("image-fitting-half") is IMAGE_FITTING
    assert printed_for("shapes") is None


def test_the_printed_value_stands_beside_ours() -> None:
    rows = beside(fitting_lines(), {"psnr": ("PSNR, dB", 2)}, IMAGE_FITTING).splitlines()
    assert rows[-1] == "| al-sine | 2 | 40.50 ± 0.71 | 46.27 |"
