"""Local frequency on a learned grid: one fit of a made picture, and what is declared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from alfilter.evaluate import sample_grid
from alfilter.experiments.fitting import check_run
from alfilter.experiments.insight.local_frequency import changes, execute, pixel_means, runs, summarise
from alfilter.experiments.study import Run
from alfilter.tasks.pyramid import area_mean


def test_every_run_can_be_carried_out() -> None:
    for run in (*runs(), *changes()):
        check_run(run)
    assert len({run.name for run in (*runs(), *changes())}) == 16 * 3 + 2 * 33


def test_the_cut_off_follows_detail(tmp_path: Path) -> None:
    """Half of the picture is noise, half is flat: there α falls, and the correlation shows it."""
    values = np.full((64, 64, 3), 128, np.uint8)
    values[:, :32] = np.random.default_rng(0).integers(0, 256, (64, 32, 3))
    Image.fromarray(values).save(tmp_path / "a.png")
    run = Run("row", "a.png", "al-grid", settings={"rate": 1.0}, training={"steps": 150, "batch": 1024})
    line = execute(run, str(tmp_path))
    assert line["metrics"]["rho"] > 0.5
    assert {"psnr", "psnr_2", "psnr_4", "psnr_8", "p"} <= set(line["metrics"])
    assert all(line["metrics"][f"mean_{share}"] > line["metrics"]["psnr"] for share in (2, 4, 8)), "errors average out"
    assert "Greatest p by shifts of 1 maps" in summarise([line])


@pytest.mark.parametrize("share", [2, 4, 8])
def test_pixels_of_odd_sizes_are_those_of_the_area_means(share: int) -> None:
    """Also where samples are left over: 13 and 31 have some at every level."""

    def field(x: torch.Tensor) -> torch.Tensor:
        return torch.sin(40 * x[..., :1]) + x[..., 1:] ** 2

    expected = sample_grid(field, (13, 31))
    for _ in range(share.bit_length() - 1):
        expected = area_mean(expected)
    torch.testing.assert_close(pixel_means(field, (13, 31), share), expected, atol=1e-5, rtol=0)


def test_without_a_filter_there_is_no_cut_off(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((16, 16, 3), np.uint8)).save(tmp_path / "a.png")
    line = execute(Run("row", "a.png", "hash-grid", training={"steps": 2, "batch": 64}), str(tmp_path))
    assert "rho" not in line["metrics"]
    assert "Greatest" not in summarise([line])
