"""Rules by which result lines judge a claim, one by one."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.support.result_lines import fitting_lines, line

from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.image_fitting import UNFILTERED, psnr_at
from alfilter.experiments.paper.judging import (
    OPEN,
    Finding,
    ahead,
    alpha_follows,
    finer,
    kept_better,
    less_dominant,
    metric,
    recovers,
    shared,
    smoother,
    variation_helps,
)
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED

Lines = list[dict[str, Any]]


def test_numbers_are_those_of_the_pictures_that_all_rows_have() -> None:
    lines = [*fitting_lines(), line("al-sine", "div2k/02.png", 99.0), line("siren", "div2k/02.png", 11.0)]
    best = ahead("al-sine", metric("psnr"), "psnr")
    result = best(lines)
    assert result.evidence.startswith("PSNR: al-sine 40.50, pe-mlp 25.50, siren 28.50, ")
    assert (result.outcome, result.pictures) == (HOLDS, 2)
    assert smoother("siren")(lines).pictures == 3
    assert best([each for each in lines if each["group"] != "mfn" or each["image"] == "div2k/00.png"]).pictures == 1
    with pytest.raises(ValueError, match="no picture has all of siren, none"):
        shared(lines, ("siren", "none"), metric("psnr"))


def early(**values: tuple[float, float]) -> Finding:
    """Whether al-sine is ahead after the first steps; values: of a row at step 100 on two pictures."""
    rows = {"pe-mlp": (18.0, 18.1), "siren": (20.0, 19.1), "mfn": (15.0, 15.2), "diner": (15.4, 13.4), **values}
    lines = [
        line(row, f"div2k/0{k}.png", steps=100, curve=[[10, 5.0], [100, psnr]])
        for row, several in rows.items()
        for k, psnr in enumerate(several)
    ]
    return ahead("al-sine", lambda each: psnr_at(each, 100), "psnr", open_points=OPEN)(lines)


def test_who_is_ahead_or_behind_by_less_than_a_guess_changes_is_not_judged() -> None:
    assert early(**{"al-sine": (24.9, 24.7)}).outcome == HOLDS
    near = early(**{"al-sine": (24.9, 24.7), "mfn": (25.8, 25.6)})
    assert near.outcome == UNDECIDED
    assert near.evidence.endswith("; behind mfn by less than the 2 dB that open points change")
    far = early(**{"al-sine": (19.8, 19.7), "mfn": (25.8, 25.6)})
    assert far.outcome == FAILS
    assert far.evidence.endswith(
        "; behind mfn; ahead of pe-mlp by less than the 2 dB that open points change; not clearly ahead of siren"
    )
    ahead_by_a_guess = early(**{"al-sine": (24.9, 24.7), "mfn": (24.3, 24.1)})
    assert ahead_by_a_guess.outcome == UNDECIDED
    assert ahead_by_a_guess.evidence.endswith("; ahead of mfn by less than the 2 dB that open points change")
    assert early(**{"al-sine": (24.9, 24.7), "mfn": (22.8, 22.6)}).outcome == HOLDS


def holes(ours: tuple[float, float], flat: float = 0.2) -> Lines:
    """Lines of a row that reaches `ours` on two pictures at 5 %, in both SSIMs, and 0.25 more at 35 %."""
    return [
        line(row, f"div2k/0{k}.png", observe=observe, heldout={"psnr": 20.0 + more}, metrics={
            "ssim": value + more, "structure": value + more, **({"structure_flat": flat} if flat else {})})
        for observe, more in zip(gaps.OBSERVED, (0.0, 0.25), strict=True)
        for row, values in ((gaps.PAPER, ours), (gaps.LINEAR, (0.7, 0.7)))
        for k, value in enumerate(values)
    ]  # fmt: skip


@pytest.mark.parametrize(("ours", "outcome"), [
    ((0.61, 0.9), HOLDS), ((0.4, 0.59), FAILS), ((0.4, 0.9), UNDECIDED),
])  # fmt: skip
def test_structure_is_measured_from_the_mean_colour_and_not_from_interpolation(
    ours: tuple[float, float], outcome: str
) -> None:
    finding = recovers(gaps.PAPER, gaps.OBSERVED[0])(holes(ours))
    assert finding.outcome == outcome
    ways = " … ".join(f"{(each - 0.2) / 0.8:.2f}" for each in ours)
    assert f"{ways} of the way from the mean colour; linear interpolation 0.700" in finding.evidence


def test_lines_that_do_not_say_what_the_mean_colour_reaches_are_not_judged() -> None:
    finding = recovers(gaps.PAPER, gaps.OBSERVED[0])(holes((0.9, 0.9), flat=0.0))
    assert (finding.outcome, finding.pictures) == (UNDECIDED, 2)
    assert finding.evidence.startswith("SSIM of the blurred picture: 0.900, not judged; linear")


def test_finer_means_finer_than_with_fewer_pixels() -> None:
    finding = finer(gaps.PAPER)(holes((0.2, 0.3)))
    assert finding == Finding(HOLDS, "SSIM at 5 % 0.250, 35 % 0.500; linear interpolation 5 % 0.700, 35 % 0.950", 2)
    same = [{**each, "metrics": {**each["metrics"], "ssim": 0.5}} for each in holes((0.2, 0.3))]
    assert finer(gaps.PAPER)(same).outcome == UNDECIDED


def kernels(middles: dict[str, tuple[float, ...]], firsts: dict[str, tuple[float, ...]]) -> Lines:
    """Lines of fitted rows; middles: what their spectra are between the first 64th and a half, picture by picture."""
    ranks = 256

    def spectrum(middle: float) -> list[float]:
        return [1.0] + [middle if ranks // 64 <= k < ranks // 2 else 0.5 for k in range(1, ranks)]

    return [
        line(row, f"div2k/0{k}.png#crop", kernel={"spectrum": spectrum(middle), "first": firsts[row][k]})
        for row, values in middles.items()
        for k, middle in enumerate(values)
    ]


def test_fitted_kernels_are_compared_picture_by_picture() -> None:
    middles = {"al-sine": (0.9, 0.95), "pe-mlp": (0.1, 0.2), UNFILTERED: (0.93, 0.9)}
    firsts = {"al-sine": (0.29, 0.291), "pe-mlp": (0.62, 0.6), UNFILTERED: (0.273, 0.274)}
    lines = kernels(middles, firsts)
    kept = kept_better("al-sine", "pe-mlp")(lines)
    assert kept == Finding(HOLDS, f"retention against pe-mlp: {math.sqrt(0.9 / 0.1 * 0.95 / 0.2):.3g}", 2)
    assert kept_better("al-sine", UNFILTERED)(lines).outcome == UNDECIDED
    assert kept_better("al-sine", "pe-mlp")(lines[::2]).outcome == UNDECIDED  # one picture, two parts of its spectrum
    assert less_dominant("al-sine", "pe-mlp")(lines).outcome == HOLDS
    assert less_dominant("al-sine", UNFILTERED)(lines).outcome == UNDECIDED  # 6 % more


def seen_twice(images: tuple[str, ...], **more: Any) -> Lines:
    """Lines of the paper's total variation and of none: every picture at 5 % and at 35 %, 2 and 2.5 dB apart."""
    return [
        line(
            row, image, observe=observe, alpha=True, heldout={"psnr": psnr + (gain if row == gaps.PAPER else 0)}, **more
        )
        for image in images
        for observe, psnr, gain in zip(gaps.OBSERVED, (28.0, 28.5), (2.0, 2.5), strict=True)
        for row in (gaps.PAPER, gaps.PLAIN)
    ]


def test_a_picture_that_was_seen_twice_is_one_picture() -> None:
    for judge in (variation_helps(gaps.PAPER), alpha_follows(gaps.PAPER)):
        one, two = judge(seen_twice(("a.png",))), judge(seen_twice(("a.png", "b.png")))
        assert (one.outcome, one.pictures) == (UNDECIDED, 1)
        assert (two.outcome, two.pictures) == (HOLDS, 2)
    assert variation_helps(gaps.PAPER)(seen_twice(("a.png", "b.png"))).evidence.startswith(
        "gain on unseen pixels +2.25"
    )
    assert "significant on 2 of 2" in alpha_follows(gaps.PAPER)(seen_twice(("a.png", "b.png"))).evidence


def test_alpha_follows_where_all_maps_of_a_picture_do() -> None:
    lines = seen_twice(("a.png", "b.png"))
    chance = {"gradient": 0.7, "p_gradient": 0.4}
    lines = [{**each, "meaning": chance} if each["observe"] == gaps.OBSERVED[0] else each for each in lines]
    finding = alpha_follows(gaps.PAPER)(lines)
    assert finding.outcome == UNDECIDED
    assert "+0.75 (+0.75 … +0.75), significant on 0 of 2" in finding.evidence
    low = seen_twice(("a.png", "b.png"), meaning={"gradient": 0.1, "p_gradient": 0.4})
    assert alpha_follows(gaps.PAPER)(low).outcome == FAILS
