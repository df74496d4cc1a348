"""The paper's figure of sparse pictures, tiny."""

from __future__ import annotations

from pathlib import Path

from tests.support.result_lines import line, scene

from alfilter.experiments import Run, Study, run_study
from alfilter.experiments.paper import sparse as gaps
from alfilter.methods import preset
from alfilter.report.figures import paper as figures
from alfilter.report.figures.registry import write_figure
from alfilter.signals import write_image

TINY = {"width": 8, "depth": 1, "levels": 2}


def test_a_tiny_picture_with_gaps(tmp_path: Path) -> None:
    write_image(tmp_path / "a.png", scene())
    rows = [
        Run(gaps.PAPER, "a.png", "al-sine", "paper", 20, "random:0.35", 0, TINY, {"steps": 2, "tv": 1e-3}),
        Run(gaps.LINEAR, "a.png", method=gaps.LINEAR, size=20, observe="random:0.35"),
    ]
    study = Study("sparse", lambda: rows, gaps.summarise, gaps.execute)
    lines = run_study(study, str(tmp_path), str(tmp_path), 1, lambda text: None)
    assert "observed" in lines[0]["pictures"]
    assert lines[1]["heldout"]["psnr"] > 15
    assert "alpha" not in lines[1]
    path = write_figure("sparse", "sparse", lines, tmp_path)
    assert path is not None
    assert path.name == "sparse.png"
    assert path.stat().st_size > 1000


def test_the_figure_draws_rows_of_the_study() -> None:
    assert (figures.PAPER_START, figures.LOW_START) == (gaps.PAPER, gaps.LOW)


def test_settings_whose_alpha_stayed_are_named() -> None:
    metrics = {"ssim": 0.5, "structure": 0.8}
    images, observe = ("div2k/00.png", "div2k/03.png"), "random:0.05"
    moved = [line(gaps.LOW, image, observe=observe, metrics=metrics, alpha=True) for image in images]
    mixed = [line(gaps.PAPER, image, observe=observe, metrics=metrics, alpha=True) for image in images]
    mixed[0]["alpha"]["structure"] = None
    plain = [line(gaps.LINEAR, images[0], observe=observe, metrics=metrics)]
    assert gaps.summarise([*plain, *moved, *mixed]).endswith(f"\n\nα did not move in: {gaps.PAPER} (5% seen, 1 of 2).")
    assert "did not move" not in gaps.summarise([*plain, *moved])


def test_the_study_and_the_preset_have_one_reading_of_the_papers_weight() -> None:
    assert preset("al-sine", "paper").sparse == preset("al-relu", "paper").sparse == {"tv": gaps.PRINTED}
