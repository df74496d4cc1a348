"""Makes every screenshot of the README and the documents: one command, everything it needs is made on the way.

python docs/screenshots.py

It fits the small models it needs, a minute of one core for all five (a picture by three methods, a torus smooth on
one side and ridged on the other, a terrain from scattered points), kept in `runs/screenshots` for the next time; opens
the live pages and the exported ones in a headless Chromium, and writes docs/images. `--runs FOLDER`, `--out FOLDER`,
`--only view,view-zoom`, or `--only all` for screens that no document shows. Needs playwright and a Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from alfilter.cli import main as alfilter
from alfilter.export import export_file
from alfilter.training import load
from alfilter.viewer.base import Viewer
from alfilter.viewer.open import open_viewer
from alfilter.viewer.server import Server

IMAGES = Path(__file__).parent / "images"
CLOCK = ["--train", "clock=cpu", "--threads", "1", "--quiet"]  # core seconds: the same models on a busy machine
FITS = {
    "astronaut": ["sample:astronaut", "--budget", "24s", "--snapshots", "24"],
    "siren": ["sample:astronaut", "--method", "siren", "--budget", "8s"],
    "bacon": ["sample:astronaut", "--method", "bacon", "--budget", "8s"],
    "torus": ["{runs}/torus.obj", "--budget", "14s"],
    "terrain": ["{runs}/terrain.csv", "--coords", "longitude,latitude", "--values", "elevation", "--budget", "6s"],
}

PICK = "const pick = (g, v) => view.controls.pick(g, v), $ = (id) => document.getElementById(id);"
STEER = """$('brush').click(); pick('kind', 'lower'); view.state.radius = 40;
  const [rows, columns] = view.shape;
  for (let k = 0; k < 96; k++) view.controls.stroke.dab('m0', [columns * (0.2 + 0.04 * (k % 6)), rows * 0.74]);
  $('s-steer').scrollIntoView()"""
MOMENT = "$('moment').value = 2; view.controls.atMoment(2); $('s-history').scrollIntoView()"
LEVELS = """pick('mode', 'side'); view.controls.set({ beside: ['m0:l1', 'm0:l2', 'm0:l3', 'm0'] });
  view.lookAt(255.5, 200, 0)"""
ZOOM = "pick('mode', 'split'); view.lookAt(...view.tour.lively(), 40)"
SIDE = "pick('mode', 'side'); view.lookAt(...view.tour.lively(), 20)"
FACE = "alfilter.show(55)"
EYE = "alfilter.setView({ zoom: 14, row: 118, column: 213 }); alfilter.show(40)"

# what says that everything on a page has arrived
ARRIVED = {
    "live": "view.settled().then(() => true)",
    "shape": "view.level !== null && !view.refining && !view.cuttingNow && !view.frame",
    "html": "alfilter.still",
}


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the page (live, shape, html) of which runs, the screen, the scheme, what is done first.

    cursor: where it is, in shares of the stage.
    """

    name: str
    page: str
    runs: tuple[str, ...]
    size: tuple[int, int] = (1440, 900)
    scheme: str = "light"
    do: str = ""
    cursor: tuple[float, float] | None = None
    tour: bool = False
    ratio: float = 1.0
    shown: bool = True  # by a document


ONE, TWO, PHONE, PROJECTOR = ("astronaut",), ("astronaut", "siren"), (375, 812), (1920, 1080)
SHOTS = [
    Shot("view", "live", ONE, do="pick('overlay', 'alpha')", cursor=(0.42, 0.30)),
    Shot("view-zoom", "live", ONE, scheme="dark", do=ZOOM, cursor=(0.3, 0.4)),
    Shot("view-compare", "live", TWO, scheme="dark", do=SIDE, cursor=(0.2, 0.5)),
    Shot("view-steer", "live", ONE, scheme="dark", do=STEER, cursor=(0.43, 0.76)),
    Shot("view-history", "live", ONE, do=MOMENT),
    Shot("view-levels", "live", ("bacon",), do=LEVELS, shown=False),
    Shot("view-phone", "live", ONE, PHONE, do="pick('overlay', 'alpha')", cursor=(0.5, 0.4), ratio=2.0),
    Shot("view-shape", "shape", ("torus",), do="document.getElementById('open').click(); view.setSlice(2, 0)",
         cursor=(0.6, 0.5)),
    Shot("export", "html", ONE, do=FACE, cursor=(0.45, 0.3)),
    Shot("export-map", "html", ("terrain",), cursor=(0.5, 0.5), shown=False),
    Shot("view-tour", "live", ONE, tour=True, shown=False),
    Shot("view-difference", "live", TWO, do="pick('mode', 'diff'); view.fit()", cursor=(0.5, 0.5), shown=False),
    Shot("view-phone-dark", "live", ONE, PHONE, "dark", tour=True, ratio=2.0, shown=False),
    Shot("view-projector", "live", ONE, PROJECTOR, do="pick('mode', 'split'); pick('overlay', 'alpha')",
         cursor=(0.4, 0.4), shown=False),
    Shot("view-shape-phone", "shape", ("torus",), PHONE, "dark", cursor=(0.4, 0.5), ratio=2.0, shown=False),
    Shot("view-shape-projector", "shape", ("torus",), PROJECTOR, "dark", "view.setSlice(0, 0.1)", shown=False),
    Shot("export-phone", "html", ONE, PHONE, do=FACE, cursor=(0.5, 0.4), ratio=2.0, shown=False),
    Shot("export-map-phone", "html", ("terrain",), PHONE, "dark", ratio=2.0, shown=False),
    Shot("export-projector", "html", ONE, PROJECTOR, "dark", EYE, (0.5, 0.5), shown=False),
    Shot("export-map-projector", "html", ("terrain",), PROJECTOR, shown=False),
]  # fmt: skip


# ---- the models


def torus(path: Path) -> None:
    """A torus whose tube is smooth on one side and ridged on the other."""
    around, along = 360, 180
    u, v = np.meshgrid(np.arange(around) / around * 2 * np.pi, np.arange(along) / along * 2 * np.pi, indexing="ij")
    tube = 0.36 + 0.03 * np.sin(30 * u) * np.sin(12 * v) * np.clip(np.cos(u), 0, 1)
    corners = np.stack(((1 + tube * np.cos(v)) * np.cos(u), (1 + tube * np.cos(v)) * np.sin(u), tube * np.sin(v)), -1)
    i, j = np.meshgrid(np.arange(around), np.arange(along), indexing="ij")
    at = [((i + a) % around * along + (j + b) % along + 1).ravel() for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    lines = [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in corners.reshape(-1, 3)]
    lines += [f"f {a} {b} {c}\nf {a} {c} {d}" for a, b, c, d in zip(*at, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def terrain(path: Path) -> None:
    """6,000 random places of the height map that comes with matplotlib."""
    from matplotlib.cbook import get_sample_data

    with get_sample_data("jacksboro_fault_dem.npz") as data:
        height, west, east = data["elevation"], float(data["xmin"]), float(data["xmax"])
        top, bottom = sorted((float(data["ymin"]), float(data["ymax"])), reverse=True)
    rows, columns = height.shape
    picked = np.random.default_rng(0).choice(height.size, 6000, replace=False)
    row, column = np.unravel_index(picked, height.shape)
    x, y = west + (east - west) * column / (columns - 1), top - (top - bottom) * row / (rows - 1)
    lines = [f"{a:.6f},{b:.6f},{c}" for a, b, c in zip(x, y, height[row, column], strict=True)]
    path.write_text("longitude,latitude,elevation\n" + "\n".join(lines) + "\n")


def fitted(runs: Path, names: set[str]) -> None:
    """Fit those models that are not there yet."""
    runs.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        if (runs / name / "model.safetensors").exists():
            continue
        if name in ("torus", "terrain"):
            make = {"torus": torus, "terrain": terrain}[name]
            make(runs / f"{name}.{'obj' if name == 'torus' else 'csv'}")
        words = [word.format(runs=runs) for word in FITS[name]]
        if alfilter(["fit", *words, *CLOCK, "--out", str(runs / name), "--overwrite"]):
            raise SystemExit(f"the fit of {name} failed")


# ---- the pages


@contextmanager
def served(viewer: Viewer) -> Iterator[str]:
    with Server(viewer, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def address(shot: Shot, runs: Path) -> Iterator[str]:
    """Where the page of a shot is."""
    folders = [str(runs / name) for name in shot.runs]
    if shot.page == "html":
        page = runs / f"{shot.runs[0]}.html"
        export_file(load(runs / shot.runs[0] / "model.safetensors"), page, shot.runs[0].capitalize())
        yield page.resolve().as_uri()
    else:
        with served(open_viewer(folders)) as where:
            yield where


def wait(page: Any, expression: str) -> None:
    for _ in range(2000):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise SystemExit(f"the page did not come to rest: {expression}")


def take(browser: Any, where: str, shot: Shot, out: Path) -> None:
    """One screenshot of a page, when everything on it has arrived."""
    width, height = shot.size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=shot.scheme, locale="en-US",
        device_scale_factor=shot.ratio, reduced_motion="reduce",
    )  # fmt: skip
    if not shot.tour:
        context.add_init_script("localStorage.setItem('alfilter-tour', 'seen')")
    page = context.new_page()
    page.on("console", lambda message: print(f"{shot.name}: {message.text}", file=sys.stderr))
    page.goto(where)
    wait(page, "window.alfilter !== undefined" if shot.page == "html" else "window.view !== undefined")
    settle = ARRIVED[shot.page]
    wait(page, settle)
    page.evaluate(f"() => {{ {PICK if shot.page == 'live' else ''} {shot.do} }}")
    page.wait_for_timeout(400)  # what was asked for is under way
    wait(page, settle)
    if shot.cursor is not None:
        box = page.locator("#stage").bounding_box()
        page.mouse.move(box["x"] + shot.cursor[0] * box["width"], box["y"] + shot.cursor[1] * box["height"])
        page.wait_for_timeout(400)
        wait(page, settle)
    page.wait_for_timeout(200)
    page.screenshot(path=out / f"{shot.name}.jpg", type="jpeg", quality=84)
    context.close()


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=Path, default=Path("runs/screenshots"), help="where the fitted models are kept")
    parser.add_argument("--out", type=Path, default=IMAGES, help="where the pictures go (default: docs/images)")
    parser.add_argument("--only", help="names of pictures, or all (default: those that a document shows)")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else [shot.name for shot in SHOTS if shot.shown]
    shots = [shot for shot in SHOTS if shot.name in names or arguments.only == "all"]
    fitted(arguments.runs, {name for shot in shots for name in shot.runs})
    arguments.out.mkdir(parents=True, exist_ok=True)
    program = os.environ.get("ALFILTER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    words = ["--no-sandbox", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]  # no graphics card is needed
    with sync_playwright() as started:
        for shot in shots:
            browser = started.chromium.launch(executable_path=program, args=words)
            with address(shot, arguments.runs) as where:
                take(browser, where, shot, arguments.out)
            browser.close()
            print(arguments.out / f"{shot.name}.jpg")


if __name__ == "__main__":
    main()
