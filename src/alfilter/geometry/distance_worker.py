"""A worker process that computes distances while the caller trains, where libigl does, which holds the GIL.

Arrays go through pipes: one line of JSON with type and shape, then the raw numbers. The worker ends with its input.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from alfilter.geometry.distance import MeshDistance
from alfilter.geometry.points import Array, Index


class DistanceWorker:
    """`signed_distance` of one mesh in another process. Answers are the same numbers as in this one."""

    def __init__(self, vertices: Array, faces: Index) -> None:
        home = str(Path(__file__).resolve().parents[2])
        paths = [home, os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p), "IGL_NUM_THREADS": "1"}
        with _signals_blocked():
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "alfilter.geometry.distance_worker"],  # -P: not from the current folder
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            )  # fmt: skip
        self._lock = Lock()
        weakref.finalize(self, _end, self._process)
        _send(self._input, vertices)
        _send(self._input, faces)

    def distance(self, points: Array) -> Array:
        """points: (n, 3) → (n,). OSError when the process is gone."""
        with self._lock:  # one request at a time
            _send(self._input, points)
            answer = _receive(self._output)
        if answer is None:
            raise OSError("the process that computes distances ended")
        return answer

    @property
    def _input(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes started inside never see the signals that stop a run: these are meant for the process that trains."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer every array of points with its distances until the input ends."""
    vertices, faces = _receive(source), _receive(source)
    if vertices is None or faces is None:
        return
    mesh = MeshDistance(vertices, faces)
    while (points := _receive(source)) is not None:
        _send(sink, mesh.signed(points))


def _send(stream: IO[bytes], array: NDArray[np.float64] | Index) -> None:
    block = np.ascontiguousarray(array)
    stream.write(json.dumps([block.dtype.str, list(block.shape)]).encode() + b"\n")
    stream.write(block.tobytes())
    stream.flush()


def _receive(stream: IO[bytes]) -> NDArray[Any] | None:
    line = stream.readline()
    if not line:
        return None
    dtype, shape = json.loads(line)
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    data = stream.read(size)
    return np.frombuffer(data, dtype=dtype).reshape(shape) if len(data) == size else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # nobody reads what was not sent yet
                stream.close()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
