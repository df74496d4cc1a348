"""Every method on the same pictures: which runs there are, and what the table says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.experiments.compare import equal_terms
from alfilter.experiments.compare.equal_terms import IMAGES, PARAMS, declare, summarise
from alfilter.experiments.fitting import execute
from alfilter.experiments.study import Run
from alfilter.experiments.tuning.methods import IMAGE, SEARCHES
from alfilter.methods import sized
from alfilter.signals import write_image


def test_every_method_on_every_picture() -> None:
    runs = declare()
    assert {(run.method, run.image, run.observe) for run in runs} == {
        (name, image, observe) for name in SEARCHES for image in IMAGES for observe in ("every:2", "all")
    }
    assert IMAGE not in IMAGES  # settings were not found on what is shown
    assert {run.training["steps"] for run in runs} == {500}
    equal = declare(PARAMS)
    assert {run.observe for run in equal} == {"every:2"}
    assert {run.settings["params"] for run in equal} == {PARAMS}


@pytest.mark.parametrize("name", SEARCHES)
def test_every_method_can_have_the_number_of_parameters(name: str) -> None:
    options = dict(_of(declare(PARAMS), name).settings)
    shape = (equal_terms.SIZE, equal_terms.SIZE)
    sized(name, options.pop("params"), 2, 3, shape, preset="default", **options)  # an error otherwise


@pytest.mark.parametrize("params", [None, 30_000])
def test_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, params: int | None) -> None:
    (tmp_path / "div2k").mkdir()
    write_image(tmp_path / "div2k" / "00.png", np.random.default_rng(0).random((20, 20, 3)))
    monkeypatch.setattr(equal_terms, "SIZE", 16)
    monkeypatch.setattr(equal_terms, "STEPS", 2)
    line = execute(_of(declare(params), "siren"), str(tmp_path))
    assert line["heldout"]["psnr_between"] > 0
    assert params is None or abs(line["params"] - params) <= 0.05 * params
    text = summarise([line])
    assert "| siren | 1 |" in text
    assert "held out, dB" in text


def _of(runs: list[Run], method: str) -> Any:
    return next(run for run in runs if run.method == method)
