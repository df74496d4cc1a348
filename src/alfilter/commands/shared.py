"""Shared by several commands: common arguments, durations and decibels as text, threads, printing results."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from alfilter.errors import UserError
from alfilter.runtime.limits import cores


def add_json(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="one JSON object on stdout")


def add_model(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL", help="a model.safetensors or a run folder")


def whole(text: str) -> int:
    """A whole number, as the type of an argument.

    >>> whole("1000")
    1000
    """
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text[:40]!r}") from None


def real(text: str) -> float:
    """A number, as the type of an argument.

    >>> real("1e3")
    1000.0
    """
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {text[:40]!r}") from None


def seconds(text: str) -> float:
    """A duration in seconds.

    >>> seconds("90s"), seconds("1.5m"), seconds("1h"), seconds("20")
    (90.0, 90.0, 3600.0, 20.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(s|m|h|)", text.strip())
    if match is None or float(match[1]) <= 0:
        raise UserError(f"a time is above 0 and looks like 90s, 5m or 1h, got {text!r}; give such a one")
    return float(match[1]) * {"s": 1, "": 1, "m": 60, "h": 3600}[match[2]]


def decibels(text: str) -> float:
    """A quality in dB.

    >>> decibels("45dB"), decibels("38.5")
    (45.0, 38.5)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:db|)", text.strip().lower())
    if match is None or float(match[1]) <= 0:
        raise UserError(f"a quality is above 0 and looks like 45dB, got {text!r}; give such a one")
    return float(match[1])


def use_threads(count: int | None) -> None:
    """Compute on that many threads; without a number on as many as this process may keep busy."""
    if count is not None and not 1 <= count <= 1024:
        raise UserError(f"--threads must be between 1 and 1024, got {count}; the number of cores is best")
    import torch

    if count is not None:
        torch.set_num_threads(count)
    elif not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(min(torch.get_num_threads(), cores()))


def print_json(line: dict[str, Any]) -> None:
    """One object on one line of stdout; numbers that JSON does not have become null."""
    print(json.dumps(_plain(line)))


def _plain(value: Any) -> Any:
    """The same with null for NaN and infinity.

    >>> _plain({"psnr": math.inf, "rows": [1, math.nan]})
    {'psnr': None, 'rows': [1, None]}
    """
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_result(line: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(line)
        return
    for row in _aligned(_result_rows(line)):
        print(row)


def _result_rows(line: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is printed of a result line: names and values."""
    for group, values in (("", line["metrics"] or {}), ("held out ", line["heldout"] or {})):
        for name in values:
            yield group + name, score_text(name, values)
    if estimate := line.get("estimate"):
        errors = ", ".join(
            f"{name} ± {'unknown' if value is None else number(value)}"
            for name, value in estimate["standard_error"].items()
        )
        yield "scored on", f"{estimate['samples']:,} of {estimate['of']:,} samples ({errors}); eval scores all"
    if until := line.get("until"):
        yield "until", f"{until['quality']:g} dB {'reached' if until['reached'] else 'not reached'}"
    for name in ("steps", "seconds", "params", "model"):
        if name in line:
            yield name, str(line[name])


def _aligned(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Names and values in two columns, at least one space apart.

    >>> _aligned([("psnr", "30.0"), ("held out rmse_temp", "0.2")])
    ['psnr               30.0', 'held out rmse_temp 0.2']
    """
    pairs = list(rows)
    width = max((15, *(len(name) for name, _ in pairs)))
    return [f"{name:<{width}} {value}" for name, value in pairs]


def score_text(name: str, scores: Mapping[str, float | None]) -> str:
    """A score in words; null stands for what JSON cannot hold, and the scores beside it tell which number that was.

    No error at all makes PSNR and SNR infinite together; errors in pure silence make SNR alone minus infinite.

    >>> score_text("psnr", {"psnr": None}), score_text("snr", {"snr": None, "psnr": 20.0})
    ('infinite', 'minus infinite (errors in silence)')
    """
    value = scores[name]
    if value is not None:
        return number(value)
    if name == "snr" and scores.get("psnr") is not None:
        return "minus infinite (errors in silence)"
    return "infinite" if name.startswith(("psnr", "snr")) else "not a number"


def number(value: float) -> str:
    """Four decimals, or four digits of what is too small for them.

    >>> number(31.25), number(2.851e-6), number(0.0)
    ('31.2500', '2.851e-06', '0.0000')
    """
    return f"{value:.3e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"
