"""The study between the samples: its runs, its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.commands import picture

from alfilter.experiments import STUDIES
from alfilter.experiments.compare.between import (
    BEST,
    FILLING,
    IMAGES,
    SEARCHED,
    execute,
    large,
    runs,
    search,
    summarise,
    terrain,
)
from alfilter.experiments.compare.interpolators import PIXELS
from alfilter.experiments.study import Run
from alfilter.experiments.unfinished import kept_in
from alfilter.signals import read_image


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


def test_what_is_exact_has_no_decibels() -> None:
    scores = {"a field": 138.3, "an interpolator": float("inf"), "another": 330.0}
    lines = [
        {"group": group, "image": "p.png", "observe": "every:2", "metrics": {"psnr": psnr}, "heldout": None}
        for group, psnr in scores.items()
    ]
    cells = [row.strip(" |").split(" | ") for row in summarise(lines).splitlines()[2:]]
    seen = summarise(lines).splitlines()[0].strip(" |").split(" | ").index("every:2 seen, dB")
    assert {row[0]: row[seen] for row in cells} == {"a field": "138.30", "an interpolator": "–", "another": "–"}


def test_a_small_trial_of_each_kind(tmp_path: Path) -> None:
    picture(tmp_path / "p.png", 16, 16)
    assert read_image(tmp_path / "p.png").shape == (16, 16)
    tiny = {"width": 8, "depth": 1}
    base = Run(
        "al-sine", "p.png", preset="reconstruct", size=16, observe="every:2", settings=tiny, training={"steps": 3}
    )
    siren = replace(base, group="siren", method="siren", preset="paper")
    simple = [Run(name, "p.png", method=name, size=16, observe="every:2") for name in (*PIXELS, FILLING)]
    with kept_in(str(tmp_path / "unfinished")):
        lines = [execute(run, str(tmp_path)) for run in (base, siren, *simple)]
    assert not (tmp_path / "unfinished").exists(), "seconds are those of whole fits"
    assert {line["group"] for line in lines} == {"al-sine", "siren", FILLING, *PIXELS}
    assert all(line["heldout"]["psnr_between"] > 5 for line in lines)
    text = summarise(lines)
    assert "every:2 between, dB" in text
    assert "| bicubic |" in text
