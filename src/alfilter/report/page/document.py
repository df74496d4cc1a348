"""The parts of a self-contained HTML page: its frame with styles and scripts inline, tables, pictures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def document(title: str, parts: Sequence[str], assets: Sequence[str]) -> str:
    """A whole page that needs no network; empty parts are left out.

    parts: the body, ready HTML. assets: names such as `page`; `assets/page.css` and `assets/page.js` go inside.
    """
    style, script = ("".join(f"\n{asset(f'{name}.{kind}')}" for name in assets) for kind in ("css", "js"))
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style>"
    )
    body = "\n".join(part for part in [*parts, f"<script>{script}</script>"] if part)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'


@cache
def asset(name: str) -> str:
    """The text of a file in `report/assets`.

    >>> asset("page.css").startswith(":root")
    True
    """
    return (files("alfilter.report") / "assets" / name).read_text(encoding="utf-8")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table whose columns sort when their heads are pressed; cells are ready HTML, `numbers` align right."""
    kind = [' class="number"' if column in numbers else "" for column in range(len(heads))]
    top = "".join(
        f'<th scope="col"{k}><button type="button">{escape(h)}</button></th>' for k, h in zip(kind, heads, strict=True)
    )
    lines = ("".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def image(data: bytes, alt: str) -> str:
    """An <img> with the picture inside; a small one keeps its pixels when it is enlarged."""
    width, height = png_size(data)
    pixels = ' class="pixels"' if width < 320 else ""
    source = f"data:image/png;base64,{b64encode(data).decode('ascii')}"
    return f'<img{pixels} src="{source}" alt="{escape(alt)}" width="{width}" height="{height}">'


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height from a PNG's first chunk (bytes 16 to 24)."""
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
