"""What a report is about: run folders and result lines, found below the paths a user names."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alfilter.errors import UserError
from alfilter.report.page.run import PNG, read_pictures
from alfilter.runs.folder import HISTORY, RunFolder, read_result_lines

Values = Mapping[str, Mapping[str, float]]  # row → metric → number

_LARGEST = 1e150  # of a number whose spread can be told
FOLDERS = "runs"  # the name under which run folders are grouped
_SHOWN = ("reference", "reconstruction", "observed")  # pictures of a run folder that can be compared pixel by pixel
_DRAWN = ("alpha", "error", "scales", "spectrum", "slice", "map", "parity", "sparse")  # those drawn as charts


@dataclass(frozen=True)
class Entry:
    """One finished run.

    study: the file it was a line of, or `runs`. group: the row of the table it counts for. pictures: reference,
    reconstruction, observed and α as plain pixels; charts: figures with axes. alpha: range and meaning of its map.
    """

    study: str
    group: str
    method: str
    signal: str
    observe: str = "all"
    size: int | None = None
    seed: int = 0
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    heldout: Mapping[str, float | None] = field(default_factory=dict)
    steps: int | None = None
    seconds: float | None = None
    params: int | None = None
    memory: int | None = None
    version: str = ""
    curve: Sequence[tuple[float, float]] = ()
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    charts: Mapping[str, bytes] = field(default_factory=dict)
    alpha: Mapping[str, Any] = field(default_factory=dict)
    line: Mapping[str, Any] = field(default_factory=dict)

    @property
    def picture_key(self) -> tuple[str, str, int | None]:
        """Runs with one key show the same picture and may be compared pixel by pixel."""
        return self.signal, self.observe, self.size


@dataclass(frozen=True)
class Collection:
    """All that was found. figures: study → file name → PNG bytes beside its lines."""

    entries: list[Entry]
    figures: dict[str, dict[str, bytes]]

    def studies(self) -> dict[str, list[Entry]]:
        """The entries by study, in the order they were found."""
        studies: dict[str, list[Entry]] = {}
        for entry in self.entries:
            studies.setdefault(entry.study, []).append(entry)
        return studies


@dataclass(frozen=True)
class Facts:
    """What an overview says beside the numbers of the runs.

    claims: the paper's, each with `claim`, `where`, `verdict`, `evidence`, the `command` to repeat it, and `size`.

    printed: study → title and values of the paper's table. captions: name of a figure → its caption.
    """

    claims: Sequence[Mapping[str, str]] = ()
    printed: Mapping[str, tuple[str, Values]] = field(default_factory=dict)
    captions: Mapping[str, str] = field(default_factory=dict)


def collect(paths: Sequence[str | Path]) -> Collection:
    """Everything below the paths: run folders, files of result lines, and the figures beside these."""
    entries: list[Entry] = []
    figures: dict[str, dict[str, bytes]] = {}
    for path in map(Path, paths):
        if not path.exists():
            raise UserError(f"there is no {path}; name run folders, or folders or files of result lines")
        _visit(path, entries, figures)
    if not entries:
        named = ", ".join(str(path) for path in paths)
        raise UserError(f"no finished run and no result line below {named}; run 'alfilter fit' or 'experiment' first")
    return Collection(entries, figures)


def _visit(path: Path, entries: list[Entry], figures: dict[str, dict[str, bytes]]) -> None:
    if path.is_file():
        _add_lines(path, entries, figures)
    elif RunFolder(path).holds_results:
        entries.append(from_folder(path))
    elif path.is_dir():
        for child in sorted(path.iterdir()):
            if child.is_dir() or (child.suffix == ".jsonl" and child.name != HISTORY):
                _visit(child, entries, figures)


def _add_lines(path: Path, entries: list[Entry], figures: dict[str, dict[str, bytes]]) -> None:
    study = path.stem
    named = [entry.line.get("name") for entry in entries if entry.study == study]
    fresh = [line for line in read_result_lines(path) if line["name"] not in named]
    entries += [from_line(study, line) for line in fresh]
    for file in sorted(path.parent.glob(f"{study}*.png")):
        if _owner(file, path.parent) == study and (data := file.read_bytes()).startswith(PNG):
            figures.setdefault(study, {})[file.stem] = data


def _owner(figure: Path, folder: Path) -> str:
    """The study with the longest name that the figure's name begins with."""
    stems = [file.stem for file in folder.glob("*.jsonl") if figure.stem.startswith(file.stem)]
    return max(stems, key=len, default="")


def from_line(study: str, line: Mapping[str, Any]) -> Entry:
    """An entry of a study's result line; what is not of its type counts as missing."""
    line = {
        **line,
        **{name: _table(line.get(name)) for name in ("metrics", "heldout", "pictures", "alpha")},
        **{name: _whole(line.get(name)) for name in ("size", "seed", "steps", "params", "peak_memory")},
    }
    return Entry(
        study=study,
        group=str(line.get("group") or line.get("method")),
        method=str(line.get("method")),
        signal=str(line.get("image") or line.get("signal") or ""),
        observe=str(line.get("observe") or "all"),
        size=line["size"],
        seed=line["seed"] or 0,
        metrics=_numbers(line["metrics"]),
        heldout=_numbers(line["heldout"]),
        steps=line["steps"],
        seconds=_number(line.get("seconds")),
        params=line["params"],
        memory=line["peak_memory"],
        version=str(line.get("version") or ""),
        curve=_points(line.get("curve")),
        pictures={name: data for name, text in line["pictures"].items() if (data := _decoded(text))},
        alpha=line["alpha"] if {"low", "high"} <= _numbers(line["alpha"]).keys() else {},
        line=line,
    )


def from_folder(folder: Path) -> Entry:
    """An entry of a run folder; what is not of its type counts as missing."""
    run = RunFolder(folder)
    config, result = run.read_config(), run.read_metrics()
    history, pictures = run.read_history(), read_pictures(run)
    signal = str(result.get("signal") or "")
    return Entry(
        study=FOLDERS,
        group=folder.name,
        method=str(result.get("method") or config.get("method") or ""),
        signal=Path(signal).name or signal,
        observe=str(_table(config.get("signal")).get("observe", "all")),
        seed=_whole(config.get("seed")) or 0,
        metrics=_numbers(result.get("metrics")),
        heldout=_numbers(result.get("heldout")),
        steps=_whole(result.get("steps")),
        seconds=_number(result.get("seconds")),
        params=_whole(result.get("params")),
        version=str(config.get("version") or ""),
        curve=_points([[line.get("step"), line.get("psnr")] for line in history]),
        pictures={name: data for name, data in pictures.items() if name in _SHOWN},
        charts={name: data for name, data in pictures.items() if name in _DRAWN},
        line={**config, **result, "name": str(folder.resolve())},
    )


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    """A number as it is, if its square is finite; none for anything else.

    >>> _number(2), _number(True), _number(float("nan")), _number("2")
    (2, None, None, None)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST
    return value if is_number else None  # type: ignore[return-value]


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)


def _numbers(value: object) -> dict[str, float | None]:
    """The numbers of a table by name; none where there was one that JSON does not have."""
    return {
        name: _number(entry) for name, entry in _table(value).items() if entry is None or _number(entry) is not None
    }


def _points(curve: object) -> list[tuple[float, float]]:
    if not isinstance(curve, list):
        return []
    pairs = [pair for pair in curve if isinstance(pair, list) and len(pair) == 2]
    return [(float(x), float(y)) for x, y in pairs if _number(x) is not None and _number(y) is not None]


def _decoded(text: object) -> bytes:
    """The PNG bytes of base64 text, or nothing when it holds something else."""
    try:
        data = b64decode(text, validate=True) if isinstance(text, str) else b""
    except (NotBase64, ValueError):
        return b""
    return data if data.startswith(PNG) else b""
