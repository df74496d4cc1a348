"""The paper's figure of filter responses: what passes at which α, how sharp the edges are, how many scales pass."""

from __future__ import annotations

from typing import Any

from alfilter.experiments.study import Lines, Run, Study
from alfilter.experiments.verdicts import Verdict, graded, verdict_table

NOWHERE = "none"
IN_DIM, LEVELS = 2, 8
ALPHAS = 2001  # over its whole range
SETTINGS: dict[str, dict[str, float]] = {
    "paper: B 20, κ 10": {"bandwidth": 20.0, "kappa": 10.0},
    "B 8, κ 10": {"bandwidth": 8.0, "kappa": 10.0},
    "B 8, κ 2": {"bandwidth": 8.0, "kappa": 2.0},
}
CURVES = (0.0, 8.0, 16.0, 24.0, 31.0)  # α of the drawn curves


def runs() -> list[Run]:
    """One computation per setting; nothing is fitted."""
    return [Run(group, NOWHERE, settings=settings) for group, settings in SETTINGS.items()]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The responses at a fine grid of α, and what follows from them."""
    import torch

    from alfilter.analysis import pass_band
    from alfilter.core import band_response, scale_response

    del data
    bandwidth, kappa = run.settings["bandwidth"], run.settings["kappa"]
    channels = 2 * IN_DIM * LEVELS
    low, high = -bandwidth / 2, channels - 1 + bandwidth / 2
    alpha = torch.linspace(low, high, ALPHAS, dtype=torch.float64, requires_grad=True)
    response = band_response(alpha, channels, bandwidth, kappa)  # (n, C)
    scales = scale_response(alpha.detach(), IN_DIM, LEVELS, bandwidth, kappa)
    first, last, width = pass_band(alpha.detach(), channels, bandwidth, kappa)
    is_low, is_high = (first == 0) & (last >= 0), (last == channels - 1) & (first < channels)
    # the steepest channel's |∂H/∂α| at every α: where it is small, α cannot be learned
    slope = torch.stack(
        [torch.autograd.grad(response[:, c].sum(), alpha, retain_graph=True)[0].abs() for c in range(channels)]
    ).amax(0)
    inside = (first > 0) & (last < channels - 1)
    centre = (torch.arange(channels) * response).sum(-1) / response.sum(-1)
    metrics = {
        "low_pass": float((is_low & ~is_high).double().mean()),
        "band_pass": float(inside.double().mean()),
        "high_pass": float((is_high & ~is_low).double().mean()),
        "all_pass": float((is_low & is_high).double().mean()),
        "width_inside": float(width[inside].mean()) if bool(inside.any()) else float("nan"),
        "scales_inside": float((scales[inside] > 0.5).double().sum(-1).mean()) if bool(inside.any()) else float("nan"),
        "edge": 2 * 2.1972245773362196 / kappa,  # ln 9: channels between a response of 0.1 and of 0.9
        "slope_largest": float(slope.max()),
        "slope_median": float(slope.median()),
        "slope_least": float(slope.min()),
        "centre_rises": float((centre.detach().diff() >= -1e-9).double().mean()),
    }
    curves = band_response(torch.tensor(CURVES, dtype=torch.float64), channels, bandwidth, kappa)
    return {**run.heading, "metrics": metrics, "heldout": None,
            "curves": {f"{a:g}": [round(v, 5) for v in row] for a, row in zip(CURVES, curves.tolist(), strict=True)},
            "scales": {"alpha": alpha.detach()[::20].tolist(), "response": scales[::20].T.tolist()}}  # fmt: skip


def summarise(lines: Lines) -> str:
    """What the band does over the range of α, and verdicts for the paper's setting."""
    names = {
        "low_pass": "low-pass share of α", "band_pass": "band-pass", "high_pass": "high-pass",
        "width_inside": "channels that pass", "scales_inside": "of 8 scales", "edge": "edge 0.1–0.9, channels",
        "slope_least": "least slope ∂H/∂α", "slope_median": "median", "slope_largest": "largest",
    }  # fmt: skip
    rows = ["| setting | " + " | ".join(names.values()) + " |", "|---|" + "---|" * len(names)]
    rows += [
        "| " + " | ".join([line["group"], *(f"{line['metrics'][name]:.3g}" for name in names)]) + " |" for line in lines
    ]
    paper = next(line["metrics"] for line in lines if line["group"].startswith("paper"))
    return "\n".join([*rows, "", verdict_table(_verdicts(paper))])


def _verdicts(paper: dict[str, float]) -> list[Verdict]:
    """Of the paper's setting; where a number is judged by a bar, a margin below it is undecided."""
    claims = (
        (
            "low-pass near the low end, band-pass inside, high-pass near the high end",
            graded(min(paper["low_pass"], paper["band_pass"], paper["high_pass"]), 0.1, 0.05),
            f"shares {paper['low_pass']:.2f}, {paper['band_pass']:.2f}, {paper['high_pass']:.2f} of the range of α",
        ),
        (
            "the transition is smooth",
            graded(paper["centre_rises"], 0.999, 0.99),
            f"the centre of the band rises with α throughout; but an edge is {paper['edge']:.2f} channels wide, and "
            f"the slope ∂H/∂α of the steepest channel goes from {paper['slope_least']:.3f} to "
            f"{paper['slope_largest']:.2f}",
        ),
        (
            "B is the bandwidth in channels",
            graded(abs(paper["width_inside"] - 20), 0.5, 1.0),
            f"Σ_c H = {paper['width_inside']:.2f} inside, that is {paper['scales_inside']:.1f} of 8 scales at once",
        ),
    )
    size = f"{2 * IN_DIM * LEVELS} channels, {ALPHAS:,} values of α; nothing is fitted"
    return [Verdict(*claim, "Fig. filter_response", "alfilter experiment responses", size) for claim in claims]


STUDY = Study("responses", runs, summarise, execute)
