"""The result lines behind published tables and verdicts, shipped with the package: complete but for pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alfilter.experiments.study import Lines
from alfilter.files import write_text

FOLDER = Path(__file__).parent / "lines"
_LEFT_OUT = ("pictures", "window", "maps")
_STEPS = (1, 2, 5, 10, 20, 30, 50, 70, 100, 200, 500, 1000, 2000, 3000, 4000)


def committed_lines() -> dict[str, Lines]:
    """The kept lines by the name of their study."""
    return read_lines(FOLDER)


def read_lines(folder: Path) -> dict[str, Lines]:
    """The result lines in a folder by the name of their study; of doubles the last."""
    from alfilter.runs.folder import read_result_lines

    return {path.stem: read_result_lines(path) for path in sorted(folder.glob("*.jsonl"))}


def compact(line: Mapping[str, Any]) -> dict[str, Any]:
    """A result line without pictures, and with a few points of its curve: at some steps, or the last before them.

    >>> compact({"group": "siren", "pictures": {}, "curve": [[1, 5.0], [2, 6.0], [3, 7.0], [4, 8.0], [6, 9.0]]})
    {'group': 'siren', 'curve': [[1, 5.0], [2, 6.0], [4, 8.0], [6, 9.0]]}
    """
    small = {name: value for name, value in line.items() if name not in _LEFT_OUT}
    if "curve" in small:
        small["curve"] = _few(small["curve"])
    return small


def _few(curve: list[list[float]]) -> list[list[float]]:
    """Of a curve the last points that are not after some steps, and its end."""
    end = curve[-1][0] if curve else 0
    reached = [[point for point in curve if point[0] <= step][-1:] for step in (*_STEPS, end)]
    kept = {point[0]: point for points in reached for point in points}
    return list(kept.values())


def keep(source: Path, study: str, folder: Path = FOLDER) -> Path:
    """Write the compact lines of a study into the folder of kept ones, those of a run that was repeated replaced."""
    path = folder / f"{study}.jsonl"
    merged = {line["name"]: line for lines in (read_lines(folder).get(study, []), read_lines(source).get(study, []))
            for line in map(compact, lines)}  # fmt: skip
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in merged.values()))
    return path
