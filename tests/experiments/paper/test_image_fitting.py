"""The paper's image fitting, tiny: from its declaration to its figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.result_lines import scene

from alfilter.experiments import Run, run_study
from alfilter.experiments.paper import image_fitting as fitting
from alfilter.methods import build, training
from alfilter.report.figures.registry import write_figure
from alfilter.signals import write_image

TINY = {"width": 8, "depth": 1, "levels": 2}


def test_a_tiny_twin_from_declaration_to_figure(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", scene())
    rows = [
        Run(row, "a.png", method, "paper", size=20, settings=TINY, training={"steps": 3})
        for row, method in (("al-sine", "al-sine"), ("pe-mlp", "pe-mlp"))
    ]
    study = replace(fitting.STUDY, runs=lambda: rows)
    lines = run_study(study, str(tmp_path), str(tmp_path), 1, lambda text: None)
    assert [len(each["curve"]) for each in lines] == [3, 3]
    assert set(lines[0]["pictures"]) == {"reference", "reconstruction", "alpha"}
    assert lines[0]["alpha"]["channels"] == 8
    assert "| al-sine | 1 |" in study.summarise(lines)
    for item in ("convergence", "crops", "alpha-maps"):
        path = write_figure(item, study.name, lines, tmp_path)
        assert path is not None
        assert path.name == f"image-fitting-figure-{item}.png"
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_first_steps_are_those_of_the_full_protocol() -> None:
    declared = fitting.first_runs()
    wanted = {(row, image) for row in fitting.METHODS for image in fitting.FIRST_IMAGES}
    assert {(run.group, run.image) for run in declared} == wanted
    assert len({run.name for run in declared}) == len(declared)
    assert {(run.size, run.preset) for run in declared} == {(None, "paper")}
    assert (fitting.FIRST_STEPS.name, fitting.FIRST_STEPS.full) == ("first-steps", None)
    assert training("al-sine", "paper").every > fitting.FIRST, "rates do not fall within them"


def test_half_scale_halves_all_that_counts_samples() -> None:
    declared = fitting.half_runs(fitting.ALL_IMAGES)
    assert {run.image for run in declared} == {f"div2k/0{k}.png#crop" for k in range(4)}
    assert {(run.size, run.preset, run.settings["width"]) for run in declared} == {(256, "paper", 128)}
    assert not any(run.training for run in declared), "steps, rates and schedule stay"
    changed = {run.group: {k: v for k, v in run.settings.items() if k != "width"} for run in declared}
    assert changed == {
        "pe-mlp": {"levels": 7},
        "siren": {"omega": 15.0},
        "mfn": {"scale": 128.0},
        "diner": {},
        "al-relu": {"levels": 7, "bandwidth": 17.5},
        "al-sine": {"levels": 7, "bandwidth": 17.5},
        fitting.UNFILTERED: {"levels": 7, "bandwidth": 1e4, "grid": 2},
    }
    full = {
        method: build(method, in_dim=2, out_dim=3, preset="paper").spec["options"]
        for method in ("siren", "mfn-gabor", "al-sine")
    }
    assert full["siren"]["omega"] == 30.0
    assert full["mfn-gabor"]["scale"] == 256.0
    assert (full["al-sine"]["levels"], full["al-sine"]["bandwidth"], full["al-sine"]["width"]) == (8, 20.0, 256)
