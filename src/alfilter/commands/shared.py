"""What several commands need: a time, a number of cores, a result, in words."""

from __future__ import annotations

import argparse
import json
import os
import re
from typing import Any

from alfilter.errors import UserError
from alfilter.runtime.limits import cores


def add_json(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="one JSON object on stdout")


def seconds(text: str) -> float:
    """A duration in seconds.

    >>> seconds("90s"), seconds("1.5m"), seconds("1h"), seconds("20")
    (90.0, 90.0, 3600.0, 20.0)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(s|m|h|)", text.strip())
    if match is None or float(match[1]) <= 0:
        raise UserError(f"a time looks like 90s, 5m or 1h, got {text!r}")
    return float(match[1]) * {"s": 1, "": 1, "m": 60, "h": 3600}[match[2]]


def use_threads(count: int | None) -> None:
    """Compute on that many threads; without a number on as many as this process may keep busy."""
    if count is not None and not 1 <= count <= 1024:
        raise UserError(f"--threads must be between 1 and 1024, got {count}; the number of cores is best")
    import torch

    if count is not None:
        torch.set_num_threads(count)
    elif not os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(min(torch.get_num_threads(), cores()))


def print_result(line: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(line))
        return
    for group, values in (("", line["metrics"]), ("held out ", line["heldout"] or {})):
        for name, value in values.items():
            print(f"{group + name:<16}{'infinite' if value is None else number(value)}")
    for name in ("steps", "seconds", "params", "model"):
        if name in line:
            print(f"{name:<16}{line[name]}")


def number(value: float) -> str:
    """Four decimals, or four digits of what is too small for them.

    >>> number(31.25), number(2.851e-6), number(0.0)
    ('31.2500', '2.851e-06', '0.0000')
    """
    return f"{value:.3e}" if 0 < abs(value) < 1e-3 else f"{value:.4f}"
