"""One frame for both pages: every gap filled, every part used."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from alfilter.viewer.template import fill, page_html, split_parts

VOID = {"meta", "link", "img", "input", "br"}


class Checker(HTMLParser):
    """Fails on a tag that closes out of turn, and collects the ids."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def test_parts_by_hand() -> None:
    parts = split_parts("a comment\n<!-- part: one -->\n<b>\n</b>\n<!-- part: none -->\n<!-- part: last -->\nx\n\n")
    assert parts == {"one": "<b>\n</b>", "none": "", "last": "x"}
    assert fill("{{one}}-{{none}}-{{last}}-{{one}}", parts) == "<b>\n</b>--x-<b>\n</b>"


@pytest.mark.parametrize("parts", [{}, {"a": "1", "b": "2"}])
def test_a_gap_and_a_part_belong_together(parts: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"the frame needs \['a'\], the page has"):
        fill("{{a}}", parts)


@pytest.mark.parametrize("name", ["picture", "shape"])
def test_a_page_is_well_formed(name: str) -> None:
    text = page_html(name).decode()
    assert "{{" not in text
    assert "<!-- part" not in text
    ids = Checker(text).ids
    assert len(ids) == len(set(ids))
    assert {"title", "facts", "stage", "trouble", "panel", "spot", "response", "keys"} <= set(ids)
