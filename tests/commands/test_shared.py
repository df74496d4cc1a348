"""Times, threads and results in words."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.commands.shared import print_result, seconds, use_threads
from alfilter.errors import UserError


@given(st.floats(0.001, 1e6), st.sampled_from([("s", 1), ("m", 60), ("h", 3600), ("", 1)]))
def test_seconds(number: float, unit: tuple[str, int]) -> None:
    assert seconds(f"{number:.6f}{unit[0]}") == pytest.approx(number * unit[1], rel=1e-3)


@given(st.text(max_size=8))
def test_seconds_of_anything_is_a_time_or_a_user_error(text: str) -> None:
    with suppress(UserError):
        assert seconds(text) > 0


def test_a_result_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    line = {"metrics": {"psnr": None, "ssim": 0.5}, "heldout": {"psnr": 2e-5}, "steps": 3, "model": "m"}
    print_result(line, as_json=False)
    assert [row.split() for row in capsys.readouterr().out.splitlines()] == [
        ["psnr", "infinite"],
        ["ssim", "0.5000"],
        ["held", "out", "psnr", "2.000e-05"],
        ["steps", "3"],
        ["model", "m"],
    ]
    print_result(line, as_json=True)
    assert json.loads(capsys.readouterr().out) == line


def test_long_names_keep_their_distance(capsys: pytest.CaptureFixture[str]) -> None:
    print_result({"metrics": {"rmse_temp": 0.5}, "heldout": {"rmse_temp": 0.25}, "steps": 3}, as_json=False)
    rows = capsys.readouterr().out.splitlines()
    assert rows == ["rmse_temp          0.5000", "held out rmse_temp 0.2500", "steps              3"]


def test_scores_that_are_no_finite_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """A sound without errors, and one that is silent and has some; an error of the estimate that is not known."""
    line = {
        "metrics": {"snr": None, "psnr": None},
        "heldout": {"snr": None, "psnr": 20.0},
        "estimate": {"samples": 1, "of": 2, "standard_error": {"snr": None}},
    }
    print_result(line, as_json=False)
    rows = [" ".join(row.split()) for row in capsys.readouterr().out.splitlines()]
    assert rows == [
        "snr infinite",
        "psnr infinite",
        "held out snr minus infinite (errors in silence)",
        "held out psnr 20.0000",
        "scored on 1 of 2 samples (snr ± unknown); eval scores all",
    ]


@pytest.mark.parametrize("count", [0, 1025])
def test_threads_are_a_sensible_number(count: int) -> None:
    with pytest.raises(UserError, match=f"--threads must be between 1 and 1024, got {count}"):
        use_threads(count)


@pytest.mark.parametrize(("setting", "expected"), [("", 1), ("3", 2)])
def test_threads_follow_what_the_container_allows(setting: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a number of their own, and without one in the environment."""
    monkeypatch.setattr("alfilter.commands.shared.cores", lambda: 1)
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        use_threads(None)
        assert torch.get_num_threads() == expected
    finally:
        torch.set_num_threads(before)
