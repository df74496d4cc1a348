"""al-grid and hash-grid at equal sizes: one search for both, on a picture that `minute-equal` has not.

Two rounds are the same for both methods: how many levels a size is spent on, then the rates. A third changes the
filter, which hash-grid does not have. `minute-equal` takes what is found; the presets `small`, which are for every
number of parameters, have its rates and its network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from alfilter.experiments.study import Lines, Run, Study, table

IMAGE = "div2k/08.png"
STEPS = 12_000
METHODS = ("al-grid", "hash-grid")
WIDTH, DEPTH, FEATURES = 64, 2, 2


class Size(NamedTuple):
    """table: log2 of a level's rows. finest: cells per axis of the finest level. nodes: of α per axis."""

    table: int
    finest: int
    nodes: int


SIZES: Mapping[int, Size] = {60_000: Size(12, 255, 80), 133_000: Size(13, 363, 96), 400_000: Size(15, 511, 128)}
LEVELS = (10, 13, 16)  # to choose from, or the nearest with which a size can be met
CLOSE = 0.01  # as a share: how close to a size a grid must be
NETWORK: dict[str, Any] = {
    "features": FEATURES, "width": WIDTH, "depth": DEPTH, "taper": 1.0, "activation": "sine", "omega": 5.0,
}  # fmt: skip
TRAINING: dict[str, Any] = {"lr": 1e-2, "lr_encoding": 8e-2, "beta2": 0.95}
FILTER_OPTIONS: dict[str, Any] = {"rate": 0.02, "kappa": 4.0}
FILTER_TRAINING: dict[str, Any] = {"parsimony": 0.02, "settle": 0.8}
CHANGES: tuple[dict[str, Any], ...] = ({"lr": 5e-3, "lr_encoding": 4e-2},)
FILTER_CHANGES: tuple[dict[str, Any], ...] = ({"parsimony": 0.1}, {"nodes": 0.5}, {"rate": 0.005})
# the best of `LEVELS`, from which the other rounds depart, and the best change of these
BEST: Mapping[str, Mapping[int, int]] = {
    "al-grid": {60_000: 13, 133_000: 13, 400_000: 16},
    "hash-grid": {60_000: 13, 133_000: 16, 400_000: 10},
}
BEST_CHANGE: Mapping[str, Mapping[int, Mapping[str, Any]]] = {
    "al-grid": {60_000: {"parsimony": 0.1}, 133_000: {}, 400_000: {}},
    "hash-grid": {60_000: {}, 133_000: {}, 400_000: {}},
}


def levels_of(params: int, size: Size, about: int, nodes: int) -> dict[str, int]:
    """Levels and cells of the coarsest one that have a number of parameters: of those as near to so many as can be.

    nodes: of α per axis, 0 for a grid without a filter.

    >>> levels_of(60_000, SIZES[60_000], 13, nodes=0)
    {'levels': 13, 'base': 6}
    """
    from alfilter.core.hash_grid import Layout, level_cells

    fitting = []
    for levels in range(8, 18):
        inputs = levels * FEATURES
        network = WIDTH * (inputs + 1) + (DEPTH - 1) * WIDTH * (WIDTH + 1) + 3 * (WIDTH + 1)
        for base in range(3, WIDTH):
            rows = Layout.of(level_cells(levels, base, (size.finest, size.finest)), 1 << size.table).total
            miss = abs((rows * FEATURES + network + nodes**2) / params - 1)
            if miss <= CLOSE:
                fitting.append((abs(levels - about), miss, levels, base))
    *_, levels, base = min(fitting)
    return {"levels": levels, "base": base}


def runs() -> list[Run]:
    """The three rounds."""
    grids = [_row(name, size, about, {}) for size in SIZES for about in LEVELS for name in METHODS]
    changed = [_row(name, size, BEST[name][size], change) for size in SIZES for change in CHANGES for name in METHODS]
    filters = [_row("al-grid", size, BEST["al-grid"][size], change) for size in SIZES for change in FILTER_CHANGES]
    every = (*grids, *changed, *filters)
    return list({run.name: run for run in every}.values())  # the nearest to two of `LEVELS` may be the same


def _row(name: str, size: int, about: int, change: Mapping[str, Any]) -> Run:
    options, training = setting(name, size, about, change)
    words = "".join(f", {key} {value:.3g}" for key, value in change.items())
    group = f"{name}, {size:,} parameters: {options['levels']} levels{words}"
    return Run(group, IMAGE, name, settings=options, training={**training, "steps": STEPS})


def found(name: str, size: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options and training of a grid of so many parameters, as the search found them."""
    return setting(name, size, BEST[name][size], BEST_CHANGE[name][size])


def setting(name: str, size: int, about: int, change: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options and training of a grid of a size of `SIZES` with about so many levels."""
    sizes, filtered = SIZES[size], name == "al-grid"
    nodes = round(sizes.nodes * change.get("nodes", 1)) if filtered else 0
    options = {**NETWORK, "table": sizes.table, "finest": sizes.finest, **levels_of(size, sizes, about, nodes)}
    if filtered:
        options |= {name: change.get(name, usual) for name, usual in FILTER_OPTIONS.items()} | {"grid": nodes}
    training = {**TRAINING, **(FILTER_TRAINING if filtered else {})}
    return options, training | {name: value for name, value in change.items() if name in training}


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


STUDY = Study("equal-search", runs, summarise, threads=1)
