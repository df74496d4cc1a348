"""The paper's table of methods: its yes and no beside ours, and what can be measured of it.

A parameter is local when changing it changes the field on less than a tenth of the domain. A method that is spatially
adaptive or position-dependent must have local parameters; one that is neither should have none.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from alfilter.experiments.paper.printed import TRAITS
from alfilter.experiments.study import Lines, Run, Study

SIDE = 48  # places along each axis at which a field is looked at
PARAMETERS = 200  # drawn from all of them
LOCAL = 0.1  # of the domain
NOTICED = 0.01  # of the largest change


def runs() -> list[Run]:
    """Every method of the table once, as built for a picture."""
    return [Run(name, "", method=name, preset="paper", settings={}, size=SIDE) for name in TRAITS]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """Change single parameters of a fresh field and see how far each reaches."""
    from alfilter.methods import build, parameter_count

    began = time.monotonic()
    side = run.size or SIDE
    model = build(run.method, preset=run.preset, in_dim=2, out_dim=3, samples=(side, side), seed=run.seed)
    reach = reaches(model, side, PARAMETERS, run.seed)
    felt = reach[reach > 0]  # rows of a table that no place uses have no reach
    metrics = {
        "local_share": float((felt < LOCAL).mean()) if len(felt) else 0.0,
        "median_reach": float(np.median(felt)) if len(felt) else 0.0,
    }
    return {**run.heading, "steps": 0, "seconds": time.monotonic() - began,
            "params": parameter_count(model), "metrics": metrics, "heldout": None}  # fmt: skip


def reaches(model: Any, side: int, count: int, seed: int = 0) -> Any:
    """Of `count` parameters drawn evenly from all: the share of places (side × side) whose value each changes."""
    import torch

    from alfilter.evaluate import sample_grid

    tensors = [tensor for tensor in model.parameters() if tensor.requires_grad]
    sizes = np.array([tensor.numel() for tensor in tensors])
    rng = np.random.default_rng(seed)
    owners = rng.choice(len(tensors), count, p=sizes / sizes.sum())
    shares = []
    with torch.no_grad():
        before = sample_grid(model, (side, side))
        for owner in owners:
            flat = tensors[owner].view(-1)
            place = int(rng.integers(len(flat)))
            step = 0.1 * float(flat.square().mean().sqrt()) + 1e-4
            value = flat[place].clone()
            flat[place] += step
            change = (sample_grid(model, (side, side)) - before).abs().amax(-1)
            flat[place] = value
            top = float(change.max())
            shares.append(float((change > NOTICED * top).float().mean()) if top > 1e-7 else 0.0)
    return np.array(shares)


def summarise(lines: Lines) -> str:
    """The paper's answers, ours, and the measured share of local parameters."""
    from alfilter.methods import METHODS

    rows = [
        [
            "method",
            "spatially adaptive",
            "explicit frequency control",
            "position-dependent",
            "local parameters",
            "median reach",
        ],
        ["---"] * 6,
    ]
    for line in lines:
        name, known = line["method"], METHODS[line["method"]]
        ours = (known.adaptive, known.explicit, known.positional)
        answers = [p if p == o else f"{p} (here: {o})" for p, o in zip(TRAITS[name], ours, strict=True)]
        share, reach = (f"{line['metrics'][key]:.0%}" for key in ("local_share", "median_reach"))
        rows.append([name, *answers, share, f"{reach} of the domain"])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


STUDY = Study("methods", runs, summarise, execute)
