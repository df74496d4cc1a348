"""The study between the samples: its interpolators, its runs, its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import picture

from alfilter.experiments import STUDIES
from alfilter.experiments.compare.between import (
    BEST,
    IMAGES,
    SEARCHED,
    execute,
    large,
    runs,
    search,
    summarise,
    terrain,
)
from alfilter.experiments.compare.interpolators import PIXELS, POINTS, bicubic
from alfilter.experiments.study import Run
from alfilter.signals import read_image


def every_other(shape: tuple[int, int]) -> np.ndarray:
    seen = np.zeros(shape, bool)
    seen[::2, ::2] = True
    return seen


def test_bicubic_by_hand_and_against_pillows_kernel() -> None:
    row = np.array([0.0, 0, 0, 0, 1, 0, 0, 0, 0])
    made = bicubic(np.tile(row, (9, 1))[..., None], every_other((9, 9)))[0, :, 0]
    assert made[[3, 4, 5]].tolist() == [9 / 16, 1, 9 / 16]
    assert made[[1, 7]].tolist() == [-1 / 16, -1 / 16]
    with pytest.raises(ValueError, match="every:2"):
        bicubic(np.zeros((4, 4, 1)), np.ones((4, 4), bool))


@pytest.mark.parametrize("name", list(PIXELS))
def test_interpolators_keep_what_is_seen_and_follow_a_ramp(name: str) -> None:
    rows, columns = np.indices((17, 17)) / 16
    ramp = np.stack([rows, 0.5 * columns + 0.25], axis=-1)
    seen = every_other((17, 17))
    filled = PIXELS[name](ramp, seen)
    np.testing.assert_allclose(filled[seen], ramp[seen], atol=1e-6)
    np.testing.assert_allclose(filled[4:-4, 4:-4], ramp[4:-4, 4:-4], atol=0.01)


@pytest.mark.parametrize("name", list(POINTS))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_interpolators_of_points_follow_a_plane(name: str) -> None:
    rng = np.random.default_rng(0)
    places, queries = rng.random((120, 2)) * [4, 90], (rng.random((20, 2)) * 0.6 + 0.2) * [4, 90]
    plane = lambda at: (at @ [[2.0], [0.1]]) + 3  # noqa: E731
    np.testing.assert_allclose(POINTS[name](places, plane(places), queries), plane(queries), atol=0.1)


def test_the_terrain_ships_with_matplotlib() -> None:
    signal = terrain()
    assert len(signal) == 344 * 403
    assert (signal.value_names, signal.merged) == (["elevation"], 0)


def test_runs_are_named_once_and_the_search_keeps_off_the_tables_pictures() -> None:
    names = [run.name for run in [*runs(), *large(), *search()]]
    assert len(set(names)) == len(names)
    assert not set(IMAGES) & set(SEARCHED)
    counts = {name: sum(run.method == name for run in search()) for name in BEST}
    ours = counts.pop("al-sine")
    assert len(set(counts.values())) == 1, "the others have as many settings as each other"
    assert ours <= min(counts.values()), "and none has fewer than ours"
    assert {"between", "between-large", "between-search"} <= set(STUDIES)


def test_a_small_trial_of_each_kind(tmp_path: Path) -> None:
    picture(tmp_path / "p.png", 16, 16)
    assert read_image(tmp_path / "p.png").shape == (16, 16)
    tiny = {"width": 8, "depth": 1}
    base = Run(
        "al-sine", "p.png", preset="reconstruct", size=16, observe="every:2", settings=tiny, training={"steps": 3}
    )
    siren = replace(base, group="siren", method="siren", preset="paper")
    simple = [Run(name, "p.png", method=name, size=16, observe="every:2") for name in PIXELS]
    lines = [execute(run, str(tmp_path)) for run in (base, siren, *simple)]
    assert {line["group"] for line in lines} == {"al-sine", "siren", *PIXELS}
    assert all(line["heldout"]["psnr_between"] > 5 for line in lines)
    text = summarise(lines)
    assert "every:2 between, dB" in text
    assert "| bicubic |" in text
