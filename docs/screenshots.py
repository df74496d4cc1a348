"""Makes the screenshots of the live page for the README and the documents, from finished run folders of one picture.

python docs/screenshots.py runs/astronaut-al-sine runs/astronaut-siren

The first run is shown alone, both are compared; `alfilter fit … --snapshots 24` gives the first its history. `--out
FOLDER`, `--only view,view-zoom` or `--only all` for screens that no document shows. Needs playwright and a Chromium.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

from alfilter.viewer.gallery import Gallery
from alfilter.viewer.models import open_models, open_reference
from alfilter.viewer.server import Server

IMAGES = Path(__file__).parent / "images"
PICK = "const pick = (g, v) => view.controls.pick(g, v), $ = (id) => document.getElementById(id);"


STEER = """$('brush').click(); pick('kind', 'lower'); view.state.radius = 40;
  const [rows, columns] = view.shape;
  for (let k = 0; k < 6; k++) view.controls.stroke.dab('m0', [columns * (0.35 + 0.05 * k), rows * 0.3]);
  $('s-steer').scrollIntoView()"""
MOMENT = "$('moment').value = 4; view.controls.atMoment(4); $('s-history').scrollIntoView()"


@dataclass(frozen=True)
class Shot:
    """One picture: its name, the screen, the scheme, what is done first, where the cursor is in shares of the stage."""

    name: str
    width: int
    height: int
    scheme: str = "light"
    do: str = ""
    cursor: tuple[float, float] | None = None
    tour: bool = False
    ratio: float = 1.0


SHOTS = [
    Shot("view", 1440, 900, do="pick('overlay', 'alpha')", cursor=(0.42, 0.30)),
    Shot("view-tour", 1440, 900, tour=True),
    Shot("view-zoom", 1440, 900, "dark", "pick('mode', 'split'); view.lookAt(...view.tour.lively(), 40)", (0.3, 0.4)),
    Shot("view-compare", 1440, 900, "dark", "pick('mode', 'side'); view.lookAt(...view.tour.lively(), 20)", (0.2, 0.5)),
    Shot("view-difference", 1440, 900, "light", "pick('mode', 'diff'); view.fit()", (0.5, 0.5)),
    Shot("view-steer", 1440, 900, "dark", STEER, (0.6, 0.3)),
    Shot("view-history", 1440, 900, "light", MOMENT),
    Shot("view-phone", 375, 812, "light", "pick('overlay', 'alpha')", (0.5, 0.4), ratio=2.0),
    Shot("view-phone-dark", 375, 812, "dark", tour=True, ratio=2.0),
    Shot("view-projector", 1920, 1080, "light", "pick('mode', 'split'); pick('overlay', 'alpha')", (0.4, 0.4)),
]  # fmt: skip


DOCUMENTED = ["view", "view-zoom", "view-compare", "view-steer", "view-phone"]


def take(browser: Any, address: str, shot: Shot, out: Path) -> None:
    """One screenshot of the page, when everything on it has arrived."""
    size = {"width": shot.width, "height": shot.height}
    context = browser.new_context(
        viewport=size, color_scheme=shot.scheme, locale="en-US", device_scale_factor=shot.ratio, reduced_motion="reduce"
    )
    if not shot.tour:
        context.add_init_script("localStorage.setItem('alfilter-tour', 'seen')")
    page = context.new_page()
    page.on("console", lambda message: print(f"{shot.name}: {message.text}", file=sys.stderr))
    page.goto(address)
    while not page.evaluate("window.view !== undefined"):
        page.wait_for_timeout(30)
    page.evaluate("view.settled()")
    page.evaluate(f"() => {{ {PICK} {shot.do} }}")
    page.evaluate("view.settled()")
    if shot.cursor is not None:
        box = page.locator("#stage").bounding_box()
        page.mouse.move(box["x"] + shot.cursor[0] * box["width"], box["y"] + shot.cursor[1] * box["height"])
        page.evaluate("view.settled()")
    page.wait_for_timeout(200)
    page.screenshot(path=out / f"{shot.name}.jpg", type="jpeg", quality=86)
    page.evaluate(
        "fetch('/api/reset', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{\"m\": 0}'})"
    )
    context.close()


def main(runs: list[str], out: Path, names: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for shot in SHOTS:
            if shot.name not in names and names != ["all"]:
                continue
            models = open_models(runs if shot.name in ("view-compare", "view-difference") else runs[:1])
            with Server(Gallery(models, open_reference(None, models))) as server:
                thread = Thread(target=server.serve_forever)
                thread.start()
                take(browser, server.address, shot, out)
                server.shutdown()
                thread.join()
            print(out / f"{shot.name}.jpg")
        browser.close()


if __name__ == "__main__":
    words = sys.argv[1:]
    target = Path(words[words.index("--out") + 1]) if "--out" in words else IMAGES
    only = words[words.index("--only") + 1].split(",") if "--only" in words else DOCUMENTED
    main([word for word in words if Path(word).exists() and Path(word) != target], target, only)
