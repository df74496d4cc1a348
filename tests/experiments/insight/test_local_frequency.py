"""Local frequency on a learned grid: one fit of a made picture, and what is declared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from alfilter.experiments.fitting import check_run
from alfilter.experiments.insight.local_frequency import changes, execute, runs, summarise
from alfilter.experiments.study import Run


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


def test_without_a_filter_there_is_no_cut_off(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((16, 16, 3), np.uint8)).save(tmp_path / "a.png")
    line = execute(Run("row", "a.png", "hash-grid", training={"steps": 2, "batch": 64}), str(tmp_path))
    assert "rho" not in line["metrics"]
    assert "Greatest" not in summarise([line])
