"""The frame of a page: assets inline, and in the wheel."""

from __future__ import annotations

from importlib.resources import files

import pytest

from alfilter.report.page.document import asset, document

ASSETS = ("page.css", "page.js", "overview.css", "overview.js")


def test_a_document_by_hand() -> None:
    text = document("a <b>", ["<p>one</p>", "", "<p>two</p>"], ["page"])
    assert "<title>a &lt;b&gt;</title>" in text
    assert "<body><p>one</p>\n<p>two</p>\n<script>\n" in text
    assert text.endswith("</script></body></html>\n")
    assert text.index(asset("page.css")) < text.index("</style>") < text.index(asset("page.js"))


def test_several_assets_keep_their_order() -> None:
    text = document("t", [], ["page", "overview"])
    places = [text.index(asset(name)) for name in ("page.css", "overview.css", "page.js", "overview.js")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ASSETS)
def test_an_asset_can_stand_inline(name: str) -> None:
    text = asset(name)
    assert "</" not in text  # would end the element it is put in
    assert "http" not in text  # a page fetches nothing


def test_every_asset_is_known() -> None:
    folder = files("alfilter.report") / "assets"
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(ASSETS)
