"""Tables: means by hand, printed values in place, four languages that other programs read back."""

from __future__ import annotations

import csv
import io
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.result_lines import fitting_lines, line

from alfilter.errors import UserError
from alfilter.report.overview.collect import Entry, from_line
from alfilter.report.overview.tables import (
    as_csv,
    as_latex,
    as_markdown,
    check_baseline,
    shown,
    signals_of,
    tabulate,
)

PRINTED = {"al-sine": {"psnr": 46.27}}


def fitted() -> list[Entry]:
    return [from_line("image-fitting", each) for each in fitting_lines()]


def test_mean_spread_and_printed_value_by_hand() -> None:
    table = tabulate("image-fitting", fitted(), PRINTED)
    assert [column.metric for column in table.columns] == ["psnr", "ssim", "lpips"]
    row = table.rows[-1]
    assert (row.group, row.runs, row.params) == ("al-sine", 2, 1000)
    psnr = row.values[0]
    assert (psnr.mean, psnr.printed, psnr.summary.runs) == (40.5, 46.27, 2)
    assert psnr.summary.over_signals == pytest.approx(statistics.stdev([40.0, 41.0]))
    assert psnr.summary.over_seeds is None
    assert table.best(0) == 40.5
    assert table.best(2) == pytest.approx(1 / 40)  # of LPIPS less is better


def repeated() -> list[Entry]:
    """Two settings on two pictures with two seeds: pictures differ by 10 dB, seeds by 0.2, the settings by 1."""
    lines = [
        line(group, image, base + gain + 0.2 * seed, seed=seed)
        for group, gain in (("plain", 0.0), ("better", 1.0))
        for image, base in (("a.png", 30.0), ("b.png", 40.0))
        for seed in (0, 1)
    ]
    return [from_line("s", each) for each in lines]


def test_signals_and_seeds_spread_apart_and_runs_are_paired() -> None:
    table = tabulate("s", repeated(), baseline="plain")
    plain, better = (row.values[0] for row in table.rows)
    assert plain.summary.over_signals == pytest.approx(statistics.stdev([30.1, 40.1]))
    assert plain.summary.over_seeds == pytest.approx(statistics.stdev([0.0, 0.2]))
    assert plain.difference is None
    assert better.difference is not None
    assert (better.difference.mean, better.difference.pairs) == (pytest.approx(1.0), 4)
    assert (better.difference.low, better.difference.high) == (pytest.approx(1.0), pytest.approx(1.0))
    markdown = as_markdown([table])
    assert "| better | 4 | **36.10** ± 7.07 (± 0.14) | +1.00 [+1.00, +1.00], 4 pairs |" in markdown
    assert "± standard deviation over signals; in brackets over the seeds of a signal; Δ: mean difference" in markdown
    latex = as_latex([table])
    assert r"better & 4 & \textbf{36.10} $\pm$ 7.07 ($\pm$ 0.14) & +1.00 [+1.00, +1.00], 4 pairs" in latex
    rows = [row for row in csv.DictReader(io.StringIO(as_csv([table]))) if row["metric"] == "psnr"]
    assert [(row["setting"], row["runs"], row["pairs"]) for row in rows] == [("plain", "4", ""), ("better", "4", "4")]
    assert float(rows[1]["difference"]) == pytest.approx(1.0)


def test_a_table_of_one_signal() -> None:
    entries = repeated()
    assert signals_of(entries) == ["a.png", "b.png"]
    table = tabulate("s", entries, baseline="plain", signal="b.png")
    assert table.title == "s: b.png"
    plain = table.rows[0].values[0].summary
    assert (plain.mean, plain.over_signals, plain.runs) == (pytest.approx(40.1), None, 2)
    with pytest.raises(UserError, match="the baseline must be one of the rows plain, better, got 'siren'"):
        check_baseline("siren", entries)


def test_what_was_seen_differently_is_not_mixed() -> None:
    lines = [line("a", observe=observe, psnr=psnr) for observe, psnr in (("every:2", 20.0), ("random:0.05", 10.0))]
    table = tabulate("x", [from_line("x", each) for each in lines])
    assert [(row.group, row.values[0].mean) for row in table.rows] == [("a · every:2", 20.0), ("a · random:0.05", 10.0)]
    assert [column.label for column in table.columns if column.is_heldout] == ["PSNR, held out, dB"]


def test_a_row_with_fewer_runs_is_never_the_best() -> None:
    lines = [*fitting_lines(), line("lucky", psnr=99.0)]
    table = tabulate("image-fitting", [from_line("image-fitting", each) for each in lines])
    assert table.best(0) == 40.5


def test_markdown_has_one_width_and_marks_the_best() -> None:
    text = as_markdown([tabulate("image-fitting", fitted(), PRINTED)])
    rows = [row for row in text.splitlines() if row.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1
    assert "**40.50** ± 0.71 | 46.27" in rows[-1]


@given(st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=5))
def test_csv_reads_back_to_the_last_digit(values: list[float]) -> None:
    entries = [Entry("s", "g", "m", "i", metrics={"psnr": value}) for value in values]
    read = list(csv.DictReader(io.StringIO(as_csv([tabulate("s", entries)]))))
    row = next(each for each in read if each["metric"] == "psnr")
    assert float(row["mean"]) == statistics.fmean(values)
    assert int(row["runs"]) == len(values)


def test_latex_escapes_and_balances() -> None:
    text = as_latex([tabulate("a_b", [Entry("a_b", "α & 5 % {x}", "m", "i", metrics={"chamfer": 2.4e-6})])])
    assert r"$\alpha$ \& 5 \% \{x\}" in text
    assert r"$2.40\times10^{-6}$" in text
    assert text.count(r"\begin") == text.count(r"\end") == 2
    body = [row for row in text.splitlines() if row.endswith(r"\\")]
    columns = text[text.index("{tabular}{") + 10 :].split("}")[0]
    assert all(row.replace(r"\&", "").count("&") == len(columns) - 1 for row in body)


def test_missing_numbers_stay_missing() -> None:
    table = tabulate("s", [Entry("s", "g", "m", "i", metrics={"psnr": None}), Entry("s", "h", "m", "i")])
    assert table.columns == ()
    assert shown(None, 2) == "–"
