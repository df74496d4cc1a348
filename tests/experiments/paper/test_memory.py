"""Memory of the paper's method and of DINER, tiny."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.result_lines import scene

from alfilter.experiments import run_study
from alfilter.experiments.paper import memory
from alfilter.signals import write_image


def test_a_scalar_a_node_is_less_than_two_features(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", scene())
    small = {"width": 8, "depth": 1}
    rows = [replace(run, image="a.png", settings={**run.settings, **small}) for run in memory.runs()]
    study = replace(memory.STUDY, runs=lambda: rows)
    lines = run_study(study, str(tmp_path), str(tmp_path), 1, lambda text: None, threads=1)
    stored = {line["group"]: line["params"] for line in lines}
    assert stored["diner"] - stored["diner, one feature"] == 24 * 24 + 8  # a number a pixel, and its weights
    assert stored["al-sine"] - stored["pe-mlp"] == 24 * 24
    assert all(line["peak_memory"] > 0 for line in lines)
    assert "| al-sine | 1 |" in study.summarise(lines)
