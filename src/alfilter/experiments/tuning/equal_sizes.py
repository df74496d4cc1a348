"""al-grid and hash-grid at equal sizes: one search for both, on a picture that is in no table.

The picture at half its side, with a quarter of the parameters, of the rows and of the nodes of α, half the width, and a
quarter of the batch: as many steps as `minute-equal` takes in a minute, and as many passes over the samples. What is
found is doubled there. Two rounds are the same for both methods: the shape of the grid, then one change at a time. A
third changes the filter, which hash-grid does not have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from alfilter.experiments.fitting import fit_line, fit_run, reduced_task
from alfilter.experiments.study import Lines, Run, Study, table

IMAGE, SIDE = "div2k/08.png", 256
STEPS, BATCH = 16_000, 2048
METHODS = ("al-grid", "hash-grid")
WIDTH, DEPTH = 32, 2
GROWTH = math.sqrt(2)  # from level to level, as near as the size allows


class Shape(NamedTuple):
    """features: F of a level. table: log2 of its rows. finest: cells per axis of the finest level."""

    features: int
    table: int
    finest: int


# parameters here, a quarter of those of `minute-equal` → grids to choose from
SHAPES: Mapping[int, tuple[Shape, ...]] = {
    15_000: (Shape(2, 10, 127), Shape(2, 10, 255), Shape(2, 9, 255)),
    33_250: (Shape(2, 11, 181), Shape(2, 11, 255), Shape(2, 10, 255)),
    100_000: (Shape(2, 13, 181), Shape(2, 13, 255), Shape(2, 12, 255)),
}
NODES: Mapping[int, int] = {15_000: 40, 33_250: 48, 100_000: 64}  # of α per axis
NETWORK: dict[str, Any] = {"depth": DEPTH, "taper": 1.0, "activation": "sine", "omega": 5.0}
TRAINING: dict[str, Any] = {"lr": 5e-3, "lr_encoding": 4e-2, "beta2": 0.95}
FILTER_OPTIONS: dict[str, Any] = {"rate": 0.1, "kappa": 4.0}
FILTER_TRAINING: dict[str, Any] = {"parsimony": 0.1, "settle": 0.8}
CHANGES: tuple[dict[str, Any], ...] = (
    {"lr": 1e-2},
    {"lr_encoding": 2e-2},
    {"lr_encoding": 8e-2},
    {"lr": 3e-3, "lr_encoding": 1e-2, "beta2": 0.99},
)
FILTER_CHANGES: tuple[dict[str, Any], ...] = ({"parsimony": 0.5}, {"nodes": 4 / 3}, {"nodes": 2 / 3})
# the best grid of the first round, from which the others depart; of two that are 0.05 dB apart the one of fewer levels
BEST: Mapping[str, Mapping[int, Shape]] = {
    "al-grid": {15_000: Shape(2, 10, 127), 33_250: Shape(2, 11, 181), 100_000: Shape(2, 13, 255)},
    "hash-grid": {15_000: Shape(2, 10, 127), 33_250: Shape(2, 11, 181), 100_000: Shape(2, 13, 255)},
}
# and the best change of the second and third, of two that are 0.05 dB apart the one both have
BEST_CHANGE: Mapping[str, Mapping[int, Mapping[str, Any]]] = {
    "al-grid": {15_000: {}, 33_250: {"lr_encoding": 8e-2}, 100_000: {"lr_encoding": 2e-2}},
    "hash-grid": {15_000: {}, 33_250: {}, 100_000: {"lr": 3e-3, "lr_encoding": 1e-2, "beta2": 0.99}},
}


def levels_of(params: int, shape: Shape, nodes: int, width: int = WIDTH) -> dict[str, int]:
    """Levels and cells of the coarsest one, that come near a number of parameters with a growth near √2.

    nodes: of α per axis, 0 for a grid without a filter.

    >>> levels_of(33_250, Shape(2, 12, 127), nodes=0)
    {'levels': 7, 'base': 15}
    """
    from alfilter.core.hash_grid import Layout, level_cells

    found = []
    for levels in range(4, 17):
        inputs = levels * shape.features
        network = width * (inputs + 1) + (DEPTH - 1) * width * (width + 1) + 3 * (width + 1)
        for base in range(3, 3 * width // 4 + 1):
            rows = Layout.of(level_cells(levels, base, (shape.finest, shape.finest)), 1 << shape.table).total
            miss = abs((rows * shape.features + network + nodes**2) / params - 1)
            growth = (shape.finest / base) ** (1 / (levels - 1))
            found.append((5 * miss + abs(math.log(growth / GROWTH)), levels, base))
    _, levels, base = min(found)
    return {"levels": levels, "base": base}


def runs() -> list[Run]:
    """The three rounds."""
    shapes = [_row(name, size, shape, {}) for size, grids in SHAPES.items() for shape in grids for name in METHODS]
    changed = [_row(name, size, BEST[name][size], change) for size in SHAPES for change in CHANGES for name in METHODS]
    filters = [_row("al-grid", size, BEST["al-grid"][size], change) for size in SHAPES for change in FILTER_CHANGES]
    return shapes + changed + filters


def _row(name: str, size: int, shape: Shape, change: Mapping[str, Any]) -> Run:
    options, training = setting(name, size, shape, change)
    training |= {"steps": STEPS, "batch": BATCH}
    words = f"{shape.features} features, {1 << shape.table:,} rows, finest {shape.finest}"
    words += "".join(f", {key} {value:.3g}" for key, value in change.items())
    return Run(f"{name}, {size:,} parameters: {words}", IMAGE, name, size=SIDE, settings=options, training=training)


def doubled(name: str, params: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was found for a quarter of so many parameters, with twice the width, the cells and the nodes of α."""
    quarter = params // 4
    best = BEST[name][quarter]
    shape = Shape(best.features, best.table + 2, 2 * best.finest + 1)
    return setting(name, quarter, shape, BEST_CHANGE[name][quarter], times=2)


def setting(
    name: str, size: int, shape: Shape, change: Mapping[str, Any], times: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options and training of a grid of a size of `SHAPES`, or with `times` its width and nodes of α per axis."""
    filtered, width = name == "al-grid", times * WIDTH
    nodes = times * round(NODES[size] * change.get("nodes", 1)) if filtered else 0
    options = {**NETWORK, "width": width, **shape._asdict(), **levels_of(times**2 * size, shape, nodes, width)}
    options |= {**FILTER_OPTIONS, "grid": nodes} if filtered else {}
    training = {**TRAINING, **(FILTER_TRAINING if filtered else {}), **change}
    training.pop("nodes", None)
    return options, training


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """One fit of the reduced picture, and its scores."""
    task = reduced_task(run, data)
    fitted = fit_run(run, task)
    return {**fit_line(run, fitted), "metrics": task.evaluate(fitted.field).metrics, "heldout": None}


def best(lines: Lines) -> Lines:
    """The line of the highest PSNR of every method and size."""
    groups: dict[str, dict[str, Any]] = {}
    for line in lines:
        key = line["group"].partition(":")[0]
        if key not in groups or line["metrics"]["psnr"] > groups[key]["metrics"]["psnr"]:
            groups[key] = line
    return list(groups.values())


def summarise(lines: Lines) -> str:
    """PSNR, levels and parameters of every setting, and the best of every method and size."""
    columns = {
        "PSNR, dB": lambda line: line["metrics"]["psnr"],
        "levels": lambda line: float(line["settings"]["levels"]),
        "parameters": lambda line: float(line["params"]),
    }
    return table(lines, columns) + "\n\nBest:\n\n" + table(best(lines), columns)


STUDY = Study("equal-search", runs, summarise, execute, threads=1)
