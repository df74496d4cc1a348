"""From a run folder to its report.html."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alfilter.errors import UserError
from alfilter.evaluate.streaming import excerpt, picture_step
from alfilter.files import write_text
from alfilter.report.page.html import render_page
from alfilter.runs.folder import RunFolder

PNG = b"\x89PNG\r\n\x1a\n"


def write_report(folder: str | Path) -> Path:
    """Write the report of a run folder from its config, scores, history and the pictures that exist."""
    run = RunFolder(folder)
    for file in (run.config, run.metrics):
        if not file.is_file():
            raise UserError(f"expected a run folder with {file.name}, got {str(run)!r}; give the folder of a fit")
    config, result = run.read_config(), run.read_metrics()
    page = render_page(
        title=title_of(config, result),
        facts=facts_of(config, result),
        metrics=_mapping(result.get("metrics") or {}, run.metrics, "metrics"),
        pictures=read_pictures(run),
        history=run.read_history(),
        heldout=_mapping(result["heldout"], run.metrics, "heldout") if result.get("heldout") else None,
        config={"method": result.get("method", ""), **config},
    )
    write_text(run.report, page)
    return run.report


def read_pictures(run: RunFolder) -> dict[str, bytes]:
    """The PNG files of a run that are there, by name."""
    files = run.pictures()
    pictures = {name: _bytes(file) for name, file in files.items()}
    for name, data in pictures.items():
        if not data.startswith(PNG) or len(data) < 24:
            raise UserError(f"{str(files[name])!r} is not a PNG file; remove it or write it again")
    return pictures


def title_of(config: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """What was fitted to what, without the folders of the signal's path.

    >>> title_of({"method": "siren"}, {"signal": "photos/cat.png"})
    'siren on cat.png'
    """
    signal = str(result.get("signal") or "an unnamed signal")
    return f"{result.get('method') or config.get('method') or 'A field'} on {Path(signal).name or signal}"


def facts_of(config: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, str]:
    """What a reader wants to know first, as words.

    >>> facts_of({"seed": 0}, {"method": "siren", "steps": 1000, "seconds": 83.4, "params": 198915})
    {'Method': 'siren', 'Steps': '1,000', 'Time': '1 min 23 s', 'Parameters': '198,915', 'Seed': '0'}
    """
    facts = {
        "Method": result.get("method"),
        "Preset": config.get("preset"),
        "Signal": result.get("signal"),
        "Steps": _grouped(result.get("steps")),
        "Time": _duration(result.get("seconds")),
        "Parameters": _grouped(result.get("params")),
        "Pictures": _reduced(config.get("signal")),
        "Seed": config.get("seed"),
        "Model file": result.get("model"),
    }
    return {name: str(value) for name, value in facts.items() if value is not None}


def _reduced(signal: object) -> str | None:
    """What the pictures leave out, where the signal is too large to be shown.

    >>> _reduced({"shape": [8192, 8192]})
    'every 16th pixel of 8192x8192'
    """
    shape = signal.get("shape") if isinstance(signal, Mapping) else None
    if not isinstance(shape, list) or not all(isinstance(n, int) for n in shape):
        return None
    if len(shape) == 1 and (drawn := excerpt(tuple(shape))) != slice(0, shape[0]):
        return f"the middle {drawn.stop - drawn.start:,} of {shape[0]:,} samples"
    if (step := picture_step(tuple(shape))) == 1:
        return None
    ending = {2: "nd", 3: "rd"}.get(step, "th")
    return f"every {step}{ending} pixel of {shape[1]}x{shape[0]}"


def _grouped(value: object) -> str | None:
    return f"{value:,}" if isinstance(value, int) else None if value is None else str(value)


def _duration(seconds: object) -> str | None:
    """Seconds in at most two units.

    >>> _duration(3.21), _duration(83.4), _duration(7260.0)
    ('3.2 s', '1 min 23 s', '2 h 1 min')
    """
    if not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        return None
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _mapping(value: object, path: Path, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UserError(
            f"{str(path)!r}: expected an object under {name!r}, got {type(value).__name__}; run the fit again"
        )
    return value


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {error.strerror or error}; check its permissions") from error
