"""A minute of every method: what is declared, and one run of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from alfilter.experiments.compare.minute import (
    GRIDS,
    SECONDS,
    SIZES,
    equal,
    headline,
    minute,
    summarise,
    summarise_minute,
)
from alfilter.experiments.fitting import check_run, execute
from alfilter.experiments.study import Run
from alfilter.methods import METHODS, build, parameter_count


def test_every_method_has_every_length_on_every_picture() -> None:
    rows = minute()
    assert len(rows) == len(METHODS) * len(SECONDS) * 8
    assert {row.method for row in rows} == set(METHODS)
    assert all(row.preset == "default" and row.training["clock"] == "cpu" for row in rows)
    for row in (*rows, *headline(), *equal()):
        check_run(row)


def test_equal_sizes_are_equal() -> None:
    """To 5 %, as `--params` has it; the filter's own grid counts."""
    for row in equal()[: len(SIZES) * len(GRIDS)]:
        field = build(row.method, in_dim=2, out_dim=3, preset="default", samples=(512, 512), **row.settings)
        params = int(row.group.split(", ")[1].split(" ")[0].replace(",", ""))
        assert abs(parameter_count(field) / params - 1) <= 0.05, (row.group, parameter_count(field))


def test_a_run(tmp_path: Path) -> None:
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)).save(tmp_path / "a.png")
    line = execute(Run("al-grid, 1 s", "a.png", "al-grid", training={"steps": 5}), str(tmp_path))
    assert "| al-grid, 1 s | 1 |" in summarise([line])


def test_the_best_after_a_minute_comes_first() -> None:
    values = {("siren", 10): 20.0, ("siren", 60): 31.0, ("octree", 10): 28.0, ("octree", 60): 29.0}
    lines = [
        {"group": name, "image": "a.png", "training": {"budget": float(seconds)}, "metrics": {"psnr": psnr},
         "steps": 100 * seconds, "params": 5000}
        for (name, seconds), psnr in values.items()
    ]  # fmt: skip
    rows = summarise_minute(lines).splitlines()[2:]
    assert rows == [
        "| siren | 2 | 20.00 | – | 31.00 | 5,000 |",
        "| octree | 2 | 28.00 | – | 29.00 | 5,000 |",
    ]
    unfinished = summarise_minute(lines[:3]).splitlines()[2:]
    assert [row.split(" | ")[0] for row in unfinished] == ["| octree", "| siren"]
