"""One minute at 512×512: the same search for every method, on a picture that is in no table.

Every method gets the same number of draws from a box around its own scale: ten over the whole box, then six in a
smaller one around the best of the ten. The draws are one low-discrepancy sequence, read through each method's ranges,
so no row was chosen by hand, and a row costs every method the same number of samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from alfilter.experiments.study import Lines, Run, Study, table

IMAGE = "div2k/06.png"
SAMPLES = 3_000_000  # of a run: a quarter of what a minute on two cores reaches, enough to rank settings
BROAD, NARROW = 10, 6  # draws of the two rounds
SHRUNK = 0.35  # the side of the second box, relative to the first (of ranges read on a logarithmic scale)


@dataclass(frozen=True)
class Range:
    """An option's range: read on a logarithmic scale, or a list of choices."""

    low: float = 0.0
    high: float = 0.0
    choices: tuple[Any, ...] = ()

    def at(self, u: float, centre: Any = None) -> Any:
        """The value at u in [0, 1); with a centre, of the smaller range around it, or of a choice's neighbours.

        >>> Range(1.0, 100.0).at(0.5), Range(choices=(4, 8)).at(0.7), Range(1.0, 100.0).at(0.5, centre=80.0)
        (10.0, 8, 45.0)
        """
        if self.choices:
            place = self.choices.index(centre) if centre is not None else 0
            near = self.choices if centre is None else self.choices[max(place - 1, 0) : place + 2]
            return near[int(u * len(near))]
        low, high = math.log(self.low), math.log(self.high)
        if centre is not None:
            side = SHRUNK * (high - low)
            low = min(max(math.log(centre) - side / 2, low), high - side)
            high = low + side
        return float(f"{math.exp(low + u * (high - low)):.2g}")


RECIPE = {"batch": Range(choices=(4096, 8192, 16384)), "decay": Range(choices=(0.01, 0.1))}
ADAPTIVE: dict[str, Any] = {"start": 0.0, "unit": "axis", "coordinates": True}  # `alfilter experiment alpha`
# the options that are searched, and what goes to the training
OPTIONS: dict[str, dict[str, Range]] = {
    "al-sine": {"omega": Range(25.0, 120.0), "gain": Range(0.5, 4.0)},
    "siren": {"omega": Range(25.0, 120.0)},
    "pe-mlp": {"levels": Range(choices=(6, 7, 8, 9, 10))},
}
RATES: dict[str, dict[str, Range]] = {
    "al-sine": {"lr": Range(1e-4, 2e-3), "lr_encoding": Range(1e-4, 6e-3)},
    "siren": {"lr": Range(1e-4, 2e-3)},
    "pe-mlp": {"lr": Range(5e-4, 1e-2)},
}
# the best rows of the first round: the centres of the second
BEST: dict[str, dict[str, Any]] = {
    "al-sine": {"batch": 4096, "decay": 0.01, "lr": 1.4e-4, "lr_encoding": 5.7e-4, "omega": 90.0, "gain": 1.1},
    "siren": {"batch": 4096, "decay": 0.01, "lr": 4.6e-4, "omega": 62.0},
    "pe-mlp": {"batch": 4096, "decay": 0.1, "lr": 7.4e-3, "levels": 9},
}


def runs() -> list[Run]:
    """Both rounds of every method."""
    broad = [_row(method, u, {}) for method in OPTIONS for u in draws(BROAD, 0)]
    return broad + [_row(method, u, BEST[method]) for method in OPTIONS for u in draws(NARROW, 1)]


def draws(count: int, seed: int) -> list[list[float]]:
    """The first points of a scrambled Sobol sequence in [0, 1)^6."""
    from torch.quasirandom import SobolEngine

    engine = SobolEngine(6, scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    return engine.draw(count).tolist()


def _row(method: str, u: list[float], centre: dict[str, Any]) -> Run:
    ranges = {**RECIPE, **RATES[method], **OPTIONS[method]}
    # the batch and the final rate stay as they were found
    drawn = {
        name: centre[name] if name in RECIPE and centre else area.at(at, centre.get(name))
        for at, (name, area) in zip(u, ranges.items(), strict=False)
    }
    settings = {name: drawn[name] for name in OPTIONS[method]}
    training = {name: value for name, value in drawn.items() if name not in settings}
    training |= {"steps": SAMPLES // drawn["batch"], "schedule": "cosine"}
    words = " ".join(f"{name}={value}" for name, value in drawn.items())
    return Run(
        f"{method}: {words}",
        IMAGE,
        method=method,
        preset="paper",
        settings={**(ADAPTIVE if method == "al-sine" else {}), **settings},
        training=training,
    )


def best(lines: Lines) -> Lines:
    """The line of the highest PSNR of every method."""
    return [max((x for x in lines if x["method"] == name), key=lambda x: x["metrics"]["psnr"]) for name in OPTIONS]


def summarise(lines: Lines) -> str:
    """PSNR and seconds of every setting, and the best of every method."""
    columns = {"PSNR, dB": lambda line: line["metrics"]["psnr"], "seconds": lambda line: line["seconds"]}
    return table(lines, columns) + "\n\nBest:\n\n" + table(best(lines), columns)


STUDY = Study("wallclock", runs, summarise)
