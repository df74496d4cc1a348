"""Which way to compute a network is the fastest on this machine: measured once, and remembered beside the kernels.

Own matrix products over blocks of points are faster than the library's on some processors and slower on others
(`kernels.dispatch.WAYS`). The ways agree to rounding, not to the bit, so a choice must not change from run to run: it
is written to the kernels' cache, and where that cannot be written nothing is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

from alfilter.errors import UserError
from alfilter.files import write_text
from alfilter.kernels.dispatch import WAYS as WAYS
from alfilter.kernels.dispatch import current_way as current_way
from alfilter.kernels.dispatch import fixed_way, kernels_available, load_kernels
from alfilter.kernels.dispatch import use_way as use_way
from alfilter.runtime.stages import stage

_WORTH_IT = 0.95  # of the default's time: a way that gains less than noise is not taken
_TURNS, _FAR = 5, 1.5  # measurements of each work; times the fastest, beyond which one is enough


def fastest_way(kind: str, measure: Callable[[], Mapping[str, float]]) -> str:
    """The way for work of this kind: what the environment asks for, what was found before, or what is measured now.

    kind: what determines the times, beside the machine and versions. measure: seconds by way, those of the default
    (the first of `WAYS`) among them.
    """
    fixed = fixed_way()
    folder = _folder() if fixed is None else None
    if folder is None:
        return fixed or WAYS[0]
    library = torch.__version__, torch.__config__.show(), os.environ.get("MKL_ENABLE_INSTRUCTIONS")
    file = folder / f"way-{hashlib.sha256(repr((kind, library)).encode()).hexdigest()[:24]}.json"
    with load_kernels("compile").cache_lock(".ways"):  # runs that start together choose alike
        return _read(file) or _measured(file, measure)


def _folder() -> Path | None:
    """Where choices are kept; None if there is no such place, or no kernel to choose."""
    folder: Path | None = load_kernels("cache").cache_folder() if kernels_available() else None
    return folder


def _measured(file: Path, measure: Callable[[], Mapping[str, float]]) -> str:
    with stage("measuring this processor, once"):
        seconds = dict(measure())
    way = pick(seconds)
    try:
        write_text(file, json.dumps({"way": way, "seconds": seconds}))
    except UserError:  # a full disk: the next run would measure again, and might choose another
        return WAYS[0]
    return way


def _read(file: Path) -> str | None:
    try:
        way = json.loads(file.read_text(encoding="utf-8"))["way"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return way if way in WAYS else None


def pick(seconds: Mapping[str, float]) -> str:
    """The fastest of some ways; another than the default only if that is worth it.

    >>> pick({"blocks": 1.0, "layers": 0.97}), pick({"blocks": 1.0, "layers": 0.7, "plain": 0.8})
    ('blocks', 'layers')
    """
    fastest = min(seconds, key=lambda way: seconds[way])
    return fastest if seconds[fastest] < _WORTH_IT * seconds[WAYS[0]] else WAYS[0]


def time_in_turns(
    works: Mapping[str, Callable[[], object]], clock: Callable[[], float] = time.thread_time
) -> dict[str, float]:
    """The least processor time of this thread for each work, in turns, after one that does not count.

    The least, since other programs only ever add to it. A work that is found far behind the fastest is not repeated.
    """
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(_TURNS + 1):
        best = min((times[0] for times in seconds.values() if times), default=float("inf"))
        for name, work in works.items():
            if seconds[name] and seconds[name][0] > _FAR * best:
                continue
            began = clock()
            work()
            if turn > 0:
                seconds[name].append(clock() - began)
    return {name: min(times) for name, times in seconds.items()}


def library_products(sizes: Sequence[Sequence[int]], rows: int) -> Callable[[], None]:
    """All matrix products of a perceptron's step by the library, forward and backward; sizes: (outputs, inputs)."""
    weights = [torch.randn(*shape) for shape in sizes]
    inputs, grads = ([torch.randn(rows, shape[side]) for shape in sizes] for side in (1, 0))

    def run() -> None:
        for x, g, w in zip(inputs, grads, weights, strict=True):
            torch.mm(x, w.t())
            torch.mm(g.t(), x)
            torch.mm(g, w)

    return run
