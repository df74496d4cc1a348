"""Pictures for a page: decoded, cut, coloured, and back as data addresses."""

from __future__ import annotations

import io
from base64 import b64decode

import numpy as np
import pytest
from PIL import Image

from alfilter.report.figures.pixels import WIDE, chart, coloured, crops, lossless, pixels, tag


def png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def test_every_kind_of_png_becomes_rgb() -> None:
    assert pixels(png(Image.new("L", (3, 2), 51))) == pytest.approx(np.full((2, 3, 3), 0.2))
    deep = Image.fromarray(np.full((2, 3), 13107, np.uint16))
    assert pixels(png(deep)) == pytest.approx(np.full((2, 3, 3), 0.2))
    assert pixels(png(Image.new("RGBA", (3, 2), (255, 0, 0, 9)))).shape == (2, 3, 3)


def test_lossless_comes_back() -> None:
    values = np.random.default_rng(0).integers(0, 256, (5, 4, 3)) / 255
    head, _, text = lossless(values).partition(",")
    assert head == "data:image/png;base64"
    assert pixels(b64decode(text)) == pytest.approx(values)


def test_crops_share_the_busiest_window() -> None:
    busy = np.zeros((20, 20, 3))
    busy[10:14, 12:16] = np.random.default_rng(0).random((4, 4, 3))
    cut = crops({"a": busy, "b": np.arange(1200.0).reshape(20, 20, 3), "other": np.zeros((5, 5, 3))}, side=6)
    assert list(cut) == ["a", "b"]
    assert cut["a"].sum() == pytest.approx(busy.sum())


def test_colours_end_at_the_bounds() -> None:
    low, high = coloured(np.array([[-9.0, 9.0]]), "viridis", 0.0, 1.0)[0]
    assert low == pytest.approx([0.267004, 0.004874, 0.329415], abs=1e-5)
    assert high == pytest.approx([0.993248, 0.906157, 0.143936], abs=1e-5)


def test_a_wide_chart_is_reduced() -> None:
    source, width, height = chart(png(Image.new("RGB", (2 * WIDE, 400))))
    assert source.startswith("data:image/webp;base64,")
    assert (width, height) == (WIDE, 200)


def test_a_tag_is_escaped() -> None:
    assert 'alt="&quot;&gt;"' in tag(np.zeros((2, 2, 3)), '">')
