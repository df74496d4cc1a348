"""How result lines judge a claim of the paper: rows of a study, compared picture by picture.

Rows are compared on the pictures that all of them have. A picture counts once, however often it was seen: what it gives
is averaged first. A difference within `CLOSE` or within its spread over the pictures is undecided, as is one of a
single picture.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from alfilter.experiments.paper import shapes
from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.verdicts import FAILS, HOLDS, LEAST, UNDECIDED, combined, decided


class Finding(NamedTuple):
    """What lines say of a claim, and on how many pictures."""

    outcome: str
    evidence: str
    pictures: int


Lines = Sequence[Mapping[str, Any]]
Read = Callable[[Any], Any]
Numbers = dict[tuple[str, str], Any]  # by picture and what was seen of it
Judge = Callable[[Lines], Finding]
BASELINES = ("pe-mlp", "siren", "mfn", "diner")
CLOSE = {"psnr": 0.5, "ssim": 0.005, "lpips": 0.002}  # differences that are not visible
CLOSE_FACTOR = math.log(1.1)  # factors within which two spectra count as equal
OPEN = 2.0  # dB at step 100 that the paper's open points change: where γ sees the samples moves al-sine by as much
CLEAR = 0.3  # a rank correlation that a reader of the map would see
LEVEL = 0.05  # chance, by shifts of the map, above which a correlation is no finding
RECOVERED = 0.5  # of the way from the picture's mean colour to the picture, in SSIM of both blurred


# ── rows, picture by picture ─────────────────────────────────────────────────────────────────────────────────────────


def metric(name: str) -> Read:
    """Reads a metric of a line."""
    return lambda line: line["metrics"].get(name)


def by_picture(lines: Lines, group: str, read: Read) -> Numbers:
    """A number of a group's lines, by picture and what was seen of it."""
    own = [line for line in lines if line["group"] == group]
    return {(line["image"], line["observe"]): value for line in own if (value := read(line)) is not None}


def shared(lines: Lines, rows: Sequence[str], read: Read) -> dict[str, Numbers]:
    """A number of several rows, on the pictures that all of them have; a StatisticsError when there are none."""
    tables = {row: by_picture(lines, row, read) for row in rows}
    keys = [key for key in tables[rows[0]] if all(key in table for table in tables.values())]
    if not keys:
        raise statistics.StatisticsError(f"no picture has all of {', '.join(rows)}")
    return {row: {key: table[key] for key in keys} for row, table in tables.items()}


def _pictures(table: Numbers) -> int:
    return len({image for image, _ in table})


def _mean(table: Numbers) -> float:
    return statistics.fmean(table.values())


def _values(tables: Mapping[str, Numbers], form: str) -> str:
    """Rows and their means."""
    return ", ".join(f"{row} {format(_mean(table), form)}" for row, table in tables.items())


def per_picture(table: Numbers) -> list[float]:
    """One number for every picture: the mean of all that was seen of it.

    >>> per_picture({("a.png", "random:0.05"): 1.0, ("a.png", "random:0.35"): 2.0, ("b.png", "random:0.05"): 7.0})
    [1.5, 7.0]
    """
    values: dict[str, list[float]] = {}
    for (image, _), value in table.items():
        values.setdefault(image, []).append(value)
    return [statistics.fmean(each) for each in values.values()]


def differences(tables: Mapping[str, Numbers], ours: str, theirs: str, sign: int = 1) -> list[float]:
    """By how much one row is above another, picture by picture (below: sign -1)."""
    return per_picture({key: sign * (value - tables[theirs][key]) for key, value in tables[ours].items()})


def log_ratios(tables: Mapping[str, Numbers], ours: str, theirs: str) -> list[float]:
    """The logarithm of their number over ours, picture by picture."""
    return per_picture({key: math.log(tables[theirs][key] / value) for key, value in tables[ours].items()})


def not_below(differences: Sequence[float], margin: float) -> str:
    """Whether paired differences are not below zero by more than a margin.

    >>> not_below([-0.3, -0.2], 0.5), not_below([-10.0, 9.0], 0.5)
    ('holds', 'not decided here')
    """
    return decided([each + margin for each in differences], 0.0)


def ahead(
    ours: str, read: Read, name: str, *, sign: int = 1, others: Sequence[str] = BASELINES, open_points: float = 0.0
) -> Judge:
    """One of ours is ahead of every other row in a measure.

    open_points: what the paper's open points change of it. Who is ahead or behind by less may be so because of a guess.
    """
    digits = 2 if name == "psnr" else 4

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (ours, *others), read)
        leads = {row: differences(tables, ours, row, sign) for row in others}
        verdicts = {row: decided(lead, CLOSE[name]) for row, lead in leads.items()}
        unclear = [row for row, each in verdicts.items() if each == UNDECIDED]
        guessed = {
            row: each
            for row, each in verdicts.items()
            if each != UNDECIDED and abs(statistics.fmean(leads[row])) <= open_points
        }
        verdicts |= dict.fromkeys(guessed, UNDECIDED)
        less = f"by less than the {open_points:g} dB that open points change"
        words = {
            "behind {}": [row for row, each in verdicts.items() if each == FAILS],
            f"behind {{}} {less}": [row for row, each in guessed.items() if each == FAILS],
            f"ahead of {{}} {less}": [row for row, each in guessed.items() if each == HOLDS],
            "not clearly ahead of {}": unclear,
        }
        notes = [text.format(", ".join(rows)) for text, rows in words.items() if rows]
        pictures = _pictures(tables[ours])
        if pictures < LEAST:
            notes = ["a single picture decides nothing"]
        evidence = "; ".join([f"{name.upper()}: {_values(tables, f'.{digits}f')}", *notes])
        return Finding(combined(list(verdicts.values())), evidence, pictures)

    return judge


def competitive(ours: str, theirs: str) -> Judge:
    """One of ours is not visibly below another method."""

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (ours, theirs), metric("psnr"))
        outcome = not_below(differences(tables, ours, theirs), CLOSE["psnr"])
        return Finding(outcome, f"PSNR: {_values(tables, '.2f')}", _pictures(tables[ours]))

    return judge


# ── image fitting ────────────────────────────────────────────────────────────────────────────────────────────────────


def smoother(row: str) -> Judge:
    """A method loses fine detail that Ours-Sine keeps: power beyond a quarter cycle per pixel against the truth's."""

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (row, "al-sine"), lambda line: line["detail"]["kept"])
        outcome = decided(differences(tables, "al-sine", row), 0.05)
        return Finding(outcome, f"power of fine detail kept: {_values(tables, '.0%')}", _pictures(tables[row]))

    return judge


def artefacts(lines: Lines) -> Finding:
    """MFN has fine detail that is not the truth's where the picture is smooth, more than any other method."""
    others = [row for row in (*BASELINES, "al-relu", "al-sine") if row != "mfn"]
    tables = shared(lines, ("mfn", *others), lambda line: line["detail"].get("artefacts"))
    verdicts = [decided(differences(tables, "mfn", row), 0.25) for row in others]
    evidence = f"fine detail that is not the picture's where it is smooth, levels of 255: {_values(tables, '.2f')}"
    return Finding(combined(verdicts), evidence, _pictures(tables["mfn"]))


def smaller_than_diner(name: str, unit: str, scale: float, close: float) -> Judge:
    """Ours takes less than DINER, whose rows have two features: a number of the lines, undecided within a share."""

    def judge(lines: Lines) -> Finding:
        rows = ("al-sine", "diner", "diner, one feature")
        tables = shared(lines, rows, lambda line: line[name] / scale)
        share = _mean(tables["al-sine"]) / _mean(tables["diner"]) - 1
        outcome = UNDECIDED if abs(share) <= close else HOLDS if share < 0 else FAILS
        return Finding(outcome, f"{unit}: {_values(tables, ',.0f')}", _pictures(tables["al-sine"]))

    return judge


# ── α ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def alpha_follows(group: str) -> Judge:
    """α is higher where the picture has edges and texture: on every picture, clearly, and not by chance.

    It does not where ρ is low by more than its spread and no more than half of the pictures are significant. ρ is a
    picture's mean over all that was seen of it, and a picture is significant if every one of its maps is.
    """

    def judge(lines: Lines) -> Finding:
        own = [line for line in lines if line["group"] == group and line.get("alpha")]
        pictures = len({line["image"] for line in own})
        spread = statistics.fmean(line["alpha"].get("spread", 0.0) for line in own)
        moved = [line for line in own if line["alpha"]["structure"] is not None and line.get("meaning")]
        if not moved:
            return Finding(UNDECIDED, f"α did not move: its standard deviation is {spread:.1e} channels", pictures)
        meanings = by_picture(moved, group, lambda line: line["meaning"])
        rho = per_picture({key: each["gradient"] for key, each in meanings.items()})
        doubtful = {
            image for (image, _), each in meanings.items() if each["p_gradient"] > LEVEL or each["gradient"] <= 0
        }
        significant = len(rho) - len(doubtful)
        evidence = (
            f"rank correlation of α with gradient energy over blocks: {statistics.fmean(rho):+.2f} "
            f"({min(rho):+.2f} … {max(rho):+.2f}), significant on {significant} of {len(rho)}; "
            f"α varies by {spread:.2g} channels"
        )
        if len(rho) < LEAST:
            return Finding(UNDECIDED, evidence, pictures)
        if not doubtful and min(rho) > CLEAR:
            return Finding(HOLDS, evidence, pictures)
        low = statistics.fmean(rho) + statistics.stdev(rho) < CLEAR
        return Finding(FAILS if low and significant <= len(rho) / 2 else UNDECIDED, evidence, pictures)

    return judge


# ── the kernel of fitted fields ──────────────────────────────────────────────────────────────────────────────────────


def kept_better(ours: str, base: str) -> Judge:
    """Intermediate components of the kernel are kept better than another row's: one geometric mean per picture."""

    def judge(lines: Lines) -> Finding:
        import torch

        from alfilter.analysis.ntk_facts import retention_by_range

        tables = shared(lines, (ours, base), lambda line: torch.tensor(line["kernel"]["spectrum"], dtype=torch.float64))
        retentions = {key: retention_by_range(spectrum, tables[base][key]) for key, spectrum in tables[ours].items()}
        middles = per_picture(
            {
                key: (math.log(low) + math.log(middle)) / 2
                for key, each in retentions.items()
                if (low := each["low"]) and (middle := each["middle"])
            }
        )
        words = f"retention against {base}: {math.exp(statistics.fmean(middles)):.3g}"
        return Finding(decided(middles, CLOSE_FACTOR), words, len(middles))

    return judge


def less_dominant(ours: str, base: str) -> Judge:
    """The first eigenvalue dominates less than another row's."""

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (ours, base), lambda line: line["kernel"]["first"])
        outcome = decided(log_ratios(tables, ours, base), CLOSE_FACTOR)
        return Finding(outcome, f"λ_1/Σλ: {_values(tables, '.3f')}", _pictures(tables[ours]))

    return judge


# ── pictures with gaps ───────────────────────────────────────────────────────────────────────────────────────────────


def _unseen(line: Any) -> Any:
    return line["heldout"]["psnr"]


def _from_flat(line: Any) -> float | None:
    """How far a blurred reconstruction is on the way from the picture's mean colour to the picture, in SSIM."""
    reached, flat = (line["metrics"].get(name) for name in ("structure", "structure_flat"))
    return None if reached is None or flat is None else (reached - flat) / (1 - flat)


def recovers(group: str, observe: str) -> Judge:
    """The structure is recovered: every picture is `RECOVERED` of the way from its mean colour. Interpolation is shown
    beside it and judges nothing.
    """

    def judge(lines: Lines) -> Finding:
        own = [line for line in lines if line["observe"] == observe]
        rows = (group, gaps.LINEAR)
        similar, unseen = (shared(own, rows, read) for read in (metric("structure"), _unseen))
        ways = [way for key, way in by_picture(own, group, _from_flat).items() if key in similar[group]]
        way = f"{min(ways):.2f} … {max(ways):.2f} of the way from the mean colour" if ways else "not judged"
        evidence = (
            f"SSIM of the blurred picture: {_mean(similar[group]):.3f}, {way}; linear interpolation "
            f"{_mean(similar[gaps.LINEAR]):.3f}; unseen pixels {_mean(unseen[group]):.2f} and "
            f"{_mean(unseen[gaps.LINEAR]):.2f} dB"
        )
        return Finding(everywhere(ways, RECOVERED), evidence, len(ways) or _pictures(similar[group]))

    return judge


def everywhere(values: Sequence[float], bar: float) -> str:
    """Whether a bar is reached on every picture, or on none.

    >>> everywhere([0.6, 0.7], 0.5), everywhere([0.1, 0.2], 0.5), everywhere([0.1, 0.7], 0.5), everywhere([0.7], 0.5)
    ('holds', 'does not hold', 'not decided here', 'not decided here')
    """
    if len(values) < LEAST:
        return UNDECIDED
    return HOLDS if min(values) >= bar else FAILS if max(values) < bar else UNDECIDED


def finer(group: str) -> Judge:
    """More pixels give finer texture and edges: SSIM at 35 % against that of the same pictures at 5 %."""

    def judge(lines: Lines) -> Finding:
        shares = ("5 %", "35 %")
        seen = dict(zip(gaps.OBSERVED, shares, strict=True))
        of_row = [
            [{**line, "group": seen[line["observe"]], "observe": ""} for line in lines if line["group"] == row]
            for row in (group, gaps.LINEAR)
        ]
        ours, linear = (shared(own, shares, metric("ssim")) for own in of_row)
        outcome = decided(differences(ours, "35 %", "5 %"), CLOSE["ssim"])
        evidence = f"SSIM at {_values(ours, '.3f')}; linear interpolation {_values(linear, '.3f')}"
        return Finding(outcome, evidence, _pictures(ours["35 %"]))

    return judge


def variation_helps(group: str) -> Judge:
    """The total variation on α helps between the seen pixels."""

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (group, gaps.PLAIN), _unseen)
        spreads = by_picture(lines, group, lambda line: line["alpha"].get("spread", 0.0))
        gains = differences(tables, group, gaps.PLAIN)
        evidence = (
            f"gain on unseen pixels {statistics.fmean(gains):+.2f} dB; α varies by "
            f"{statistics.fmean(spreads[key] for key in tables[group]):.1e} channels"
        )
        return Finding(decided(gains, CLOSE["psnr"]), evidence, _pictures(tables[group]))

    return judge


# ── shapes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def best_shapes(name: str) -> Judge:
    """Ours-Sine has the best average Chamfer, above its floor in 1e-6, or IoU."""
    read: Read = (
        (lambda line: 1e6 * (line["metrics"]["chamfer"] - line["metrics"]["chamfer_floor"]))
        if name == "chamfer"
        else metric("iou")
    )
    close, sign = (0.05, -1) if name == "chamfer" else (0.001, 1)

    def judge(lines: Lines) -> Finding:
        others = [row for row in shapes.METHODS if row != "al-sine"]
        tables = shared(lines, ("al-sine", *others), read)
        verdicts = [decided(differences(tables, "al-sine", row, sign), close) for row in others]
        label = "Chamfer above its floor in 1e-6" if name == "chamfer" else "IoU"
        return Finding(combined(verdicts), f"{label}: {_values(tables, '.4f')}", _pictures(tables["al-sine"]))

    return judge


def normals(part: str, ours: str, others: Sequence[str]) -> Judge:
    """A method's normals are right on a part of the surface, more than those of others."""

    def judge(lines: Lines) -> Finding:
        tables = shared(lines, (ours, *others), metric(f"normals_{part}"))
        verdicts = [decided(differences(tables, ours, row), 0.005) for row in others]
        evidence = f"agreement of normals, {part}: {_values(tables, '.1%')}"
        return Finding(combined(verdicts), evidence, _pictures(tables[ours]))

    return judge
