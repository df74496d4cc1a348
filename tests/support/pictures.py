"""What every figure must be, and the shapes it must draw."""

from __future__ import annotations

import io

from PIL import Image

SHAPES = [(64, 64), (40, 90), (90, 40), (1, 1), (1, 300), (300, 1), (4, 200)]


def opened(png: bytes) -> Image.Image:
    """The decoded picture, which must be large enough to read and not blank."""
    image = Image.open(io.BytesIO(png))
    image.load()
    assert image.format == "PNG"
    assert all(300 <= side <= 2500 for side in image.size), image.size
    assert len(image.convert("RGB").getcolors(10**7) or []) > 2
    return image
