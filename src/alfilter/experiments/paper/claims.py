"""The paper's claims, each judged by result lines: holds, does not hold, not decided here.

A verdict is computed, never written by hand: `judged` takes the lines of the studies and says what they say. Only runs
at the paper's size or with every size halved together can judge; a smaller twin shows its numbers and decides nothing.
Two methods are compared picture by picture, and a difference within `CLOSE` or within its spread over the pictures is
undecided, as is one of a single picture.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.image_fitting import UNFILTERED, psnr_at
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED, Verdict, combined, decided

Lines = Sequence[Mapping[str, Any]]
Read = Callable[[Any], float | None]
Judge = Callable[[Lines], tuple[str, str]]
Command = Callable[[str, str], str]
BASELINES = ("pe-mlp", "siren", "mfn", "diner")
CLOSE = {"psnr": 0.5, "ssim": 0.005, "lpips": 0.002}  # differences that are not visible
CLEAR = 0.3  # a rank correlation that a reader of the map would see
LEVEL = 0.05  # chance, by shifts of the map, above which a correlation is no finding
# what was run, by study and scale
SIZES = {
    "memory": "512×512, 3×256, 3 steps",
    "first-steps": "512×512, 3×256, the first 100 steps",
    "image-fitting-paper": "512×512, 3×256, 5,000 steps",
    "image-fitting-half": "256×256, 3×128, 5,000 steps",
    "image-fitting": "64×64, 3×32, 5,000 steps: too small",
    "sparse-paper": "512×512, 3×256, 5,000 steps",
    "sparse": "128×128, 3×64, 1,000 steps: too small",
    "shapes-paper": "8×256, 200,000 steps, 512³",
    "shapes-half": "8×256, 10,000 steps, 512³",
    "shapes": "3×160, 20 core seconds: too small",
    "shape-views-paper": "8×256, 200,000 steps, 512³",
    "shape-views": "3×160, 30 core seconds: too small",
}
FAIR = ("memory", "first-steps", "-paper", "-half")  # how the names of studies end whose lines can judge


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, and which study can tell. judge: the study's lines → verdict and evidence."""

    text: str
    where: str
    study: str
    item: str
    judge: Judge


def judged(lines: Mapping[str, Lines], command: Command = lambda study, scale: study) -> list[Verdict]:
    """All claims in the paper's order; lines: by the name of their study, the larger scale before the smaller.

    command: what a verdict says of how to repeat it, from the study and its scale (`paper`, `half`, or none).
    """
    return [_judge(claim, lines, command) for claim in CLAIMS]


def _is_run(line: Mapping[str, Any]) -> bool:
    """Whether a line says which picture was fitted, and for how long."""
    return isinstance(line.get("image"), str) and isinstance(line.get("steps"), int)


def _judge(claim: Claim, lines: Mapping[str, Lines], command: Command) -> Verdict:
    begun = ""
    for scale in ("paper", "half", ""):
        study = f"{claim.study}-{scale}" if scale else claim.study
        own = [line for line in lines.get(study) or () if _is_run(line)]
        if not own:
            continue
        size = f"{SIZES[study]}; n = {len({line['image'] for line in own if line['steps'] > 0})}"  # fits, not fillings
        try:
            outcome, evidence = claim.judge(own)
        except (KeyError, TypeError, AttributeError, statistics.StatisticsError):  # rows are missing, or damaged
            begun = begun or (size if study.endswith(FAIR) else "")
            continue
        repeat = command(claim.item, scale)
        return Verdict(claim.text, outcome if study.endswith(FAIR) else UNDECIDED, evidence, claim.where, repeat, size)
    # of the scales that can judge, the smallest
    repeat = command(claim.item, next((name for name in ("half", "paper") if f"{claim.study}-{name}" in SIZES), ""))
    return Verdict(claim.text, UNDECIDED, "begun, not finished" if begun else "", claim.where, repeat, begun)


# ── two methods, picture by picture ──────────────────────────────────────────────────────────────────────────────────


def metric(name: str) -> Read:
    """Reads a metric of a line."""
    return lambda line: line["metrics"].get(name)


def by_picture(lines: Lines, group: str, read: Read) -> dict[tuple[str, str], float]:
    """A number of a group's lines, by picture and what was seen of it."""
    own = [line for line in lines if line["group"] == group]
    return {(line["image"], line["observe"]): value for line in own if (value := read(line)) is not None}


def mean_of(lines: Lines, group: str, read: Read) -> float:
    """The mean of a number over the lines of a group; a StatisticsError when there is none."""
    return statistics.fmean(by_picture(lines, group, read).values())


def compared(lines: Lines, ours: str, theirs: str, read: Read, close: float, sign: int = 1) -> str:
    """Whether one group is above another (below: sign -1), over the pictures that both have."""
    left, right = by_picture(lines, ours, read), by_picture(lines, theirs, read)
    if not left or not right:
        raise KeyError(theirs)
    return decided([sign * (left[key] - right[key]) for key in left if key in right], close)


def not_below(left: Mapping[Any, float], right: Mapping[Any, float], margin: float) -> str:
    """Whether numbers are not below others by more than a margin, over the pictures that both have.

    >>> not_below({1: 30.0, 2: 31.0}, {1: 30.3, 2: 31.2}, 0.5), not_below({1: 20.0, 2: 40.0}, {1: 30.0, 2: 31.0}, 0.5)
    ('holds', 'not decided here')
    """
    return decided([left[key] - right[key] + margin for key in left if key in right], 0.0)


def ahead(ours: str, read: Read, name: str, *, sign: int = 1, others: Sequence[str] = BASELINES) -> Judge:
    """One of ours is ahead of every other row in a measure."""
    digits = 2 if name == "psnr" else 4

    def judge(lines: Lines) -> tuple[str, str]:
        verdicts = {row: compared(lines, ours, row, read, CLOSE[name], sign) for row in others}
        values = ", ".join(f"{row} {mean_of(lines, row, read):.{digits}f}" for row in (ours, *others))
        short = [row for row, each in verdicts.items() if each != HOLDS]
        words = f"; not clearly ahead of {', '.join(short)}" if short else ""
        if len(by_picture(lines, ours, read)) < 2:
            words = "; a single picture decides nothing"
        return combined(list(verdicts.values())), f"{name.upper()}: {values}{words}"

    return judge


def competitive(ours: str, theirs: str) -> Judge:
    """One of ours is not visibly below another method."""

    def judge(lines: Lines) -> tuple[str, str]:
        left, right = (by_picture(lines, row, metric("psnr")) for row in (ours, theirs))
        values = ", ".join(f"{row} {mean_of(lines, row, metric('psnr')):.2f}" for row in (ours, theirs))
        return not_below(left, right, CLOSE["psnr"]), f"PSNR: {values}"

    return judge


# ── image fitting ────────────────────────────────────────────────────────────────────────────────────────────────────


def smoother(row: str) -> Judge:
    """A method loses fine detail that Ours-Sine keeps: power beyond a quarter cycle per pixel against the truth's."""

    def judge(lines: Lines) -> tuple[str, str]:
        verdict = compared(lines, "al-sine", row, lambda line: line["detail"]["kept"], 0.05)
        values = ", ".join(
            f"{each} {mean_of(lines, each, lambda line: line['detail']['kept']):.0%}" for each in (row, "al-sine")
        )
        return verdict, f"power of fine detail kept: {values}"

    return judge


def artefacts(lines: Lines) -> tuple[str, str]:
    """MFN adds fine detail where the picture is smooth, more than any other method."""
    others = [row for row in (*BASELINES, "al-relu", "al-sine") if row != "mfn"]
    verdicts = [compared(lines, "mfn", row, _added, 0.25) for row in others]
    values = ", ".join(f"{row} {mean_of(lines, row, _added):+.2f}" for row in ("mfn", *others))
    return combined(verdicts), f"fine detail added where the picture is smooth, levels of 255: {values}"


def _added(line: Any) -> float:
    return float(line["detail"]["added"])


def smaller_than_diner(name: str, unit: str, scale: float, close: float) -> Judge:
    """Ours takes less than DINER, whose rows have two features: a number of the lines, undecided within a share."""

    def judge(lines: Lines) -> tuple[str, str]:
        rows = ("al-sine", "diner", "diner, one feature")
        amounts = {row: mean_of(lines, row, lambda line: line[name]) / scale for row in rows}
        values = ", ".join(f"{row} {amounts[row]:,.0f}" for row in rows)
        share = amounts["al-sine"] / amounts["diner"] - 1
        return (UNDECIDED if abs(share) <= close else HOLDS if share < 0 else FAILS), f"{unit}: {values}"

    return judge


# ── α ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def alpha_follows(group: str) -> Judge:
    """α is higher where the picture has edges and texture: on every picture, clearly, and not by chance."""

    def judge(lines: Lines) -> tuple[str, str]:
        own = [line for line in lines if line["group"] == group and line.get("alpha")]
        spread = statistics.fmean(line["alpha"].get("spread", 0.0) for line in own)
        moved = [line for line in own if line["alpha"]["structure"] is not None and line.get("meaning")]
        if not moved:
            return UNDECIDED, f"α did not move: its standard deviation is {spread:.1e} channels"
        rho = [line["meaning"]["gradient"] for line in moved]
        significant = [line["meaning"]["p_gradient"] <= LEVEL and line["meaning"]["gradient"] > 0 for line in moved]
        evidence = (
            f"rank correlation of α with gradient energy over blocks: {statistics.fmean(rho):+.2f} "
            f"({min(rho):+.2f} … {max(rho):+.2f}), significant on {sum(significant)} of {len(moved)}; "
            f"α varies by {spread:.2g} channels"
        )
        if len(moved) < 2:
            return UNDECIDED, evidence
        if all(significant) and min(rho) > CLEAR:
            return HOLDS, evidence
        return (FAILS if statistics.fmean(rho) < CLEAR and not all(significant) else UNDECIDED), evidence

    return judge


# ── the kernel of fitted fields ──────────────────────────────────────────────────────────────────────────────────────


def kept_better(ours: str, base: str) -> Judge:
    """Intermediate components of the kernel are kept better than by the same network without the filter."""

    def judge(lines: Lines) -> tuple[str, str]:
        import torch

        from alfilter.analysis.ntk_facts import retention_by_range

        spectra: list[dict[str, Any]] = [
            {line["image"]: line["kernel"]["spectrum"] for line in lines if line["group"] == row}
            for row in (ours, base)
        ]
        pairs = [(spectra[0][key], spectra[1][key]) for key in spectra[0] if key in spectra[1]]
        retentions = [retention_by_range(*(torch.tensor(each, dtype=torch.float64) for each in pair)) for pair in pairs]
        logs = [math.log(value) for each in retentions for part in ("low", "middle") if (value := each[part])]
        words = f"retention against {base}: {math.exp(statistics.fmean(logs)):.3g}"
        return (decided(logs, math.log(1.1)) if len(pairs) > 1 else UNDECIDED), words

    return judge


def less_dominant(ours: str, base: str) -> Judge:
    """The first eigenvalue dominates less than without the filter."""
    read: Read = lambda line: line["kernel"]["first"]  # noqa: E731

    def judge(lines: Lines) -> tuple[str, str]:
        verdict = compared(lines, ours, base, read, 0.01, -1)
        values = ", ".join(f"{row} {mean_of(lines, row, read):.3f}" for row in (ours, base))
        return verdict, f"λ_1/Σλ: {values}"

    return judge


# ── pictures with gaps ───────────────────────────────────────────────────────────────────────────────────────────────


def recovers(group: str, observe: str, name: str, close: float) -> Judge:
    """What is missing is recovered: a measure of it is not below that of linear interpolation by more than `close`."""
    label = {"structure": "SSIM of the blurred picture", "ssim": "SSIM"}[name]

    def judge(lines: Lines) -> tuple[str, str]:
        own = [line for line in lines if line["observe"] == observe]
        ours = by_picture(own, group, metric(name))
        own = [line for line in own if (line["image"], observe) in ours]  # the pictures that both have
        line = by_picture(own, gaps.LINEAR, metric(name))
        verdict = not_below(ours, line, close)
        unseen = {row: mean_of(own, row, lambda line: line["heldout"]["psnr"]) for row in (group, gaps.LINEAR)}
        evidence = (
            f"{label}: {statistics.fmean(ours.values()):.3f}, linear interpolation "
            f"{statistics.fmean(line.values()):.3f}; "
            f"unseen pixels {unseen[group]:.2f} and {unseen[gaps.LINEAR]:.2f} dB"
        )
        return verdict, evidence

    return judge


def variation_helps(group: str) -> Judge:
    """The total variation on α helps between the seen pixels."""

    def judge(lines: Lines) -> tuple[str, str]:
        unseen: Read = lambda line: line["heldout"]["psnr"]  # noqa: E731
        ours, plain = by_picture(lines, group, unseen), by_picture(lines, gaps.PLAIN, unseen)
        gains = [ours[key] - plain[key] for key in ours if key in plain]
        spread = statistics.fmean(line["alpha"].get("spread", 0.0) for line in lines if line["group"] == group)
        evidence = f"gain on unseen pixels {statistics.fmean(gains):+.2f} dB; α varies by {spread:.1e} channels"
        return decided(gains, CLOSE["psnr"]), evidence

    return judge


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def best_shapes(name: str) -> Judge:
    """Ours-Sine has the best average Chamfer, above its floor in 1e-6, or IoU."""
    read: Read = (
        (lambda line: 1e6 * (line["metrics"]["chamfer"] - line["metrics"]["chamfer_floor"]))
        if name == "chamfer"
        else metric("iou")
    )
    close, sign = (0.05, -1) if name == "chamfer" else (0.001, 1)

    def judge(lines: Lines) -> tuple[str, str]:
        others = sorted({line["group"] for line in lines if line["method"] != "al-sine"})
        verdicts = [compared(lines, "al-sine", row, read, close, sign) for row in others]
        values = ", ".join(f"{row} {mean_of(lines, row, read):.4f}" for row in ("al-sine", *others))
        label = "Chamfer above its floor in 1e-6" if name == "chamfer" else "IoU"
        return combined(verdicts), f"{label}: {values}"

    return judge


def normals(part: str, ours: str, others: Sequence[str]) -> Judge:
    """A method's normals are right on a part of the surface, more than those of others."""

    def judge(lines: Lines) -> tuple[str, str]:
        verdicts = [compared(lines, ours, row, metric(f"normals_{part}"), 0.005) for row in others]
        values = ", ".join(f"{row} {mean_of(lines, row, metric(f'normals_{part}')):.1%}" for row in (ours, *others))
        return combined(verdicts), f"agreement of normals, {part}: {values}"

    return judge


_TABLE, _CURVES, _CROPS = "Table 2d_comparison", "Fig. psnr_comparison", "Fig. fig2dcomparison"
_SHAPES, _VIEWS, _GAPS = "Table sdf_comparison", "Fig. armadillo", "Fig. inpainting"
_FIT = "image-fitting"
CLAIMS: tuple[Claim, ...] = (
    Claim("Ours stores less than DINER when its features are more than one number", "Table complexity", "memory",
          "memory", smaller_than_diner("params", "numbers stored", 1, 0.0)),
    Claim("… and is more memory-efficient in training", "Table complexity", "memory", "memory",
          smaller_than_diner("peak_memory", "peak of the process in MiB", 2**20, 0.1)),
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-Sine)", "Fig. alpha_viz", _FIT,
          "alpha-maps", alpha_follows("al-sine")),
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-ReLU)", "Fig. alpha_viz", _FIT,
          "alpha-maps", alpha_follows("al-relu")),
    *(Claim(f"{words} ({name}, fitted)", "Fig. ntk_spectrum", _FIT, _FIT, judge(row, base))
      for words, judge in (("Intermediate components of the kernel are kept better", kept_better),
                           ("The first eigenvalue dominates less", less_dominant))
      for name, row, base in (("Ours-Sine", "al-sine", UNFILTERED), ("Ours-ReLU", "al-relu", "pe-mlp"))),
    *(Claim(f"{name} converges faster than the baselines early on", _CURVES, "first-steps", "first-steps",
            ahead(row, lambda line: psnr_at(line, 100), "psnr"))
      for name, row in (("Ours-Sine", "al-sine"), ("Ours-ReLU", "al-relu"))),
    *(Claim(f"{name} reaches a higher final PSNR than the baselines", _CURVES, _FIT, "convergence",
            ahead(row, metric("psnr"), "psnr")) for name, row in (("Ours-Sine", "al-sine"), ("Ours-ReLU", "al-relu"))),
    *(Claim(f"Ours-Sine is best in {name.upper()}", _TABLE, _FIT, _FIT,
            ahead("al-sine", metric(name), name, sign=sign, others=(*BASELINES, "al-relu")))
      for name, sign in (("psnr", 1), ("ssim", 1), ("lpips", -1))),
    Claim("Ours-ReLU outperforms fixed positional encoding", _TABLE, _FIT, _FIT,
          ahead("al-relu", metric("psnr"), "psnr", others=("pe-mlp",))),
    *(Claim(f"Ours-ReLU is competitive with {row}", _TABLE, _FIT, _FIT, competitive("al-relu", row))
      for row in ("siren", "mfn", "diner")),
    *(Claim(f"{name} is smoother than Ours-Sine", _CROPS, _FIT, "crops", smoother(row))
      for name, row in (("PE-MLP", "pe-mlp"), ("SIREN", "siren"))),
    Claim("MFN shows high-frequency artefacts", _CROPS, _FIT, "crops", artefacts),
    Claim("Ours-Sine has the best average Chamfer", _SHAPES, "shapes", "shapes", best_shapes("chamfer")),
    Claim("Ours-Sine has the best average IoU", _SHAPES, "shapes", "shapes", best_shapes("iou")),
    *(Claim(f"Ours {words}", _VIEWS, "shape-views", "shape-views",
            normals(part, "al-sine", ("pe-mlp", "siren", "bacon")))
      for part, words in (("detail", "keeps fine geometry"), ("smooth", "stays smooth where the shape is"))),
    Claim("SIREN loses detail that BACON keeps", _VIEWS, "shape-views", "shape-views",
          normals("detail", "bacon", ("siren",))),
    Claim("BACON is rough where SIREN is smooth", _VIEWS, "shape-views", "shape-views",
          normals("smooth", "siren", ("bacon",))),
    *(Claim(f"At 5 % of the pixels the structure of the scene is recovered{words}", _GAPS, "sparse", "sparse",
            recovers(row, "random:0.05", "structure", 0.05))
      for row, words in ((gaps.PAPER, ""), (gaps.LOW, " (if α starts low)"))),
    *(Claim(f"At 35 % of the pixels finer texture and edges are recovered{words}", _GAPS, "sparse", "sparse",
            recovers(row, "random:0.35", "ssim", 0.05))
      for row, words in ((gaps.PAPER, ""), (gaps.LOW, " (if α starts low)"))),
    *(Claim(f"Total variation on α is promising for sparse reconstruction ({words})", _GAPS, "sparse", "sparse",
            variation_helps(row)) for row, words in ((gaps.PAPER, "summed, as printed"), (gaps.MEAN, "averaged"))),
    *(Claim(f"From sparse pixels α is still higher at boundaries and detail ({words})", _GAPS, "sparse", "sparse",
            alpha_follows(row))
      for row, words in ((gaps.PAPER, "summed total variation, as printed"), (gaps.MEAN, "averaged"))),
)  # fmt: skip
