"""The paper's tables and figures at two scales."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.commands import complaint, picture

from alfilter.errors import UserError
from alfilter.experiments import STUDIES
from alfilter.experiments.data import MissingData
from alfilter.experiments.paper.image_fitting import full_runs
from alfilter.experiments.paper.scale import at_scale

PAPER = [name for name, study in STUDIES.declared.items() if study.paper]


def test_the_full_protocol_is_the_papers(tmp_path: Path) -> None:
    (tmp_path / "div2k").mkdir()
    for number in (0, 31):
        picture(tmp_path / "div2k" / f"{number:02d}.png")
    study = at_scale(STUDIES["image-fitting"], "paper", str(tmp_path))
    runs = study.runs_in(str(tmp_path))
    assert study.name == "image-fitting-paper"
    assert [run.image for run in runs[::6]] == ["div2k/00.png", "div2k/31.png"]  # those that are there
    assert all(
        (run.preset, run.size, dict(run.settings), dict(run.training)) == ("paper", None, {}, {}) for run in runs
    )
    assert len(full_runs()) == 32 * 6


def test_half_halves_everything_that_counts_samples(tmp_path: Path) -> None:
    (tmp_path / "div2k").mkdir()
    for number in range(6):
        picture(tmp_path / "div2k" / f"{number:02d}.png")
    study = at_scale(STUDIES["crops"], "half", str(tmp_path))
    runs = study.runs_in(str(tmp_path))
    assert (study.name, len(runs)) == ("image-fitting-half", 4 * 7)  # six methods, and al-sine without its filter
    own = {run.group: dict(run.settings) for run in runs[:7]}
    assert all((run.size, run.settings["width"], dict(run.training)) == (256, 128, {}) for run in runs)
    assert (own["siren"]["omega"], own["mfn"]["scale"], own["pe-mlp"]["levels"]) == (15, 128, 7)
    assert (own["al-sine"]["levels"], own["al-sine"]["bandwidth"]) == (7, 17.5)
    assert "omega" not in own["al-sine"]  # it multiplies channels, and there are as many


@pytest.mark.parametrize("name", PAPER)
def test_every_twin_says_what_it_shrinks(name: str) -> None:
    study = STUDIES[name]
    assert study.full is None or study.shrinks.startswith("shrinks")
    assert at_scale(study, "cpu", "nowhere").name == study.name
    assert study.full is None or study.needs


def test_mistakes_about_scale_and_data(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"lacks div2k/00\.png and 31 more files"):
        at_scale(STUDIES["crops"], "paper", str(tmp_path))
    with pytest.raises(UserError, match="methods has no scale paper; expected cpu"):
        at_scale(STUDIES["methods"], "paper", str(tmp_path))
    assert "wallclock has no scale paper" in complaint("experiment", "wallclock", "--scale", "paper")
