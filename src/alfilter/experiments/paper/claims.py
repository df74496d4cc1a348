"""The paper's claims, each judged by result lines: holds, does not hold, not decided here.

A verdict is computed, never written by hand: `judged` takes the lines of the studies and says what they say. Only runs
at the paper's size or with every size halved together can judge; a smaller twin shows its numbers and decides nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.image_fitting import FIRST, UNFILTERED, psnr_at
from alfilter.experiments.paper.judging import (
    BASELINES,
    OPEN,
    Judge,
    Lines,
    ahead,
    alpha_follows,
    artefacts,
    best_shapes,
    competitive,
    finer,
    kept_better,
    less_dominant,
    metric,
    normals,
    recovers,
    smaller_than_diner,
    smoother,
    variation_helps,
)
from alfilter.experiments.verdicts import UNDECIDED, Verdict

Command = Callable[[str, str], str]
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
    "shape-views-half": "8×256, 10,000 steps, 512³",
    "shape-views": "3×160, 30 core seconds: too small",
}
FAIR = ("memory", "first-steps", "-paper", "-half")  # how the names of studies end whose lines can judge


@dataclass(frozen=True)
class Claim:
    """What the paper says, where, and which study can tell. judge: the study's lines → what they say."""

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
        try:
            outcome, evidence, pictures = claim.judge(own)
        except (KeyError, TypeError, AttributeError, statistics.StatisticsError):  # rows are missing, or damaged
            fits = {line["image"] for line in own if line["steps"] > 0}  # not fillings
            begun = begun or (f"{SIZES[study]}; n = {len(fits)}" if study.endswith(FAIR) else "")
            continue
        outcome = outcome if study.endswith(FAIR) else UNDECIDED
        size = f"{SIZES[study]}; n = {pictures}"
        return Verdict(claim.text, outcome, evidence, claim.where, command(claim.item, scale), size)
    # of the scales that can judge, the smallest
    repeat = command(claim.item, next((name for name in ("half", "paper") if f"{claim.study}-{name}" in SIZES), ""))
    return Verdict(claim.text, UNDECIDED, "begun, not finished" if begun else "", claim.where, repeat, begun)


_TABLE, _CURVES, _CROPS = "Table 2d_comparison", "Fig. psnr_comparison", "Fig. fig2dcomparison"
_SHAPES, _VIEWS, _GAPS = "Table sdf_comparison", "Fig. armadillo", "Fig. inpainting"
_FIT = "image-fitting"
CLAIMS: tuple[Claim, ...] = (
    Claim("Ours stores less than DINER when its features are more than one number", "Table complexity", "memory",
          "memory", smaller_than_diner("params", "numbers stored", 1, 0.0)),
    Claim("… and can be more memory-efficient (our reading: peak memory while training)", "Table complexity", "memory",
          "memory", smaller_than_diner("peak_memory", "peak of the process in MiB", 2**20, 0.1)),
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-Sine)", "Fig. alpha_viz", _FIT,
          "alpha-maps", alpha_follows("al-sine")),
    Claim("α is higher at edges and texture, lower in smooth regions (Ours-ReLU)", "Fig. alpha_viz", _FIT,
          "alpha-maps", alpha_follows("al-relu")),
    *(Claim(f"{words} {than} ({name}, fitted)", "Fig. ntk_spectrum", _FIT, _FIT, judge(row, base))
      for words, judge in (("Intermediate components of the kernel are kept better", kept_better),
                           ("The first eigenvalue dominates less", less_dominant))
      for name, row, base, than in (
          ("Ours-Sine", "al-sine", "pe-mlp", "than in the standard Fourier feature network"),
          ("Ours-ReLU", "al-relu", "pe-mlp", "than in the standard Fourier feature network"),
          ("Ours-Sine", "al-sine", UNFILTERED, "than in the same sine network without the filter, our control"))),
    *(Claim(f"{name} converges faster than the baselines early on", _CURVES, "first-steps", "first-steps",
            ahead(row, lambda line: psnr_at(line, FIRST), "psnr", open_points=OPEN))
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
            recovers(row, gaps.OBSERVED[0]))
      for row, words in ((gaps.PAPER, ""), (gaps.LOW, " (if α starts low)"))),
    *(Claim(f"At 35 % of the pixels finer texture and edges are recovered than at 5 %{words}", _GAPS, "sparse",
            "sparse", finer(row))
      for row, words in ((gaps.PAPER, ""), (gaps.LOW, " (if α starts low)"))),
    *(Claim(f"Total variation on α is promising for sparse reconstruction ({words})", _GAPS, "sparse", "sparse",
            variation_helps(row)) for row, words in ((gaps.PAPER, "summed, as printed"), (gaps.MEAN, "averaged"))),
    *(Claim(f"From sparse pixels α is still higher at boundaries and detail ({words})", _GAPS, "sparse", "sparse",
            alpha_follows(row))
      for row, words in ((gaps.PAPER, "summed total variation, as printed"), (gaps.MEAN, "averaged"))),
)  # fmt: skip
