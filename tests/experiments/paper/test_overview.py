"""The overview of the method, tiny: every stage follows from the one before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.support.result_lines import scene

from alfilter.experiments.paper import overview
from alfilter.report.figures.registry import write_figure
from alfilter.signals import write_image


def test_stages_and_figure(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", scene())
    (run,) = overview.runs()
    small = {**run.settings, "width": 8, "depth": 1, "levels": 3, "bandwidth": 6.0, "grid": 4}
    line = overview.execute(replace(run, image="a.png", size=24, settings=small, training={"steps": 2}), str(tmp_path))
    (smooth, detailed) = (line["stages"][name] for name in overview.PLACES)
    assert smooth["place"][0] < 12 <= detailed["place"][0]  # the scene is smooth above and striped below
    assert len(smooth["gamma"]) == len(smooth["response"]) == 12
    first = np.argmax(np.array(smooth["response"]) > 0.5)
    assert abs(first - max(0, smooth["alpha"] - 3)) <= 1  # the band begins half its width below α
    assert "| al-sine | 1 |" in overview.summarise([line])
    path = write_figure("overview", "overview", [line], tmp_path)
    assert path is not None
    assert path.read_bytes().startswith(b"\x89PNG")
