"""The page: well formed, self-contained, escaped, and whole with whatever is missing."""

from __future__ import annotations

import io
import shlex
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.support.browser import opened

from alfilter.report.page.document import table
from alfilter.report.page.html import render_page, shown_number
from alfilter.report.page.labels import ALPHA_ONLY, COMPARED
from alfilter.runs.folder import PICTURES

VOID = {"meta", "img", "input", "br"}
HOSTILE = "\"><script>alert('1')</script><img src=http://evil.example/x onerror=alert(1)>&.png"


class Checker(HTMLParser):
    """Collects tags, attributes and text, and fails on a tag that closes out of turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}
        self.feed(page)
        self.close()
        assert self.stack == [], f"left open: {self.stack}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack:
            self.text[self.stack[-1]] = self.text.get(self.stack[-1], "") + data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def picture(width: int = 8, height: int = 6) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(buffer, "PNG")
    return buffer.getvalue()


def page(**more: Any) -> str:
    settings: dict[str, Any] = {
        "title": "al-sine on cat.png",
        "facts": {"Steps": "1,000"},
        "metrics": {"psnr": 31.234, "ssim": 0.9},
        "pictures": {name: picture() for name in PICTURES},
        "history": [{"step": s, "psnr": 10.0 + s} for s in (1, 10, 100)],
        "heldout": {"psnr": 25.0},
        "config": {"method": "al-sine", "seed": 3, "version": "0.1.0", "options": {"levels": 8, "grid": [4, 4]}},
    }
    return render_page(**{**settings, **more})


def command_of(text: str) -> str:
    """What a reader copies from the page's <pre>."""
    inner = text[text.index("<pre><code>") + 11 : text.index("</code></pre>")]
    return unescape(inner.replace("<span>", "").replace("</span>", ""))


def check(text: str) -> Checker:
    """Balanced, nothing fetched, every picture described, headings in order, one script."""
    checker = Checker(text)
    for _, attrs in checker.tags:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert (attrs.get(name) or "data:").startswith("data:"), attrs
        assert not any(name.startswith("on") for name in attrs)
    assert all(attrs.get("alt") for attrs in checker.named("img"))
    levels = [int(tag[1]) for tag, _ in checker.tags if tag in {"h1", "h2", "h3"}]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    style = checker.text["style"]
    assert "url(" not in style
    assert "@import" not in style
    assert style.count("{") == style.count("}")
    assert len(checker.named("script")) == 1
    return checker


def test_whole_page() -> None:
    text = page()
    checker = check(text)
    assert checker.text["h2"] == ("The pictureThe numbersWhat the field learnedWhere it is wrongHow to repeat it")
    assert len(checker.named("img")) == len(PICTURES) - 1, "all pictures but convergence, which is drawn as SVG"
    assert len(checker.named("svg")) == 1
    (slider,) = checker.named("input")
    assert (slider["type"], slider["aria-label"]) == ("range", "Share of the reference shown, in percent")
    assert ">31.23<" in text
    assert ">25.00<" in text
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert "default-src 'none'" in text


@pytest.mark.parametrize("missing", ["reference", "reconstruction", "observed"])
def test_the_slider_is_explained_where_there_is_one(missing: str) -> None:
    text = page(pictures={name: picture() for name in PICTURES if name != missing})
    assert (f"</label><figcaption>{COMPARED}</figcaption></figure>" in text) == (missing == "observed")


@pytest.mark.parametrize("missing", PICTURES)
def test_any_picture_may_be_missing(missing: str) -> None:
    check(page(pictures={name: picture() for name in PICTURES if name != missing}))


def test_nothing_at_all() -> None:
    text = render_page("t", {}, {}, {}, [])
    checker = check(text)
    assert checker.named("img") == []
    for sentence in ("No metrics were saved.", "No map of α", "No picture of the error", "command line was not saved"):
        assert sentence in text


def test_the_png_steps_in_when_the_history_is_too_short() -> None:
    checker = check(page(history=[]))
    assert checker.named("svg") == []
    assert "PSNR over steps" in [attrs["alt"] for attrs in checker.named("img")]


def test_a_method_without_alpha_says_so() -> None:
    text = page(config={"method": "siren"}, pictures={})
    check(text)
    assert ALPHA_ONLY in text


def test_nothing_held_out_has_one_column() -> None:
    text = page(heldout=None)
    check(text)
    assert "Held out</button>" not in text
    assert "Nothing was held out." in text


def test_everything_given_is_escaped() -> None:
    config = {"method": HOSTILE, "command": ["alfilter", "fit", HOSTILE], "seed": HOSTILE, HOSTILE: {HOSTILE: HOSTILE}}
    text = page(
        title=HOSTILE, facts={HOSTILE: HOSTILE}, metrics={HOSTILE: HOSTILE}, heldout={HOSTILE: 1.0}, config=config
    )
    checker = check(text)
    assert "<script>alert" not in text
    assert checker.text["title"] == HOSTILE
    assert checker.text["h1"] == HOSTILE


def test_the_command_is_quoted_for_a_shell() -> None:
    words = ["alfilter", "fit", "my cat's.png", "--seed", "0"]
    assert shlex.split(command_of(page(config={"command": words}))) == words
    assert command_of(page(config={"command": "alfilter fit 'a  b.png'"})) == "alfilter fit 'a  b.png'"


def test_numbers_by_hand() -> None:
    assert shown_number(0.0000123, 4) == "1.23e-05"
    assert shown_number(0, 2) == "0.00"
    assert shown_number(float("nan"), 2) == "not a number"
    assert shown_number(True, 2) == "True"


def test_heads_are_buttons() -> None:
    checker = Checker(table(["A", "B"], [["1", "2"]], numbers=(1,)))
    assert checker.text["button"] == "AB"
    assert [attrs.get("class") for attrs in checker.named("td")] == [None, "number"]


def test_small_pictures_keep_their_pixels() -> None:
    small = check(page(pictures={"reference": picture(8, 8)})).named("img")[0]
    large = check(page(pictures={"reference": picture(640, 8)})).named("img")[0]
    assert (small["class"], small["width"], small["height"]) == ("pixels", "8", "8")
    assert "class" not in large


@pytest.mark.parametrize(
    ("signal", "heading"),
    [
        ({"kind": "image"}, "The picture"),
        ({"kind": "shape"}, "The shape"),
        ({"kind": "audio"}, "The sound"),
        ({"kind": "video"}, "The video"),
        ({"kind": "points"}, "The measurements"),
        ("unknown", "The picture"),
    ],
)
def test_the_first_section_says_what_was_fitted(signal: object, heading: str) -> None:
    text = page(config={"method": "siren", "signal": signal})
    check(text)
    assert f"<main>\n<section><h2>{heading}</h2>" in text


def test_the_options_are_folded() -> None:
    text = page(config={"method": "siren", "seed": 3, "training": {"steps": 9, "lr": 0.1}})
    checker = check(text)
    assert len(checker.named("details")) == 1
    assert checker.text["summary"] == "All 3 options"
    folded = text[text.index("<details>") : text.index("</details>")]
    assert all(name in folded for name in ("method", "training.steps", "training.lr"))
    assert not check(page(config={})).named("details")


def test_the_folded_options_unfold_in_a_browser_and_on_paper(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(), encoding="utf-8")
    with opened(file) as (tab, message):
        cell = tab.get_by_text("options.levels")
        assert not cell.is_visible()
        tab.get_by_text("All 3 options").click()
        assert cell.is_visible()
        tab.get_by_text("All 3 options").click()
        tab.emulate_media(media="print")
        assert cell.is_visible()
        assert message == []
