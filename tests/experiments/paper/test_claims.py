"""The paper's claims follow the numbers of result lines."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import alfilter, complaint
from tests.support.result_lines import fitting_lines, line, written

from alfilter.experiments import STUDIES
from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.claims import CLAIMS, FAILS, HOLDS, MISSING, judged


def test_views_draw_and_claims_speak_from_finished_lines(tmp_path: Path) -> None:
    written(tmp_path / "image-fitting.jsonl", fitting_lines())
    told = alfilter("experiment", "claims", "--out", tmp_path)
    assert told.code == 0
    rows = {row.split(" | ")[0].strip("| "): row for row in told.out.splitlines()[2:]}
    assert "**holds**" in rows["Ours-Sine is best in PSNR, SSIM and LPIPS"]
    assert f"**{MISSING}**" in rows["Ours-Sine has the best average Chamfer and IoU"]
    assert "no result lines in" in complaint("experiment", "claims", "--out", tmp_path / "none")


def verdict(claim: str, **lines: list[dict[str, object]]) -> str:
    found = {name.replace("_", "-"): rows for name, rows in lines.items()}
    return next(v.verdict for v in judged(found) if v.claim.startswith(claim))


def test_verdicts_follow_the_numbers() -> None:
    lines = fitting_lines()
    assert verdict("Both variants reach", image_fitting=lines) == HOLDS
    for each in lines:
        if each["group"] == "diner":
            each["metrics"] = {"psnr": 36.0, "ssim": 0.99, "lpips": 0.2}
    assert verdict("Both variants reach", image_fitting=lines) == "holds only for al-sine"
    assert verdict("Ours-Sine is best", image_fitting=lines) == "holds only for some of the measures"
    assert verdict("Ours-ReLU is competitive", image_fitting=lines) == "holds only against siren, mfn"
    assert verdict("Ours-ReLU outperforms", image_fitting=[e for e in lines if e["group"] != "al-relu"]) == MISSING


def test_verdicts_about_gaps() -> None:
    values = {gaps.PAPER: 12.0, gaps.LOW: 21.0, gaps.PLAIN: 11.0, gaps.LINEAR: 21.2}
    lines = [
        line(row, observe=observe, heldout={"psnr": value}, alpha=row == gaps.PAPER)
        for observe in gaps.OBSERVED
        for row, value in values.items()
    ]
    assert verdict("At 5 %", sparse=lines) == "holds only if α starts low"
    assert verdict("Total variation", sparse=lines) == HOLDS
    assert verdict("From sparse pixels", sparse=lines) == HOLDS  # α is high exactly where the scene has stripes
    values[gaps.LOW] = 15.0
    worse = [{**each, "heldout": {"psnr": values[str(each["group"])]}} for each in lines]
    assert verdict("At 5 %", sparse=worse) == FAILS


def test_every_claim_names_a_command_that_exists() -> None:
    assert all(STUDIES.declared[claim.item].paper and claim.study in STUDIES for claim in CLAIMS)


def test_the_full_scale_speaks_before_the_twin() -> None:
    low = [{**each, "metrics": {"psnr": 1.0, "ssim": 0.1, "lpips": 0.9}} for each in fitting_lines()]
    found = judged({"image-fitting": low, "image-fitting-paper": fitting_lines()})
    best = next(v for v in found if v.claim.startswith("Ours-Sine is best"))
    assert (best.verdict, best.command) == (HOLDS, "alfilter experiment image-fitting --scale paper")
