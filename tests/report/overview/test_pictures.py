"""Runs of one picture side by side: grouped, named, compared."""

from __future__ import annotations

from tests.support.result_lines import fitting_lines, line

from alfilter.report.overview.collect import from_line
from alfilter.report.overview.pictures import MAX_PICTURES, by_picture, comparisons, contact_sheet, picture_name


def test_runs_are_grouped_by_what_they_show() -> None:
    groups = by_picture([from_line("s", each) for each in fitting_lines()])
    assert [key[0] for key in groups] == ["div2k/00.png", "div2k/01.png"]
    assert all(len(rows) == 6 for rows in groups.values())


def test_one_seed_per_setting_and_few_pictures() -> None:
    lines = [line("a", f"{k}.png", seed=seed) for k in range(MAX_PICTURES + 2) for seed in (0, 1)]
    groups = by_picture([from_line("s", each) for each in lines])
    assert len(groups) == MAX_PICTURES
    assert all([entry.seed for entry in rows] == [0] for rows in groups.values())


def test_the_best_stands_on_the_right() -> None:
    text = comparisons([from_line("s", line("weak", psnr=20.0)), from_line("s", line("strong", psnr=40.0))])
    right = text[text.index('aria-label="Right side"') :]
    assert '<option value="2" selected>strong, 40.0 dB</option>' in right


def test_nothing_to_compare() -> None:
    bare = [from_line("s", line("a", pictures={}))]
    assert comparisons(bare) == contact_sheet(bare) == ""


def test_names() -> None:
    assert picture_name(("div2k/00.png", "all", None)) == "00"
    assert picture_name(("a/b.png", "every:2", 64)) == "b, every:2 seen, 64×64"
