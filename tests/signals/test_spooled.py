"""Large compressed TIFF, piece by piece: the same pixels, one strip in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile

from alfilter.errors import UserError
from alfilter.signals import read_image
from alfilter.signals.spooled import scratch


@pytest.mark.parametrize("layout", [{"rowsperstrip": 16}, {"tile": (32, 48)}], ids=["strips", "tiles"])
@pytest.mark.parametrize(("kind", "channels"), [("u1", 3), ("u2", 1), ("f4", 4)])
def test_the_pixels_are_those_of_the_file(
    layout: dict[str, Any], kind: str, channels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alfilter.signals.pixels.LARGE", 1000)
    monkeypatch.setattr("alfilter.signals.pixels.MAX_PIXELS", 1000)  # nothing is decoded as a whole
    pixels = (np.random.default_rng(0).random((75, 101, channels)) * 200).astype(kind)
    photometric = "minisblack" if channels == 1 else "rgb"
    written = pixels[..., 0] if channels == 1 else pixels
    extra = {"extrasamples": ["unassalpha"]} if channels == 4 else {}
    tifffile.imwrite(tmp_path / "a.tif", written, photometric=photometric, compression="zlib", predictor=kind != "f4",
                     **layout, **extra)  # fmt: skip
    signal = read_image(tmp_path / "a.tif")
    assert isinstance(signal.data, np.memmap)
    assert np.array_equal(signal.data, pixels)


def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("alfilter.signals.spooled.TemporaryFile", full)
    with pytest.raises(UserError, match=r"cannot unpack a.tif: 0.0 GB of disk .* \(No space left on device\)"):
        scratch(Path("a.tif"), (2, 2, 1), np.uint8)
