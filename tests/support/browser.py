"""A real browser for pages, or a skip that says what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def opened(path: Path, width: int = 1200, **context: Any) -> Iterator[tuple[Any, list[str]]]:
    """The page of a file in headless Chromium, and what its console said, errors included."""
    result = next((where for name in NAMES if (where := shutil.which(name))), None)
    if result is None:
        pytest.skip("needs a Chromium on the path")
    sync = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=result, args=["--no-sandbox", "--disable-gpu"])
        try:
            page = browser.new_context(viewport={"width": width, "height": 900}, locale="en-US", **context).new_page()
            lines: list[str] = []
            page.on("console", lambda message: lines.append(message.text))
            page.on("pageerror", lambda error: lines.append(str(error)))
            page.on("request", lambda request: lines.append(request.url) if request.url.startswith("http") else None)
            page.goto(path.resolve().as_uri())
            yield page, lines
        finally:
            browser.close()
