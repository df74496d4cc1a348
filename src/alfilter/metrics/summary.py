"""Scores of many runs in few numbers: means, what signals and what seeds add to their spread, paired differences."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    """The mean over signals of the means over seeds, and two standard deviations, none where there is only one value.

    over_signals: of the signals' means. over_seeds: of the runs of one signal, pooled over the signals.
    """

    mean: float | None
    over_signals: float | None
    over_seeds: float | None
    runs: int


@dataclass(frozen=True)
class Difference:
    """The mean difference to a baseline over runs of the same signal and seed, with a 95 % confidence interval.

    low, high: by Student's t over the signals' means, or over the seeds of a single signal; none for a single pair.
    """

    mean: float
    low: float | None
    high: float | None
    pairs: int


def summarise(values: Sequence[tuple[Hashable, float]]) -> Summary:
    """Values of runs, each with its signal.

    >>> summarise([("a", 1.0), ("a", 3.0), ("b", 6.0), ("b", 8.0)])
    Summary(mean=4.5, over_signals=3.5355339059327378, over_seeds=1.4142135623730951, runs=4)
    """
    if not values:
        return Summary(None, None, None, 0)
    groups = _by_signal(values)
    means = [statistics.fmean(group) for group in groups]
    repeated = [group for group in groups if len(group) > 1]
    freedom = sum(len(group) - 1 for group in repeated)
    pooled = math.sqrt(sum((len(g) - 1) * statistics.variance(g) for g in repeated) / freedom) if freedom else None
    return Summary(
        statistics.fmean(means), statistics.stdev(means) if len(means) > 1 else None, pooled, sum(map(len, groups))
    )


def paired(
    here: Mapping[tuple[Hashable, Hashable], float], baseline: Mapping[tuple[Hashable, Hashable], float]
) -> Difference | None:
    """How much better than a baseline: (signal, seed) → value of each; none where they share no run.

    >>> paired({("a", 0): 3.0, ("b", 0): 5.0, ("c", 0): 9.0}, {("a", 0): 2.0, ("b", 0): 4.0})
    Difference(mean=1.0, low=1.0, high=1.0, pairs=2)
    """
    shared = [key for key in here if key in baseline]
    if not shared:
        return None
    groups = _by_signal([(key[0], here[key] - baseline[key]) for key in shared])
    sample = [statistics.fmean(group) for group in groups] if len(groups) > 1 else groups[0]
    mean = statistics.fmean(sample)
    if len(sample) < 2:
        return Difference(mean, None, None, len(shared))
    from scipy.special import stdtrit

    reach = float(stdtrit(len(sample) - 1, 0.975)) * statistics.stdev(sample) / math.sqrt(len(sample))
    return Difference(mean, mean - reach, mean + reach, len(shared))


def _by_signal(values: Sequence[tuple[Hashable, float]]) -> list[list[float]]:
    groups: dict[Hashable, list[float]] = {}
    for signal, value in values:
        groups.setdefault(signal, []).append(value)
    return list(groups.values())
