"""Pictures for a page: read, cut to their busiest part, coloured, and small as bytes."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from alfilter.report.figures.arrays import Array

SIDE = 384  # of the largest crop on a page
WIDE = 1100  # pixels of the widest chart on a page


def pixels(data: bytes) -> Array:
    """A PNG as (H, W, 3) in [0, 1]; gray is repeated, transparency and 16 bits are brought down."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        if picture.mode.startswith("I"):
            gray = np.asarray(picture, dtype=np.float64) / 65535
            return np.repeat(gray[..., None], 3, axis=-1)
        return np.asarray(picture.convert("RGB"), dtype=np.float64) / 255


def busiest_window(picture: Array, side: int) -> tuple[slice, slice]:
    """Rows and columns of the square of a picture (H, W, 3) with the most detail; all of a smaller picture."""
    import torch

    from alfilter.analysis.structure import busiest_square

    top, left = busiest_square(torch.from_numpy(picture).mean(-1), side)
    return slice(top, top + side), slice(left, left + side)


def crops(pictures: Mapping[str, Array], side: int = SIDE) -> dict[str, Array]:
    """The same window of all pictures of one size: the busiest square of the first.

    >>> {name: cut.shape for name, cut in crops({"a": np.zeros((9, 7, 3)), "b": np.ones((9, 7, 3))}, side=4).items()}
    {'a': (4, 4, 3), 'b': (4, 4, 3)}
    """
    first = next(iter(pictures.values()))
    window = busiest_window(first, side)
    return {name: picture[window] for name, picture in pictures.items() if picture.shape == first.shape}


def coloured(values: Array, colours: str, low: float, high: float) -> Array:
    """A map (H, W) in the colours of matplotlib: (H, W, 3)."""
    from matplotlib import colormaps

    scaled = np.clip((values - low) / max(high - low, 1e-12), 0, 1)
    painted: Array = np.asarray(colormaps[colours](scaled), dtype=np.float64)[..., :3]
    return painted


def lossless(values: Array) -> str:
    """The data address of a picture as PNG."""
    return _address(_picture(values), "PNG", optimize=True)


def chart(data: bytes) -> tuple[str, int, int]:
    """The data address of a drawn figure as WebP, at most 1,100 pixels wide, with its size."""
    from PIL import Image

    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    if picture.width > WIDE:
        picture = picture.resize((WIDE, round(picture.height * WIDE / picture.width)), Image.Resampling.LANCZOS)
    return _address(picture, "WEBP", quality=88, method=4), picture.width, picture.height


def tag(values: Array, alt: str) -> str:
    """An <img> with these pixels inside, enlarged without smoothing."""
    height, width = values.shape[:2]
    text = escape(alt, quote=True)
    return f'<img class="pixels" src="{lossless(values)}" alt="{text}" width="{width}" height="{height}">'


def _picture(values: Array) -> Any:
    from PIL import Image

    return Image.fromarray(np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8))


def _address(picture: Any, kind: str, **options: Any) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return f"data:image/{kind.lower()};base64,{b64encode(buffer.getvalue()).decode('ascii')}"
