"""The paper's NTK figure: normalised spectra and retention against the standard Fourier feature network.

At the random start, in the paper's setting. al-sine differs from that baseline in its layers too, so it has a control
of ours beside it: the same sine network without the filter. The kernels of fitted fields are those of `image-fitting`,
whose fits go to the end: the verdicts about them are with the claims.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from alfilter.experiments.fitting import cropped_task, prepare_run
from alfilter.experiments.study import Lines, Run, Study, table
from alfilter.experiments.verdicts import Verdict, decided, verdict_table

IMAGES = ("div2k/01.png", "div2k/05.png", "div2k/09.png")
SIZE, POINTS = 96, 1024
OPEN = {"bandwidth": 1e4, "grid": 2}  # every channel passes everywhere: positional encoding before the same network
BASELINE, CONTROL = "pe-mlp", "al-sine without filter"
# name → method, options, and the rows it is compared with
ROWS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    BASELINE: ("pe-mlp", {}, ()),
    "al-relu": ("al-relu", {}, (BASELINE,)),
    "al-relu, start 0": ("al-relu", {"start": 0.0}, (BASELINE,)),
    CONTROL: ("al-sine", OPEN, ()),
    "al-sine": ("al-sine", {}, (BASELINE, CONTROL)),
    "al-sine, start 0": ("al-sine", {"start": 0.0}, (BASELINE, CONTROL)),
}
AGAINST = {BASELINE: "pe-mlp", CONTROL: "the same sine network without the filter (our control)"}
CLOSE = math.log(1.1)  # factors within which two spectra, or two shares of the first eigenvalue, count as equal


def runs() -> list[Run]:
    """Every row at its start; three seeds, each with a crop of its own."""
    return [
        Run(row, image, method, "paper", SIZE, "all", seed, settings)
        for row, (method, settings, _) in ROWS.items()
        for seed, image in enumerate(IMAGES)
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The kernel of one field, with and without the α grid's own part."""
    from alfilter.analysis.ntk_facts import kernel_facts
    from alfilter.analysis.spectrum import normalised

    field = prepare_run(run, cropped_task(run, data)).field
    both, network = (kernel_facts(field, POINTS, part, run.seed) for part in ("both", "network"))
    metrics = {
        "effective_rank": both.effective_rank,
        "effective_rank_network": network.effective_rank,
        "order": both.order,
        "first": float(both.eigenvalues[0] / both.eigenvalues.sum()),
    }
    spectra = {
        part: [float(f"{v:.5g}") for v in normalised(facts.eigenvalues).tolist()]
        for part, facts in (("both", both), ("network", network))
    }
    return {**run.heading, "metrics": metrics, "heldout": None,
            "spectra": spectra, "octaves": both.numbers()["octaves"]}  # fmt: skip


def retentions(lines: Lines, row: str, base: str, part: str = "both") -> list[dict[str, float | None]]:
    """The retention of a row against another, seed by seed."""
    import torch

    from alfilter.analysis.ntk_facts import retention_by_range

    by_run = {(line["group"], line["seed"]): line for line in lines}
    pairs = [
        (line["spectra"][part], by_run[base, line["seed"]]["spectra"][part])
        for line in lines
        if line["group"] == row and (base, line["seed"]) in by_run
    ]
    return [retention_by_range(*(torch.tensor(v, dtype=torch.float64) for v in pair)) for pair in pairs]


def summarise(lines: Lines) -> str:
    """Ranks, retention by part of the spectrum, verdicts."""
    parts = [
        table(
            lines,
            {
                "effective rank": lambda line: line["metrics"]["effective_rank"],
                "of the network alone": lambda line: line["metrics"]["effective_rank_network"],
                "λ_1 / Σλ": lambda line: line["metrics"]["first"],
                "frequency order": lambda line: line["metrics"]["order"],
            },
        ),
        "",
        "| retention, all parameters (network alone) | against | first 1/64 | to 1/8 | to 1/2 | tail |",
        "|---|---|---|---|---|---|",
    ]
    for row, base in _comparisons():
        if not _values(lines, row, base, "low"):
            continue  # not all runs are there yet
        cells = [
            f"{_mean(lines, row, base, name, 'both')} ({_mean(lines, row, base, name, 'network')})"
            for name in ("first", "low", "middle", "tail")
        ]
        parts.append("| " + " | ".join([row, base, *cells]) + " |")
    return "\n".join([*parts, "", verdict_table(_verdicts(lines))])


def _comparisons() -> list[tuple[str, str]]:
    return [(row, base) for row, (_, _, bases) in ROWS.items() for base in bases]


def _values(lines: Lines, row: str, base: str, name: str, part: str = "both") -> list[float]:
    return [value for each in retentions(lines, row, base, part) if (value := each[name]) is not None]


def _mean(lines: Lines, row: str, base: str, name: str, part: str) -> str:
    values = _values(lines, row, base, name, part)
    return f"{statistics.geometric_mean(values):.3g}" if values else "–"


def _verdicts(lines: Lines) -> list[Verdict]:
    """Each over the seeds: undecided within `CLOSE` or within the spread. Rows that start elsewhere judge nothing."""
    verdicts = []
    for row, base in _comparisons():
        low, middle, tail = (_values(lines, row, base, name) for name in ("low", "middle", "tail"))
        if "," in row or not low or not middle or not tail:
            continue
        middles = [math.log(a * b) / 2 for a, b in zip(low, middle, strict=True)]
        lead = [a - math.log(b) for a, b in zip(middles, tail, strict=True)]
        ours, theirs = (_first(lines, name) for name in (row, base))
        shared = [seed for seed in ours if seed in theirs]
        gains = [math.log(theirs[seed] / ours[seed]) for seed in shared]
        firsts = [statistics.fmean(each[seed] for seed in shared) for each in (ours, theirs)]
        means = [math.exp(statistics.fmean(each)) for each in (middles, map(math.log, tail))]
        claims = (
            ("intermediate components are kept better", decided(middles, CLOSE),
             f"retention of the middle {math.exp(min(middles)):.3g} … {math.exp(max(middles)):.3g} over the seeds"),
            ("the dominance of the first eigenvalue falls", decided(gains, CLOSE),
             f"λ_1/Σλ {firsts[0]:.3f} against {firsts[1]:.3f}"),
            ("the tail does not grow as much as the middle", decided(lead, CLOSE),
             f"retention of the middle {means[0]:.3g}, of the tail {means[1]:.3g}"),
        )  # fmt: skip
        size = f"{POINTS:,} points, 3×256, at the start; n = {len(middles)}"
        pair = f"{row} against {AGAINST[base]}"
        verdicts += [
            Verdict(f"{pair}: {claim}", outcome, evidence, "Fig. ntk_spectrum", "alfilter experiment ntk", size)
            for claim, outcome, evidence in claims
        ]
    return verdicts


def _first(lines: Lines, row: str) -> dict[int, float]:
    return {line["seed"]: line["metrics"]["first"] for line in lines if line["group"] == row}


STUDY = Study("ntk", runs, summarise, execute)
