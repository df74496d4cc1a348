"""What the tests of the command line share: tiny pictures, tiny networks, commands in and out of this process."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from alfilter.cli import main
from alfilter.signals import write_image

SIZES = ("--set", "width=16", "--set", "depth=1")
TINY = (*SIZES, "--set", "levels=3", "--set", "grid=8", "--threads", "1")
FILES = (
    *("model.safetensors", "config.json", "metrics.json", "history.jsonl", "report.html", "alpha.png", "error.png"),
    *("reconstruction.png", "convergence.png"),
)


class Outcome(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


def alfilter(*words: str | Path) -> Outcome:
    """A command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(word) for word in words])
    return Outcome(code, out.getvalue(), err.getvalue())


def complaint(*words: str | Path) -> str:
    """The one line of a command that must be refused: exit code 2, no traceback, on stdout its JSON if asked for."""
    code, out, err = alfilter(*words)
    assert code == 2, err
    assert err.startswith("alfilter: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    message = err.removeprefix("alfilter: ").strip()
    assert out == (json.dumps({"error": message}) + "\n" if "--json" in words else "")
    return message


def picture(path: Path, height: int = 12, width: int = 10, channels: int = 3, bits: int = 8, seed: int = 0) -> Path:
    """A smooth random picture in a file."""
    coarse = np.random.default_rng(seed).random((3, 3, channels))
    rows, columns = np.linspace(0, 2, height), np.linspace(0, 2, width)
    smooth = np.stack([_bilinear(coarse[..., c], rows, columns) for c in range(channels)], axis=-1)
    write_image(path, smooth, bits)
    return path


def _bilinear(nodes: Any, rows: Any, columns: Any) -> Any:
    along = np.stack([np.interp(columns, range(3), row) for row in nodes])
    return np.stack([np.interp(rows, range(3), column) for column in along.T], axis=1)


def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no charts: they take most of the time of a tiny run."""
    buffer = io.BytesIO()
    Image.new("L", (8, 8)).save(buffer, "PNG")
    drawn: Callable[..., bytes] = lambda *arguments: buffer.getvalue()  # noqa: E731
    for name in ("error_figure", "spectrum_figure", "convergence_figure"):
        monkeypatch.setattr(f"alfilter.report.figures.run.{name}", drawn)
    for name in ("alpha_figure", "scale_response_figure"):
        monkeypatch.setattr(f"alfilter.report.figures.frequency.{name}", drawn)
    monkeypatch.setattr("alfilter.render.run.image.sparse_figure", drawn)


def start(words: list[str], log: Path, *, group: bool = False) -> ForkServerProcess:
    """A command in a process of its own, made from a server that has imported everything already.

    group: the process leads a group of its own, which a test can signal.
    """
    context = multiprocessing.get_context("forkserver")
    heavy = ["alfilter.runs.run", "alfilter.report.figures.run", "alfilter.kernels.activations", "torch._dynamo"]
    context.set_forkserver_preload(["tests.support.commands", *heavy])
    process = context.Process(target=_command, args=(words, str(log), group))
    process.start()
    return process


def _command(words: list[str], log: str, group: bool) -> None:
    if group:
        os.setpgid(0, 0)
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        sys.exit(main(words))
