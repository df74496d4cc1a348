"""The page about many runs: whole, self-contained, and alive in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.report.page.test_html import HOSTILE, Checker
from tests.support.browser import opened
from tests.support.commands import alfilter, complaint
from tests.support.result_lines import fitting_lines, line, written

from alfilter.report.overview.collect import Collection, Facts, collect
from alfilter.report.overview.html import render_overview

FACTS = Facts(
    [{"claim": "Best", "where": "Table 1", "verdict": "holds", "evidence": "40.5 before 33.5", "command": "repeat"}],
    {"image-fitting": ("Quantitative comparison", {"al-sine": {"psnr": 46.27}})},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("many")
    written(where / "image-fitting.jsonl", fitting_lines())
    written(where / "other.jsonl", [line(HOSTILE, observe="random:0.35"), line("plain", observe="every:2")])
    return where


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    out = folder / "report.html"
    out.write_text(render_overview(collect([folder]), "A title", FACTS), encoding="utf-8")
    return out


def test_well_formed_self_contained_and_escaped(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    checker = Checker(text)  # every tag closes in turn
    for _, attrs in checker.tags:
        for name in ("src", "href", "srcset", "action", "data", "poster"):
            assert (attrs.get(name) or "#").startswith(("#", "data:")), attrs
    assert all(attrs.get("alt") for attrs in checker.named("img"))
    names = {attrs.get("id") for _, attrs in checker.tags}
    assert all((attrs.get("href") or "")[1:] in names for attrs in checker.named("a"))
    assert len(checker.named("script")) == 1
    assert "<script>alert" not in text
    assert "46.27" in text
    assert "holds" in text


def test_the_command_writes_the_page_and_the_tables(folder: Path, tmp_path: Path) -> None:
    source = folder / "image-fitting.jsonl"
    done = alfilter("report", source, "--out", tmp_path / "r.html")
    assert done.code == 0
    assert done.out.startswith(f"{tmp_path / 'r.html'} 12 runs")
    for kind, word in (("markdown", "| setting |"), ("csv", "study,signal,setting,metric"), ("latex", r"\toprule")):
        outcome = alfilter("report", source, "--format", kind)
        assert outcome.code == 0
        assert word in outcome.out
    assert "there is no" in complaint("report", tmp_path / "nothing")


def test_a_page_without_curves_pictures_or_claims(tmp_path: Path) -> None:
    bare = line("a", curve=[], pictures={})
    text = render_overview(collect([written(tmp_path / "x.jsonl", [bare])]))
    assert "Convergence" not in text
    assert "Side by side" not in text
    assert 'id="claims"' not in text


def test_no_entry_at_all_is_still_a_page() -> None:
    assert "</html>" in render_overview(Collection([], {}))


def cells(page: Any, column: int) -> list[str]:
    rows = page.locator("#study-image-fitting table tbody tr")
    return [rows.nth(k).locator("td").nth(column).inner_text() for k in range(rows.count())]


def test_in_a_browser_columns_sort_and_the_slider_moves(page: Path) -> None:
    with opened(page) as (tab, message):
        assert cells(tab, 0)[0] == "pe-mlp"
        head = tab.locator("#study-image-fitting th").nth(2)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        head.locator("button").click()
        assert cells(tab, 0)[0] == "al-sine"  # the best PSNR first
        versus = tab.locator(".versus").first
        stack = versus.locator(".stack")
        assert stack.evaluate("e => getComputedStyle(e).getPropertyValue('--cut')") == "50%"
        versus.locator("input").fill("20")
        assert stack.evaluate("e => getComputedStyle(e).getPropertyValue('--cut')") == "20%"
        box = stack.bounding_box()
        tab.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 20)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 20)
        tab.mouse.up()
        assert versus.locator("input").input_value() == "75"
        right = versus.locator("select").nth(1)
        right.select_option(index=1)
        assert versus.locator("figure.right figcaption").text_content().startswith("pe-mlp")
        assert message == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(page: Path, scheme: str) -> None:
    with opened(page, 375, color_scheme=scheme) as (tab, message):
        assert tab.evaluate("document.documentElement.scrollWidth") <= 375
        assert message == []


def test_on_paper_every_crop_is_shown(page: Path) -> None:
    with opened(page, 720) as (tab, message):
        tab.emulate_media(media="print")
        panes = tab.locator("#study-image-fitting .versus").first.locator(".stack figure")
        assert panes.count() == 7
        assert all(panes.nth(k).is_visible() for k in range(7))
        assert not tab.locator(".versus input").first.is_visible()
        assert len(tab.pdf(format="A4")) > 10_000
        assert message == []
