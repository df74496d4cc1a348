"""Rates, schedule and scale of every method: the same ten short fits each, by one rule, on a picture in no table.

The rule is a line search in the logarithms of a method's numbers. It starts at the source's settings; one axis after
the other, a step up is tried, then a step down, and as long as it is better the search continues that way; when no step
on any axis is better the steps are halved. Nine fits with a cosine schedule, and a tenth of the best one with a
constant rate. A fit that ends in NaN, or a setting the method refuses, counts as a trial. The PSNR on all samples
decides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from alfilter.experiments.fitting import cropped_task, prepare_run
from alfilter.experiments.study import Lines, Run, Study

IMAGE = "div2k/06.png"
SIZE = 96  # side of the crop; with half of it every setting fits all, at 70 dB
STEPS = 150
TRIALS = 10
ALIKE = 0.02  # two numbers that differ by less, relative to the greater, are one: rounding makes such pairs
COMMON: dict[str, Any] = {"steps": STEPS, "batch": 2304, "micro": 4096, "schedule": "cosine", "decay": 0.01}

Settings = dict[str, Any]


@dataclass(frozen=True)
class Axis:
    """Numbers that a step moves together, each by its factor; `add` counts steps instead, for whole levels.

    most: what none of them may exceed.
    """

    factors: Mapping[str, float]
    add: bool = False
    most: float = math.inf

    def moved(self, settings: Mapping[str, Any], steps: float) -> Settings:
        """The settings that many steps along the axis, to three digits."""
        changed = dict(settings)
        for name, factor in self.factors.items():
            value = settings[name]
            new = min(value + steps * factor if self.add else value * factor**steps, self.most)
            changed[name] = max(1, round(new)) if isinstance(value, int) else float(f"{new:.3g}")
        return changed


@dataclass(frozen=True)
class Search:
    """Where the search of a method starts and along which axes it goes.

    options: of its structure, which stay, and its scale, from the source. training: the source's rates and its own
    numbers for Adam.
    """

    scale: Axis
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    more: tuple[Axis, ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        rates = {name: 3.0 for name in ("lr", "lr_encoding") if name in self.training}
        apart = (Axis({"lr_encoding": 3.0}),) if len(rates) == 2 else ()
        return (Axis(rates), self.scale, *apart, *self.more)


OMEGA = Axis({"omega": 2.0})
_LEVEL = Axis({"levels": 1}, add=True)  # one more dyadic scale doubles the highest frequency
_FILTERED = {"start": 0.0, "unit": "axis"}
_RARE = {"beta2": 0.99, "epsilon": 1e-15}


def _rates(network: float, encoding: float | None = None, **more: float) -> Settings:
    return {"lr": network, **({"lr_encoding": encoding} if encoding else {}), **more}


SEARCHES: dict[str, Search] = {
    "al-sine": Search(OMEGA, {**_FILTERED, "coordinates": True, "omega": 30.0}, _rates(1e-3, 3e-3)),
    "al-relu": Search(_LEVEL, {**_FILTERED, "levels": 8}, _rates(1e-3, 3e-3)),
    "pe-mlp": Search(_LEVEL, {"levels": 8}, _rates(1e-3)),
    "fourier-features": Search(Axis({"sigma": 2.0}), {"sigma": 10.0}, _rates(1e-3)),
    "siren": Search(OMEGA, {"omega": 30.0}, _rates(1e-4)),
    "gauss": Search(Axis({"sigma": 0.5}), {"depth": 3, "sigma": 0.09}, _rates(5e-4)),
    "wire": Search(
        Axis({"omega": 2.0, "scale": 2.0}), {"omega": 20.0, "scale": 30.0}, _rates(5e-3), (Axis({"scale": 2.0}),)
    ),
    "hosc": Search(OMEGA, {"omega": 30.0, "beta": 2.0}, _rates(1e-4), (Axis({"beta": 2.0}),)),
    "sinc": Search(OMEGA, {"omega": 30.0}, _rates(1e-3)),
    "finer": Search(OMEGA, {"depth": 3, "omega": 30.0}, _rates(5e-4)),
    "mfn-fourier": Search(Axis({"scale": 2.0}), {"scale": 256.0}, _rates(1e-2)),
    "mfn-gabor": Search(Axis({"scale": 2.0}), {"scale": 256.0}, _rates(1e-2)),
    # its band ends where it says: beyond the Nyquist rate, reach 1, it would declare what no sample can tell
    "bacon": Search(Axis({"reach": 2.0}, most=1.0), {"reach": 1.0}, _rates(5e-3)),
    "poly-inr": Search(Axis({"levels": 2.0}), {"width": 128, "levels": 10}, _rates(1e-3)),
    "hash-grid": Search(
        Axis({"density": 2.0}), {"table": 16, "density": 0.5}, _rates(1e-2, 1e-2, weight_decay=1e-6, **_RARE)
    ),
    "filter-bank": Search(
        Axis({"omega": 2.0, "sigma": 2.0}),
        {"base": 16, "table": 16, "width": 64, "omega": 100.0, "sigma": 5.0},
        _rates(1e-4, 1e-4, beta2=0.99),
    ),
    "diner": Search(OMEGA, {"activation": "sine", "width": 64, "omega": 30.0}, _rates(1e-4, 1e-4)),
    "octree": Search(
        Axis({"cell": 0.5}), {"levels": None, "cell": 2.0, "features": 4, "width": 64}, _rates(1e-3, 1e-3)
    ),
    # a tile's features are an output of the encoder: with 32² of them a fit takes minutes
    "acorn": Search(Axis({"patch": 2.0}, most=16), {"tiles": 256, "every": 100, "patch": 8}, _rates(1e-3, 1e-3)),
}


def line_search(
    axes: tuple[Axis, ...], start: Settings, score: Callable[[Settings], float], trials: int
) -> list[tuple[Settings, float]]:
    """Settings tried and their scores, in order.

    >>> tried = line_search((Axis({"lr": 3.0}),), {"lr": 1.0}, lambda s: -abs(s["lr"] - 9.0), 5)
    >>> [settings["lr"] for settings, _ in tried]
    [1.0, 3.0, 9.0, 27.0, 15.6]
    """
    tried = [(start, score(start))]
    best, stride = tried[0], 1.0
    while len(tried) < trials and stride > 0.1:
        moved = False
        for axis in axes:
            for step in (stride, -stride):
                before = best
                while len(tried) < trials:
                    settings = axis.moved(best[0], step)
                    if any(alike(settings, known) for known, _ in tried):
                        break
                    tried.append((settings, score(settings)))
                    if not tried[-1][1] > best[1]:
                        break
                    best = tried[-1]
                if best is not before:
                    moved = True
                    break
        stride = stride if moved else stride / 2
    return tried


def alike(one: Settings, other: Settings) -> bool:
    """The same settings but for rounding.

    >>> alike({"lr": 5.2e-4, "levels": 8}, {"lr": 5.19e-4, "levels": 8}), alike({"lr": 1.0}, {"lr": 1.5})
    (True, False)
    """
    return all(
        math.isclose(value, other[name], rel_tol=ALIKE) if isinstance(value, float) else value == other[name]
        for name, value in one.items()
    )


def runs() -> list[Run]:
    """One run per method: its ten fits."""
    return [Run(name, IMAGE, method=name, preset="source", size=SIZE, training=COMMON) for name in SEARCHES]


def execute(run: Run, data: str, threads: int = 1) -> dict[str, Any]:
    """The ten fits of a method, in the line's `trials`; the best of them is its result."""
    return search_line(run, cropped_task(run, data), SEARCHES[run.method], TRIALS)


def search_line(run: Run, task: Any, search: Search, count: int) -> dict[str, Any]:
    """The result line of a search: its trials, the last one of the best setting with a constant rate."""
    trials: Lines = []

    def score(settings: Settings) -> float:
        trials.append(_trial(run, task, search, settings))
        return _psnr(trials[-1])

    line_search(search.axes, {**search.options, **search.training}, score, count - 1)
    score({**max(trials, key=_psnr)["settings"], "schedule": "constant"})
    best = max(trials, key=_psnr)
    return {**run.heading, "steps": best["steps"], "params": best["params"],
            "seconds": sum(trial["seconds"] for trial in trials), "metrics": {"psnr": best["psnr"]}, "heldout": None,
            "settings": best["settings"], "trials": trials}  # fmt: skip


def _psnr(trial: dict[str, Any]) -> float:
    return -math.inf if trial["psnr"] is None else float(trial["psnr"])


def _trial(run: Run, task: Any, search: Search, settings: Settings) -> dict[str, Any]:
    """One fit; without a PSNR if it ended in NaN or the method refuses such a setting."""
    from alfilter.errors import UserError
    from alfilter.methods import parameter_count
    from alfilter.runs.fitting import NotFinite

    searched = {name: value for name, value in settings.items() if name in (*search.training, "schedule")}
    options = {name: value for name, value in settings.items() if name not in searched}
    trial: dict[str, Any] = {"settings": settings, "psnr": None, "params": 0, "steps": 0}
    began = time.process_time()
    try:
        recipe = {**run.training, "clock": "cpu", **searched}
        prepared = prepare_run(replace(run, settings=options, training=recipe), task)
        trial["params"] = parameter_count(prepared.field)
        fitted = prepared.fit()
        trial |= {"psnr": task.evaluate(fitted.field).metrics["psnr"], "steps": fitted.result.steps}
    except (NotFinite, UserError):
        pass
    return {**trial, "seconds": time.process_time() - began}


def summarise(lines: Lines) -> str:
    """What the search of every method started with, found, and gained."""
    return search_table(lines, SEARCHES)


def search_table(lines: Lines, searches: Mapping[str, Search]) -> str:
    """The same for searches along other axes."""
    rows = ["| method | start | PSNR, dB | found | PSNR, dB |", "|---|---|---|---|---|"]
    for line in lines:
        first, best = line["trials"][0], max(line["trials"], key=_psnr)
        names = {name for axis in searches[line["method"]].axes for name in axis.factors} | {"batch", "schedule"}
        cells = (line["method"], _words(first, names), _decibels(first), _words(best, names), _decibels(best))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _words(trial: dict[str, Any], names: set[str]) -> str:
    return " ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                    for name, value in trial["settings"].items() if name in names)  # fmt: skip


def _decibels(trial: dict[str, Any]) -> str:
    return "NaN" if trial["psnr"] is None else f"{trial['psnr']:.2f}"


STUDY = Study("tuning", runs, summarise, execute)
