"""A headless Chromium, or a skip that says why."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

# software graphics, so that a test of WebGL2 needs no graphics processor
SOFTWARE = ("--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--use-angle=swiftshader")


def find_browser() -> str | None:
    """A Chromium or Chrome on this machine."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("ALFILTER_CHROMIUM") or next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def chromium(words: Sequence[str] = SOFTWARE) -> Iterator[Any]:
    """A running browser, started with these words."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'alfilter[dev]'")
    path = find_browser()
    if path is None:
        pytest.skip("needs a browser: install chromium or set ALFILTER_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(words))
        try:
            yield browser
        finally:
            browser.close()


def wait_until(page: Any, expression: str, seconds: float = 60.0) -> None:
    """Ask the page until an expression holds; Playwright's own waiting needs an eval, which our pages forbid."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"after {seconds} s still not: {expression}"
        page.wait_for_timeout(30)
