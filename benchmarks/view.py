"""How long a page waits: the first impression, the first full tile, and a whole screen, over HTTP as the page asks.

python benchmarks/view.py [MODEL]

Without a model a field of the default size for a 512×512 picture is timed: its numbers do not matter, its cost does.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread

from alfilter.methods import build
from alfilter.signals import sample
from alfilter.tasks import ImageTask
from alfilter.training import save
from alfilter.viewer.open import grid_models, open_files
from alfilter.viewer.picture import PictureViewer
from alfilter.viewer.server import Server
from alfilter.viewer.tiles import OCTAVE, TILE, TileIndex, extent
from machine import machine

STAGE = (1045, 845)  # pixels of the stage on a screen of 1440×900


def main(model: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if model is None:
            task = ImageTask(sample("astronaut"))
            field = build("al-sine", in_dim=2, out_dim=3, preset="default", samples=task.samples)
            field.signal = task.describe()
            save(field, Path(folder) / "model.safetensors")
            model = folder
        waits = [once(model) for _ in range(5)]
    print(machine())
    for name, values in zip(
        ("first impression", "first full tile", "whole screen"), zip(*waits, strict=True), strict=True
    ):
        print(
            f"{name:<18}{1000 * statistics.median(values):7.0f} ms   (of {len(values)}, worst {1000 * max(values):.0f})"
        )


def once(model: str) -> tuple[float, float, float]:
    """Seconds until a coarse picture, one tile at full resolution, and all of them have arrived at a fresh page."""
    models = grid_models(open_files([model]))
    rows, columns = models[0].shape
    zoom = next(
        z
        for z in range(80, -80, -1)
        if max(columns * 2 ** (z / OCTAVE) / STAGE[0], rows * 2 ** (z / OCTAVE) / STAGE[1]) <= 1
    )
    viewer = PictureViewer(models)
    with Server(viewer) as server:
        viewer.warm_up()
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        connection = HTTPConnection("127.0.0.1", server.server_address[1])
        counts = [-(-extent(n, TileIndex(zoom, 0, 0).scale) // TILE) for n in (rows, columns)]
        tiles = [(zoom, y, x) for y in range(counts[0]) for x in range(counts[1])]
        began, seen = time.perf_counter(), []
        for z, y, x in [(zoom - 3 * OCTAVE, 0, 0), *tiles]:
            rough = "&rough=1" if z < zoom else ""  # as assets/tiles.js asks
            connection.request("GET", f"/api/tile?m=0&layer=field&z={z}&x={x}&y={y}{rough}")
            answer = connection.getresponse()
            assert answer.status == 200
            answer.read()
            seen.append(time.perf_counter() - began)
        connection.close()
        server.shutdown()
    return seen[0], seen[1], seen[-1]


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
