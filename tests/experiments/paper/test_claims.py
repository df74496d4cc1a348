"""The paper's claims follow the numbers of result lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.commands import alfilter, complaint
from tests.support.result_lines import fitting_lines, line, written

from alfilter.experiments import STUDIES
from alfilter.experiments.committed import committed_lines, compact, keep, read_lines
from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.claims import CLAIMS, SIZES, judged
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED, Verdict

Lines = list[dict[str, Any]]


def test_claims_speak_from_finished_lines(tmp_path: Path) -> None:
    written(tmp_path / "image-fitting-half.jsonl", fitting_lines())
    output = alfilter("experiment", "claims", "--out", tmp_path)
    assert output.code == 0
    rows = {row.split(" | ")[0].strip("| "): row for row in output.out.splitlines()[2:]}
    best = rows["Ours-Sine is best in PSNR"]
    assert "**holds**" in best
    assert "256×256, 3×128, 5,000 steps; n = 2 | `alfilter experiment image-fitting --scale half`" in best
    assert f"**{UNDECIDED}** | not run | –" in rows["Ours-Sine has the best average Chamfer"]
    assert "no result lines in" in complaint("experiment", "claims", "--out", tmp_path / "none")


def test_the_published_table_is_printed_from_the_kept_lines() -> None:
    output = alfilter("experiment", "claims")
    assert output.code == 0
    assert len(output.out.splitlines()) == 2 + len(CLAIMS)
    assert all("pictures" not in each for lines in committed_lines().values() for each in lines)


def judgement(claim: str, lines: Lines, study: str = "image-fitting-half") -> Verdict:
    return next(v for v in judged({study: lines}) if v.claim.startswith(claim))


def verdict(claim: str, lines: Lines, study: str = "image-fitting-half") -> str:
    return judgement(claim, lines, study).verdict


def changed(group: str, *values: float) -> Lines:
    """The lines of the image fitting with other PSNR of one group, picture by picture."""
    lines, left = fitting_lines(), list(values)
    for each in lines:
        if each["group"] == group:
            each["metrics"] = {**each["metrics"], "psnr": left.pop(0)}
    return lines


def test_verdicts_follow_the_numbers() -> None:
    lines = fitting_lines()
    assert verdict("Ours-Sine reaches a higher final", lines) == HOLDS
    assert verdict("Ours-ReLU reaches a higher final", changed("diner", 36.0, 37.0)) == FAILS
    assert verdict("Ours-ReLU is competitive with diner", changed("diner", 36.0, 37.0)) == FAILS
    assert verdict("Ours-ReLU is competitive with diner", changed("diner", 33.2, 34.3)) == HOLDS  # within half a dB
    assert verdict("Ours-ReLU is competitive with diner", changed("diner", 20.0, 38.0)) == UNDECIDED  # 13 and -4 dB
    assert verdict("SIREN is smoother", lines) == HOLDS
    assert verdict("MFN shows", lines) == FAILS  # pe-mlp adds more
    assert verdict("Ours-ReLU outperforms", [e for e in lines if e["group"] != "al-relu"]) == UNDECIDED


def test_what_is_close_or_scattered_or_single_or_small_is_not_decided() -> None:
    assert verdict("Ours-ReLU outperforms", changed("pe-mlp", 32.8, 33.7)) == UNDECIDED  # 0.25 dB
    assert verdict("Ours-ReLU outperforms", changed("pe-mlp", 20.0, 38.0)) == UNDECIDED  # 13 and -4 dB
    single = [each for each in fitting_lines() if each["image"] == "div2k/00.png"]
    assert verdict("Ours-ReLU outperforms", single) == UNDECIDED
    assert judgement("Ours-ReLU outperforms", single).evidence.endswith("; a single picture decides nothing")
    assert verdict("Ours-ReLU outperforms", fitting_lines(), "image-fitting") == UNDECIDED


def test_alpha_that_follows_stays_or_runs_wild() -> None:
    lines, claim = fitting_lines(), "α is higher at edges and texture, lower in smooth regions (Ours-Sine)"
    assert verdict(claim, lines) == HOLDS
    weak = {"gradient": 0.05, "p_gradient": 0.5}
    assert verdict(claim, [{**each, "meaning": weak} for each in lines]) == FAILS
    clear = {"gradient": 0.25, "p_gradient": 0.001}
    assert verdict(claim, [{**each, "meaning": clear} for each in lines]) == UNDECIDED  # weak, and not by chance
    mixed = [{**each, "meaning": clear if each["image"] == "div2k/00.png" else weak} for each in lines]
    assert verdict(claim, mixed) == FAILS
    wide = [{**each, "meaning": {**weak, "gradient": 0.4}} if each["image"] == "div2k/00.png" else each
            for each in [{**each, "meaning": weak} for each in lines]]  # fmt: skip
    assert verdict(claim, wide) == UNDECIDED  # 0.05 and 0.4
    still = [{**each, "alpha": {**each.get("alpha", {}), "structure": None, "spread": 1e-5}} for each in lines]
    result = next(v for v in judged({"image-fitting-half": still}) if v.claim == claim)
    assert result.verdict == UNDECIDED
    assert result.evidence.startswith("α did not move: its standard deviation is 1.0e-05")


def test_verdicts_about_gaps() -> None:
    values = {gaps.PAPER: (0.5, 12.0), gaps.LOW: (0.9, 21.0), gaps.MEAN: (0.6, 13.0), gaps.PLAIN: (0.5, 12.0),
              gaps.LINEAR: (0.93, 21.2)}  # fmt: skip
    lines = [
        line(row, image, observe=observe, heldout={"psnr": psnr}, alpha=row != gaps.LINEAR,
             metrics={"ssim": value / 2 if "05" in observe else value, "structure": value, "structure_flat": 0.2})
        for observe in gaps.OBSERVED
        for image in ("div2k/00.png", "div2k/03.png")
        for row, (value, psnr) in values.items()
    ]  # fmt: skip
    study = "sparse-paper"
    half = [each for each in lines if each["group"] == gaps.LINEAR or each["image"] == "div2k/00.png"]
    single = next(v for v in judged({study: half}) if v.claim.startswith("At 5 %"))
    assert single.verdict == UNDECIDED
    fits = [each for each in half if each["group"] != gaps.LINEAR]
    filled = [{**each, "steps": 0} for each in half if each["group"] == gaps.LINEAR]
    assert next(v.size for v in judged({study: fits + filled}) if v.claim == single.claim).endswith("n = 1")
    claim = "At 5 % of the pixels the structure of the scene is recovered"
    assert verdict(claim, lines, study) == FAILS
    recovered = judgement(f"{claim} (if", lines, study)
    assert recovered.verdict == HOLDS
    assert "SSIM of the blurred picture: 0.900, 0.87 … 0.87 of the way from the mean colour" in recovered.evidence
    for each in lines:
        if each["group"] == gaps.LOW and each["image"] == "div2k/00.png":
            each["metrics"]["structure"] = 0.55  # 0.44 of the way
    assert verdict(f"{claim} (if", lines, study) == UNDECIDED
    for each in lines:
        del each["metrics"]["structure_flat"]
    assert "0.500, not judged; linear interpolation 0.930" in judgement(claim, lines, study).evidence
    texture = judgement("At 35 % of the pixels finer texture", lines, study)
    assert texture.verdict == HOLDS
    assert texture.evidence == "SSIM at 5 % 0.250, 35 % 0.500; linear interpolation 5 % 0.465, 35 % 0.930"
    assert verdict("Total variation on α is promising for sparse reconstruction (summed", lines, study) == UNDECIDED
    assert verdict("Total variation on α is promising for sparse reconstruction (averaged", lines, study) == HOLDS


def test_less_memory_than_diner() -> None:
    sizes = {"al-sine": (500, 100), "diner": (800, 120), "diner, one feature": (600, 110)}
    lines = [line(row, params=params, peak_memory=peak) for row, (params, peak) in sizes.items()]
    assert verdict("Ours stores less", lines, "memory") == HOLDS
    assert verdict("… and can be more memory-efficient", lines, "memory") == HOLDS
    lines[0]["peak_memory"] = 115
    assert verdict("… and can be more memory-efficient", lines, "memory") == UNDECIDED  # within a tenth
    lines[0]["peak_memory"] = 150
    assert verdict("… and can be more memory-efficient", lines, "memory") == FAILS


def test_a_study_that_is_begun_says_so() -> None:
    verdicts = judged({"first-steps": [line("siren")]})
    first = next(v for v in verdicts if v.claim.startswith("Ours-Sine converges"))
    assert (first.verdict, first.evidence) == (UNDECIDED, "begun, not finished")
    assert first.size.endswith("the first 100 steps; n = 1")


def test_every_claim_names_a_command_and_a_size() -> None:
    assert all(STUDIES.declared[claim.item].paper and claim.study in STUDIES for claim in CLAIMS)
    assert all(claim.study in SIZES for claim in CLAIMS)


def test_the_full_scale_speaks_first() -> None:
    low = [{**each, "metrics": {"psnr": 1.0, "ssim": 0.1, "lpips": 0.9}} for each in fitting_lines()]
    lines = {"image-fitting-half": low, "image-fitting-paper": fitting_lines()}
    verdicts = judged(lines, lambda study, scale: f"{study} at scale {scale}")
    best = next(v for v in verdicts if v.claim == "Ours-Sine is best in PSNR")
    assert (best.verdict, best.command) == (HOLDS, "image-fitting at scale paper")


def test_kept_lines_are_whole_but_for_their_pictures(tmp_path: Path) -> None:
    lines = fitting_lines()
    written(tmp_path / "runs" / "image-fitting-half.jsonl", lines[:3])
    keep(tmp_path / "runs", "image-fitting-half", tmp_path)
    written(tmp_path / "runs" / "image-fitting-half.jsonl", lines[2:5])
    keep(tmp_path / "runs", "image-fitting-half", tmp_path)
    assert read_lines(tmp_path)["image-fitting-half"] == [compact(each) for each in lines[:5]]
