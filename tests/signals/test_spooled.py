"""Large compressed TIFF, piece by piece: the same pixels, one strip in memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageOps

from alfilter.errors import UserError
from alfilter.signals import read_image
from alfilter.signals.spooled import scratch, upright


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
    def full(*arguments: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("alfilter.signals.spooled.TemporaryFile", full)
    with pytest.raises(UserError, match=r"cannot unpack a.tif: 0.0 GB of disk .* \(No space left on device\)"):
        scratch(Path("a.tif"), (2, 2, 1), np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_tiff_is_upright(orientation: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (75, 101, 3), np.uint8)
    tags = [(274, "H", 1, orientation, True)]
    tifffile.imwrite(tmp_path / "a.tif", pixels, photometric="rgb", compression="zlib", rowsperstrip=16, extratags=tags)
    whole = read_image(tmp_path / "a.tif").data
    monkeypatch.setattr("alfilter.signals.pixels.LARGE", 1000)
    monkeypatch.setattr("alfilter.signals.pixels.MAX_PIXELS", 1000)
    assert np.array_equal(read_image(tmp_path / "a.tif").data, whole)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the space is not reserved")
def test_the_room_on_the_disk_is_taken_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"cannot unpack a.png: \d+.0 GB of disk for temporary files are needed"):
        scratch(Path("a.png"), (1 << 22, 1 << 22, 4), np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientations_are_those_of_pillow(orientation: int, tmp_path: Path) -> None:
    stored = np.arange(12, dtype=np.uint8).reshape(3, 4)
    exif = Image.Exif()
    exif[274] = orientation
    Image.fromarray(stored).save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as image:
        expected = np.array(ImageOps.exif_transpose(image))
    assert np.array_equal(upright(stored[..., None], orientation)[..., 0], expected)
