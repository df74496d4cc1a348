"""The paper's claims, each judged by result lines: holds, holds only if …, does not hold here.

A verdict is computed, never written by hand: `judged` takes the lines of the studies and says what they say.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.detail import detail_kept, fine_share_of_error
from alfilter.experiments.paper.image_fitting import psnr_at
from alfilter.experiments.verdicts import FAILS, HOLDS, MISSING, Verdict

Lines = Sequence[Mapping[str, Any]]
BASELINES = ("pe-mlp", "siren", "mfn", "diner")
OURS = ("al-relu", "al-sine")
CLOSE = 0.5  # dB within which two methods count as equal


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, and which study can tell. judge: the study's lines → verdict and evidence."""

    text: str
    where: str
    study: str
    item: str
    judge: Callable[[Lines], tuple[str, str]]


def judged(lines: Mapping[str, Lines]) -> list[Verdict]:
    """All claims in the paper's order; lines: by the name of their study, the full scale before the CPU's."""
    return [_judge(claim, lines) for claim in CLAIMS]


def _judge(claim: Claim, lines: Mapping[str, Lines]) -> Verdict:
    full = f"{claim.study}-paper"
    own = lines.get(full) or lines.get(claim.study) or ()
    scale = " --scale paper" if lines.get(full) else ""
    try:
        verdict, evidence = claim.judge(own) if own else (MISSING, "")
    except (KeyError, statistics.StatisticsError):  # not all rows of the study are finished
        verdict, evidence = MISSING, ""
    return Verdict(claim.text, verdict, evidence, claim.where, f"alfilter experiment {claim.item}{scale}")


def mean_of(lines: Lines, group: str, read: Callable[[Any], float | None]) -> float:
    """The mean of a number over the lines of a group; a StatisticsError when there is none."""
    values = [value for line in lines if line["group"] == group and (value := read(line)) is not None]
    return statistics.fmean(values)


def metric(name: str) -> Callable[[Any], float | None]:
    """Reads a metric of a line."""
    return lambda line: line["metrics"].get(name)


# ── image fitting ────────────────────────────────────────────────────────────────────────────────────────────────────


def best_everywhere(lines: Lines) -> tuple[str, str]:
    """Ours-Sine is best in PSNR, SSIM and LPIPS."""
    rows = (*BASELINES, *OURS)
    evidence, wins = [], []
    for name, sign in (("psnr", 1), ("ssim", 1), ("lpips", -1)):
        if not any(name in line["metrics"] for line in lines):
            continue
        values = {row: mean_of(lines, row, metric(name)) for row in rows}
        first, second = sorted(values, key=lambda row: -sign * values[row])[:2]
        wins.append(first == "al-sine")
        digits = 2 if name == "psnr" else 4
        named = {row: f"{row} {values[row]:.{digits}f}" for row in (first, second, "al-sine")}
        evidence.append(f"{name.upper()} {named[first]} before {named[second]}")
        if first != "al-sine":
            evidence[-1] += f", {named['al-sine']}"
    return _of(wins, "holds only for some of the measures"), "; ".join(evidence)


def relu_beats_encoding(lines: Lines) -> tuple[str, str]:
    """Ours-ReLU beats the positional encoding."""
    ours, theirs = (mean_of(lines, row, metric("psnr")) for row in ("al-relu", "pe-mlp"))
    return (HOLDS if ours > theirs else FAILS), f"al-relu {ours:.2f} dB, pe-mlp {theirs:.2f} dB"


def relu_is_competitive(lines: Lines) -> tuple[str, str]:
    """Ours-ReLU keeps up with SIREN, MFN and DINER."""
    ours = mean_of(lines, "al-relu", metric("psnr"))
    others = {row: mean_of(lines, row, metric("psnr")) for row in ("siren", "mfn", "diner")}
    wins = [ours > value - CLOSE for value in others.values()]
    evidence = ", ".join(f"{row} {value:.2f}" for row, value in others.items())
    beaten = ", ".join(row for row, value in others.items() if ours > value - CLOSE)
    return _of(wins, f"holds only against {beaten}"), f"al-relu {ours:.2f} dB; {evidence} dB"


def faster_at(step: int) -> Callable[[Lines], tuple[str, str]]:
    """Both of ours are ahead of every baseline at a step."""

    def judge(lines: Lines) -> tuple[str, str]:
        return _ahead(lines, lambda line: psnr_at(line, step), f"at step {step}")

    return judge


def higher_at_the_end(lines: Lines) -> tuple[str, str]:
    """Both of ours end above every baseline."""
    return _ahead(lines, metric("psnr"), "at the end")


def _ahead(lines: Lines, read: Callable[[Any], float | None], when: str) -> tuple[str, str]:
    values = {row: mean_of(lines, row, read) for row in (*BASELINES, *OURS)}
    best = max(BASELINES, key=lambda row: values[row])
    wins = [values[row] > values[best] for row in OURS]
    evidence = f"{when}: " + ", ".join(f"{row} {values[row]:.2f}" for row in (*OURS, *BASELINES)) + " dB"
    who = OURS[wins.index(True)] if any(wins) else ""
    return _of(wins, f"holds only for {who}"), evidence


def smoother(lines: Lines) -> tuple[str, str]:
    """PE-MLP and SIREN lose fine detail that Ours-Sine keeps: power beyond half of Nyquist's rate against the truth."""
    detail = {row: mean_of(lines, row, detail_kept) for row in ("pe-mlp", "siren", "al-sine")}
    gap = {row: abs(1 - value) for row, value in detail.items()}
    wins = [detail[row] < 1 and gap[row] > gap["al-sine"] for row in ("pe-mlp", "siren")]
    evidence = ", ".join(f"{row} {value:.0%}" for row, value in detail.items())
    who = "pe-mlp" if wins[0] else "siren"
    return _of(wins, f"holds only for {who}"), f"power of fine detail detail: {evidence}"


def artefacts(lines: Lines) -> tuple[str, str]:
    """MFN adds high frequencies: its error holds a larger share of fine detail than Ours-Sine's."""
    share = {row: mean_of(lines, row, fine_share_of_error) for row in ("mfn", "al-sine", "siren")}
    evidence = ", ".join(f"{row} {value:.0%}" for row, value in share.items())
    wins = share["mfn"] > share["al-sine"] and share["mfn"] > share["siren"]
    return (HOLDS if wins else FAILS), f"share of the error's power in fine detail: {evidence}"


# ── α ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

CLEAR = 0.3  # a rank correlation that a reader of the map would see


def alpha_follows(group: str) -> Callable[[Lines], tuple[str, str]]:
    """α is higher where the picture has edges and texture."""

    def judge(lines: Lines) -> tuple[str, str]:
        values = [line["alpha"]["structure"] for line in lines if line["group"] == group and line.get("alpha")]
        mean = statistics.fmean(values)
        span = f"{min(values):+.2f} … {max(values):+.2f}"
        evidence = f"rank correlation of α with local gradient energy, {group}: mean {mean:+.2f} ({span})"
        if min(values) > CLEAR:
            return HOLDS, evidence
        return ("holds only weakly" if min(values) > 0 and mean > CLEAR / 3 else FAILS), evidence

    return judge


# ── pictures with gaps ───────────────────────────────────────────────────────────────────────────────────────────────


def _unseen(lines: Lines, group: str, observe: str) -> float:
    return mean_of([line for line in lines if line["observe"] == observe], group, lambda line: line["heldout"]["psnr"])


def recovers(observe: str) -> Callable[[Lines], tuple[str, str]]:
    """The missing pixels are recovered: at least as well as by linear interpolation between the seen ones."""

    def judge(lines: Lines) -> tuple[str, str]:
        ours, low, plain, line = (
            _unseen(lines, row, observe) for row in (gaps.PAPER, gaps.LOW, gaps.PLAIN, gaps.LINEAR)
        )
        evidence = (
            f"unseen pixels: as the paper {ours:.2f}, α starts low {low:.2f}, no total variation {plain:.2f}, linear "
        )
        evidence += f"interpolation {line:.2f} dB"
        if ours >= line - CLOSE:
            return HOLDS, evidence
        return ("holds only if α starts low" if low >= line - CLOSE else FAILS), evidence

    return judge


def variation_helps(lines: Lines) -> tuple[str, str]:
    """The total variation on α helps between the seen pixels."""
    gains = {
        observe: _unseen(lines, gaps.PAPER, observe) - _unseen(lines, gaps.PLAIN, observe) for observe in gaps.OBSERVED
    }
    wins = [gain > CLOSE / 5 for gain in gains.values()]
    evidence = ", ".join(f"{observe} {gain:+.2f} dB" for observe, gain in gains.items())
    return _of(wins, f"holds only at {gaps.OBSERVED[wins.index(True)] if any(wins) else ''}"), f"gain: {evidence}"


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def best_shapes(lines: Lines) -> tuple[str, str]:
    """Ours-Sine has the best average Chamfer and IoU: at its preset, the others at all rates there are."""
    rows = [*sorted({line["group"] for line in lines if line["method"] != "al-sine"}), "al-sine"]
    above = {
        row: mean_of(lines, row, lambda line: 1e6 * (line["metrics"]["chamfer"] - line["metrics"]["chamfer_floor"]))
        for row in rows
    }
    iou = {row: mean_of(lines, row, metric("iou")) for row in rows}
    wins = [min(above, key=lambda row: above[row]) == "al-sine", max(iou, key=lambda row: iou[row]) == "al-sine"]
    evidence = "Chamfer above its floor in 1e-6 (IoU): " + ", ".join(f"{r} {above[r]:.2f} ({iou[r]:.4f})" for r in rows)
    return _of(wins, "holds only for " + ("Chamfer" if wins[0] else "IoU")), evidence


def _normals(lines: Lines, part: str) -> dict[str, float]:
    return {row: mean_of(lines, row, metric(f"normals_{part}")) for row in ("pe-mlp", "siren", "bacon", "al-sine")}


def detail_and_smooth(lines: Lines) -> tuple[str, str]:
    """Ours keeps fine geometry and stays smooth where the shape is: best normals on both kinds of places."""
    detail, smooth = _normals(lines, "detail"), _normals(lines, "smooth")
    wins = [max(values, key=lambda row: values[row]) == "al-sine" for values in (detail, smooth)]
    return _of(wins, f"holds only on {'detail' if wins[0] else 'smooth places'}"), _told_normals(detail, smooth)


def siren_oversmooths(lines: Lines) -> tuple[str, str]:
    """SIREN is smooth where the shape is, and loses detail."""
    detail, smooth = _normals(lines, "detail"), _normals(lines, "smooth")
    wins = detail["siren"] < detail["bacon"] and smooth["siren"] > smooth["bacon"]
    return (HOLDS if wins else FAILS), _told_normals(detail, smooth)


def _told_normals(detail: dict[str, float], smooth: dict[str, float]) -> str:
    evidence = ", ".join(f"{row} {100 * detail[row]:.1f} / {100 * smooth[row]:.1f}" for row in detail)
    return f"agreement of normals in %, detailed tenth / smooth half: {evidence}"


def _of(wins: Sequence[bool], some: str) -> str:
    return HOLDS if all(wins) else some if any(wins) else FAILS


_TABLE, _CURVES, _CROPS = "Table 2d_comparison", "Fig. psnr_comparison", "Fig. fig2dcomparison"
CLAIMS: tuple[Claim, ...] = (
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-Sine)", "Fig. alpha_viz", "image-fitting",
          "alpha-maps", alpha_follows("al-sine")),
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-ReLU)", "Fig. alpha_viz", "image-fitting",
          "alpha-maps", alpha_follows("al-relu")),
    Claim("Both variants converge faster than the baselines early on", _CURVES, "image-fitting", "convergence",
          faster_at(100)),
    Claim("Both variants reach a higher final PSNR than the baselines", _CURVES, "image-fitting", "convergence",
          higher_at_the_end),
    Claim("Ours-Sine is best in PSNR, SSIM and LPIPS", _TABLE, "image-fitting", "image-fitting", best_everywhere),
    Claim("Ours-ReLU outperforms fixed positional encoding", _TABLE, "image-fitting", "image-fitting",
          relu_beats_encoding),
    Claim("Ours-ReLU is competitive with the stronger baselines", _TABLE, "image-fitting", "image-fitting",
          relu_is_competitive),
    Claim("PE-MLP and SIREN are smoother than Ours-Sine", _CROPS, "image-fitting", "crops", smoother),
    Claim("MFN shows high-frequency artefacts", _CROPS, "image-fitting", "crops", artefacts),
    Claim("Ours-Sine has the best average Chamfer and IoU", "Table sdf_comparison", "shapes", "shapes", best_shapes),
    Claim("Ours keeps fine geometry and stays smooth where the shape is", "Fig. armadillo", "shape-views",
          "shape-views", detail_and_smooth),
    Claim("SIREN is smooth but loses detail that BACON keeps; BACON is rough on smooth parts", "Fig. armadillo",
          "shape-views", "shape-views", siren_oversmooths),
    Claim("At 5 % of the pixels the structure of the scene is recovered", "Fig. inpainting", "sparse", "sparse",
          recovers("random:0.05")),
    Claim("At 35 % of the pixels finer texture and edges are recovered", "Fig. inpainting", "sparse", "sparse",
          recovers("random:0.35")),
    Claim("Total variation on α is promising for sparse reconstruction", "Fig. inpainting", "sparse", "sparse",
          variation_helps),
    Claim("From sparse pixels α is still higher at boundaries and detail", "Fig. inpainting", "sparse", "sparse",
          alpha_follows(gaps.PAPER)),
)  # fmt: skip
