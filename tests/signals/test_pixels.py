"""From bytes to pixels: what a format is known by, how EXIF turns pictures, sizes by the header."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from alfilter.errors import UserError
from alfilter.signals import pixels
from alfilter.signals.pixels import decode, sniff


def test_formats_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    image = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    for name, form in {"a.png": "PNG", "b.jpg": "JPEG", "c.webp": "WebP", "d.tif": "TIFF", "e.bmp": "BMP"}.items():
        image.save(tmp_path / name)
        start = (tmp_path / name).read_bytes()[:64]
        assert sniff(start) == form
        assert decode(tmp_path / name, form, start).shape == (4, 4, 3)
    assert sniff(b"BM, a text that begins with two letters") is None
    assert sniff(b"RIFF\0\0\0\0WAVE") is None


@pytest.mark.parametrize("lossless", [True, False])
def test_the_size_of_a_webp_is_in_its_header(lossless: bool, tmp_path: Path) -> None:
    Image.new("RGB", (37, 21)).save(tmp_path / "a.webp", lossless=lossless)
    assert pixels._webp_size((tmp_path / "a.webp").read_bytes()[:30]) == (21, 37)
    with pytest.raises(ValueError, match="cut short"):
        pixels._webp_size(b"RIFF")


@pytest.mark.parametrize(
    ("size", "message"), [((1, 5), "at least 2x2 pixels"), ((20_000, 20_000), "at most 200 million")]
)
def test_sizes_are_refused_before_a_pixel_is_read(size: tuple[int, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        pixels.check_size(Path("a.png"), *size)
