"""A headless Chromium that draws WebGL2 in software, for pages that need it, or a skip that says why."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.viewer.conftest import find_browser


@contextmanager
def chromium() -> Iterator[Any]:
    """A running browser. Software graphics, so that a test needs no graphics processor."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'alfilter[dev]'")
    path = find_browser()
    if path is None:
        pytest.skip("needs a browser: install chromium or set ALFILTER_CHROMIUM")
    with playwright.sync_playwright() as driver:
        words = ["--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--use-angle=swiftshader"]
        browser = driver.chromium.launch(executable_path=path, args=words)
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
