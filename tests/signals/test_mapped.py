"""Arrays in files: read in place when large, the same numbers either way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
import torch

from alfilter.errors import UserError
from alfilter.signals import LARGE, GridSignal, open_signal, read_image, read_npy
from alfilter.signals.mapped import check_finite

SIDE = 4100  # a little more than LARGE pixels


def saved(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


@pytest.mark.parametrize("kind", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_a_small_array_is_the_picture_it_holds(tmp_path: Path, kind: str, channels: int) -> None:
    shape = (5, 7, channels) if channels else (5, 7)
    array = (np.random.default_rng(0).random(shape) * (1 if kind == "float32" else 255)).astype(kind)
    signal = open_signal(str(saved(tmp_path / "a.npy", array)))
    assert isinstance(signal, GridSignal)
    assert signal.shape == (5, 7)
    assert np.array_equal(signal.data, array.reshape(5, 7, -1))
    assert not isinstance(signal.data, np.memmap)
    assert signal.mode == {1: "L", 3: "RGB", 4: "RGBA"}[max(channels, 1)]


def test_a_large_array_stays_in_its_file(tmp_path: Path) -> None:
    mapped = np.lib.format.open_memmap(tmp_path / "a.npy", mode="w+", dtype=np.uint8, shape=(SIDE, SIDE, 3))
    mapped[4000, 17] = (51, 102, 255)  # the rest of the file is a hole
    mapped.flush()
    signal = read_npy(tmp_path / "a.npy")
    assert isinstance(_base(signal.data), np.memmap)
    rows = signal.values(torch.tensor([4000 * SIDE + 17, 3]))
    assert rows.tolist() == [pytest.approx([0.2, 0.4, 1.0]), [0.0, 0.0, 0.0]]
    assert SIDE * SIDE > LARGE


def _base(array: np.ndarray) -> object:
    return array if isinstance(array, np.memmap) else array.base


@pytest.mark.parametrize("shape", [(SIDE, SIDE), (SIDE, SIDE, 3)])
def test_a_large_plain_tiff_stays_in_its_file(tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, np.uint8)
    array[9, 8] = 255
    photometric = "rgb" if len(shape) == 3 else "minisblack"
    tifffile.imwrite(tmp_path / "a.tif", array, photometric=photometric)
    signal = read_image(tmp_path / "a.tif")
    assert isinstance(_base(signal.data), np.memmap)
    assert signal.shape == (SIDE, SIDE)
    assert signal.values(torch.tensor([9 * SIDE + 8])).tolist() == [[1.0] * signal.out_dim]


def test_a_small_or_packed_tiff_is_decoded(tmp_path: Path) -> None:
    array = np.arange(48, dtype=np.uint16).reshape(4, 4, 3)
    for name, settings in (("plain", {}), ("packed", {"compression": "zlib"}), ("other", {"byteorder": ">"})):
        tifffile.imwrite(tmp_path / f"{name}.tif", array, photometric="rgb", **settings)
        signal = read_image(tmp_path / f"{name}.tif")
        assert np.array_equal(signal.data, array)
        assert not isinstance(_base(signal.data), np.memmap)


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros((4, 4), complex), "expected numbers in .*, got complex128; convert it with astype"),
        (
            np.zeros((4, 4, 4, 17), np.uint8),
            r"\(H, W\) or \(H, W, 1 to 4\), or a volume .* in .*, got shape \(4, 4, 4, 17\)",
        ),
        (np.zeros(4, np.uint8), r"got shape \(4,\)"),
        (np.zeros((1, 4), np.uint8), r"got shape \(1, 4\)"),
        (np.array([["a"]], dtype=object), "cannot read .* as a NumPy array"),
    ],
)
def test_other_arrays_are_refused(tmp_path: Path, array: np.ndarray, text: str) -> None:
    np.save(tmp_path / "a.npy", array, allow_pickle=True)
    with pytest.raises(UserError, match=text):
        read_npy(tmp_path / "a.npy")


def test_channels_that_come_first_are_noticed(tmp_path: Path) -> None:
    said: list[str] = []
    for shape in ((3, 8, 9), (5, 8, 9), (8, 9, 3)):
        np.save(tmp_path / "a.npy", np.zeros(shape, np.uint8))
        open_signal(str(tmp_path / "a.npy"), said.append)
    assert len(said) == 1
    assert "is read as a volume of 3x8x9 samples; a picture has its channels last" in said[0]


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.zeros((64, 64), np.uint8))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="cannot read"):
        read_npy(path)


def test_numbers_that_are_none_are_counted_across_bands() -> None:
    data = np.zeros((3000, 1000, 2), np.float32)
    check_finite(Path("a"), data)
    data[2999, 7, 1], data[2500, 3, 0] = np.nan, np.inf
    with pytest.raises(UserError, match="got 2 NaN or infinite, the first at row 2500, column 3; correct them"):
        check_finite(Path("a"), data)


@pytest.mark.parametrize("kind", ["f8", "f2", ">f4", ">u2", "i8", "i2", "u4", "?"])
def test_numbers_of_any_type(tmp_path: Path, kind: str) -> None:
    array = np.asfortranarray(
        (np.arange(24).reshape(4, 6) % 2 if kind == "?" else np.arange(24).reshape(4, 6)).astype(kind)
    )
    signal = read_npy(saved(tmp_path / "a.npy", array))
    expected = array.astype(float) / (65535 if kind == ">u2" else array.astype(float).max())
    assert signal.values().view(4, 6).numpy() == pytest.approx(expected, abs=1e-3)
    assert signal.bits in (16, 32)


@pytest.mark.parametrize(
    ("stored", "kept"), [("bool", "f4"), ("f2", "f4"), (">u2", "u2"), (">f8", "f8"), ("u1 by columns", "u1")]
)
def test_what_a_large_array_cannot_keep_is_converted_band_by_band(
    stored: str, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alfilter.signals.mapped.LARGE", 100)
    monkeypatch.setattr("alfilter.signals.mapped._BAND", 64)
    kind, _, columns = stored.partition(" ")
    values = (np.random.default_rng(0).random((31, 17, 3)) * (1 if kind == "f2" else 200)).astype(kind)
    np.save(tmp_path / "a.npy", np.asfortranarray(values) if columns else values)
    signal = read_npy(tmp_path / "a.npy")
    assert isinstance(signal.data.base, np.memmap) or isinstance(signal.data, np.memmap)
    assert signal.data.dtype == np.dtype(kept)
    assert np.array_equal(signal.data, values)
