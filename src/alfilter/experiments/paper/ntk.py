"""The paper's NTK figure: normalised spectra and retention against the same network without the filter."""

from __future__ import annotations

import statistics
from typing import Any

from alfilter.experiments.fitting import cropped_task, prepare_run
from alfilter.experiments.study import Lines, Run, Study, table
from alfilter.experiments.verdicts import verdict, verdict_table

IMAGES = ("div2k/01.png", "div2k/05.png", "div2k/09.png")
SIZE, POINTS = 96, 1024
ENDS = {"placement": "ends"}  # γ's scales as cycles across the domain
OPEN = {"bandwidth": 1e4, "grid": 2}  # every channel passes everywhere: positional encoding before the same network
# name → method, options, and the row it is compared with
ROWS: dict[str, tuple[str, dict[str, Any], str | None]] = {
    "pe-mlp": ("pe-mlp", {}, None),
    "al-relu": ("al-relu", {}, "pe-mlp"),
    "al-relu, start 0": ("al-relu", {"start": 0.0}, "pe-mlp"),
    "al-sine without filter": ("al-sine", OPEN, None),
    "al-sine": ("al-sine", {}, "al-sine without filter"),
    "al-sine, start 0": ("al-sine", {"start": 0.0}, "al-sine without filter"),
}
STAGES: dict[str, dict[str, Any]] = {"start": {}, "fitted": {"steps": 500, "batch": 2048}}


def runs() -> list[Run]:
    """Every row at its start and after a fit; three seeds, each with a crop of its own."""
    return [
        Run(f"{row}, {stage}", image, method, "paper", SIZE, "all", seed, {**ENDS, **settings}, recipe)
        for stage, recipe in STAGES.items()
        for row, (method, settings, _) in ROWS.items()
        for seed, image in enumerate(IMAGES)
    ]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The kernel of one field, with and without the α grid's own part."""
    import torch

    from alfilter.analysis.ntk_facts import kernel_facts
    from alfilter.analysis.spectrum import normalised

    torch.set_num_threads(threads)
    prepared = prepare_run(run, cropped_task(run, data))
    field = prepared.fit().field if run.training else prepared.field
    quality = {"psnr": float(prepared.task.evaluate(field).metrics["psnr"])} if run.training else {}
    both, network = (kernel_facts(field, POINTS, part, run.seed) for part in ("both", "network"))
    metrics = {
        **quality,
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


def retentions(lines: Lines, row: str, stage: str, part: str = "both") -> list[dict[str, float | None]]:
    """The retention of a row against its baseline, seed by seed."""
    import torch

    from alfilter.analysis.ntk_facts import retention_by_range

    base = ROWS[row][2]
    by_run = {(line["group"], line["seed"]): line for line in lines}
    pairs = [
        (line["spectra"][part], by_run[f"{base}, {stage}", line["seed"]]["spectra"][part])
        for line in lines
        if line["group"] == f"{row}, {stage}"
    ]
    return [retention_by_range(*(torch.tensor(v, dtype=torch.float64) for v in pair)) for pair in pairs]


def summarise(lines: Lines) -> str:
    """Ranks, retention by part of the spectrum, verdicts."""
    parts = [
        table(
            lines,
            {
                "PSNR, dB": lambda line: line["metrics"].get("psnr"),
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
    compared = {row: base for row, (_, _, base) in ROWS.items() if base}
    for stage in STAGES:
        for row, base in compared.items():
            if not _values(lines, row, stage, "low"):
                continue  # not all runs are there yet
            cells = [
                f"{_mean(lines, row, stage, name, 'both')} ({_mean(lines, row, stage, name, 'network')})"
                for name in ("first", "low", "middle", "tail")
            ]
            parts.append("| " + " | ".join([f"{row}, {stage}", base, *cells]) + " |")
    return "\n".join([*parts, "", verdict_table(_verdicts(lines))])


def _values(lines: Lines, row: str, stage: str, name: str, part: str = "both") -> list[float]:
    return [value for each in retentions(lines, row, stage, part) if (value := each[name]) is not None]


def _mean(lines: Lines, row: str, stage: str, name: str, part: str) -> str:
    values = _values(lines, row, stage, name, part)
    return f"{statistics.geometric_mean(values):.3g}" if values else "–"


def _verdicts(lines: Lines) -> list[Any]:
    """At the start alone: these fits are too short to judge the fitted kernel."""
    verdicts, stage = [], "start"
    for row in ("al-relu", "al-sine"):
        base = ROWS[row][2]
        middle = _values(lines, row, stage, "low") + _values(lines, row, stage, "middle")
        tail = _values(lines, row, stage, "tail")
        if not middle or not tail:
            continue
        first = {
            name: {line["seed"]: line["metrics"]["first"] for line in lines if line["group"] == f"{name}, {stage}"}
            for name in (row, str(base))
        }
        ours, theirs = first[row], first[str(base)]
        verdicts += [
            verdict(
                f"{row}, {stage}: intermediate components are kept better than without the filter",
                min(middle) > 1,
                f"retention {min(middle):.3g} … {max(middle):.3g} over seeds and both middle parts",
            ),
            verdict(
                f"{row}, {stage}: the dominance of the first eigenvalue falls",
                all(ours[seed] < theirs[seed] for seed in ours),
                f"λ_1/Σλ {statistics.fmean(ours.values()):.3f} against {statistics.fmean(theirs.values()):.3f}, "
                f"smaller for {sum(ours[seed] < theirs[seed] for seed in ours)} of {len(ours)} seeds",
            ),
            verdict(
                f"{row}, {stage}: the tail does not grow as much as the middle",
                statistics.geometric_mean(tail) < statistics.geometric_mean(middle),
                f"tail {statistics.geometric_mean(tail):.3g}, middle {statistics.geometric_mean(middle):.3g}",
            ),
        ]
    return verdicts


STUDY = Study("ntk", runs, summarise, execute)
