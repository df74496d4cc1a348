"""How long an exported page takes to show a whole picture in a browser without a graphics processor.

    python benchmarks/page.py [--method al-grid,al-sine] [--size 768x512] [--runs 3]

Fields as the presets `default` build them for that size, with numbers as they start: what they show does not change how
long it takes. Counted from opening the file until the whole picture is there at a sixteenth of the resolution, at a
fourth, and at every pixel of the screen, one per sample.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from alfilter.export import export_file
from alfilter.methods import Field, build
from machine import machine

STAGES = {"at 1/16": 16, "at 1/4": 4, "every pixel": 1}
WATCH = """() => { const shown = window.alfilter?.shown; return shown?.length ? Math.max(...shown) : null; }"""


def drawn(method: str, shape: tuple[int, int]) -> Field:
    field = build(method, in_dim=2, out_dim=3, samples=shape, preset="default")
    field.signal = {"kind": "image", "shape": list(shape), "channels": 3, "mode": "RGB", "bits": 8, "low": 0.0,
                    "high": 255.0}  # fmt: skip
    return field


def seconds(browser: Any, file: Path, shape: tuple[int, int]) -> list[float]:
    """Seconds until every tile of the screen has come to each of the stages."""
    page = browser.new_page(viewport={"width": shape[1] + 400, "height": shape[0] + 120}, locale="en-US")
    start = time.perf_counter()
    page.goto(file.as_uri())
    while not page.evaluate("() => Boolean(window.alfilter)"):
        page.wait_for_timeout(20)
    page.evaluate("() => alfilter.setView({ zoom: 1 })")
    reached: list[float] = []
    while len(reached) < len(STAGES):
        step = page.evaluate(WATCH)
        if step is not None and step <= list(STAGES.values())[len(reached)]:
            reached.append(time.perf_counter() - start)
        else:
            page.wait_for_timeout(20)
    page.close()
    return reached


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="al-grid,al-sine")
    parser.add_argument("--size", default="768x512")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print(machine())
    width, height = map(int, arguments.size.split("x"))
    program = os.environ.get("ALFILTER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for method in arguments.method.split(","):
            file = Path(folder) / f"{method}.html"
            export_file(drawn(method, (height, width)), file)
            runs = [seconds(browser, file, (height, width)) for _ in range(arguments.runs)]
            times = "  ".join(f"{name} {median(run[k] for run in runs):6.2f} s" for k, name in enumerate(STAGES))
            print(f"{method:10} {times}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
