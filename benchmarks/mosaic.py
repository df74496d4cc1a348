"""How long does a picture take to 30 dB, from 512 × 512 to 8,192 × 8,192, and in how much memory?

Every picture is a mosaic of those in a folder, written as a memory-mapped file, and fitted by `alfilter fit --until`
with a budget in proportion to its pixels. Prints the seconds of training, the quality, and the peak of the process.

    python benchmarks/mosaic.py FOLDER                            # 512² to 8,192²; the largest has ten minutes
    python benchmarks/mosaic.py FOLDER --sides 512,1024 --until 40
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from large import run
from machine import machine

LARGEST, BUDGET, LEAST = 8192, 600.0, 5.0  # seconds for a picture of that side; the least that any one has


def tiles(folder: Path, side: int) -> list[np.ndarray]:
    """All whole squares of the pictures in a folder."""
    squares = []
    for path in sorted(folder.glob("*.png")):
        pixels = np.asarray(Image.open(path).convert("RGB"))
        rows, columns = (size // side for size in pixels.shape[:2])
        squares += [
            pixels[r * side : (r + 1) * side, c * side : (c + 1) * side] for r in range(rows) for c in range(columns)
        ]
    return squares


def make(path: Path, side: int, squares: list[np.ndarray]) -> None:
    """Write the mosaic tile by tile; where there are too few, they come again."""
    picture = np.lib.format.open_memmap(path, mode="w+", dtype=np.uint8, shape=(side, side, 3))
    tile = len(squares[0])
    for number in range((side // tile) ** 2):
        row, column = divmod(number, side // tile)
        picture[row * tile : (row + 1) * tile, column * tile : (column + 1) * tile] = squares[number % len(squares)]
    picture.flush()


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("folder", type=Path, help="pictures to take the tiles from")
    p.add_argument("--sides", default="512,1024,2048,4096,8192")
    p.add_argument("--tile", type=int, default=256, help="side of a tile in pixels")
    p.add_argument("--until", type=float, default=30.0, help="dB")
    p.add_argument("--words", default="", help="more words for alfilter fit")
    arguments = p.parse_args()
    squares = tiles(arguments.folder, arguments.tile)
    if not squares:
        sys.exit(f"no PNG pictures of at least {arguments.tile} pixels in {arguments.folder}")
    print(machine())
    for side in map(int, arguments.sides.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "mosaic.npy"
            make(picture, side, squares)
            budget = max(LEAST, BUDGET * (side / LARGEST) ** 2)
            words = ["fit", str(picture), "--until", f"{arguments.until}dB", "--budget", f"{budget:g}s",
                     "--out", f"{folder}/run", "--json", "--quiet", *shlex.split(arguments.words)]  # fmt: skip
            done = run(words)
        line = json.loads(done["output"])
        print(
            f"{side:>5}²  {line['seconds']:7.1f} s of training, {done['seconds']:7.1f} s in all   "
            f"{line['metrics']['psnr']:.2f} dB   {line['params']:,} parameters   "
            f"peak {done['peaks'][0] / 1e9:.2f} GB",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
