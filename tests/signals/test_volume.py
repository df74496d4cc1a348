"""NIfTI files: the header by hand, both byte orders, and everything that can be wrong with one."""

from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.data import shared_data

from alfilter.errors import UserError
from alfilter.signals import GridSignal, open_signal, read_nifti, read_npy
from alfilter.signals.observe import observed
from alfilter.signals.volume import write_nifti

CODES = {"u1": 2, "i2": 4, "i4": 8, "f4": 16, "f8": 64, "i1": 256, "u2": 512, "u4": 768}


def nifti(data: Any, order: str = "<", dims: tuple[int, ...] | None = None, **changes: bytes) -> bytes:
    """A file made by the standard's table of offsets alone; data in Fortran order, axes x, y, z, …"""
    sizes = dims if dims is not None else (data.ndim, *data.shape, *(1,) * (7 - data.ndim))
    head = bytearray(352)
    struct.pack_into(f"{order}i", head, 0, 348)
    struct.pack_into(f"{order}8h", head, 40, *sizes)
    struct.pack_into(f"{order}2h", head, 70, CODES[data.dtype.str[1:]], 8 * data.dtype.itemsize)
    struct.pack_into(f"{order}8f", head, 76, 1, 2, 3, 4, 1, 1, 1, 1)
    struct.pack_into(f"{order}3f", head, 108, 352, 2.0, -1.0)
    struct.pack_into(f"{order}4f", head, 280, 2, 0, 0, -10)
    struct.pack_into(f"{order}4f", head, 296, 0, 3, 0, -20)
    struct.pack_into(f"{order}4f", head, 312, 0, 0, 4, -30)
    head[344:348] = b"n+1\0"
    for at, value in changes.items():
        offset = int(at.removeprefix("at"))
        head[offset : offset + len(value)] = value
    return bytes(head) + data.astype(data.dtype.newbyteorder(order)).tobytes(order="F")


def cube(kind: str = "i2", shape: tuple[int, ...] = (3, 4, 5)) -> Any:
    return np.random.default_rng(0).integers(0, 120, shape).astype(kind)


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("packed", [False, True])
def test_every_type_in_both_byte_orders(kind: str, order: str, packed: bool, tmp_path: Path) -> None:
    data = cube(kind)
    raw = nifti(data, order)
    (tmp_path / "a").write_bytes(gzip.compress(raw) if packed else raw)
    signal = open_signal(str(tmp_path / "a"))
    assert isinstance(signal, GridSignal)
    assert np.array_equal(signal.data[..., 0], data)
    assert (signal.kind, signal.in_dim, signal.shape) == ("volume", 3, (3, 4, 5))
    assert (signal.facts["slope"], signal.facts["inter"]) == (2.0, -1.0)
    assert signal.data.dtype == np.dtype(kind)


def test_a_fourth_axis_is_channels(tmp_path: Path) -> None:
    data = cube("u1", (3, 4, 5, 2))
    (tmp_path / "a.nii").write_bytes(nifti(data))
    signal = read_nifti(tmp_path / "a.nii")
    assert (signal.shape, signal.out_dim) == ((3, 4, 5), 2)
    assert np.array_equal(signal.data, data)


@pytest.mark.parametrize("name", ["b.nii", "b.nii.gz"])
@pytest.mark.parametrize("order", "<>")
def test_what_is_written_lies_where_it_lay(name: str, order: str, tmp_path: Path) -> None:
    data = cube()
    (tmp_path / "a.nii").write_bytes(nifti(data, order))
    signal = read_nifti(tmp_path / "a.nii")
    write_nifti(tmp_path / name, signal.data, bytes.fromhex(signal.facts["nifti"]))
    back = read_nifti(tmp_path / name)
    assert np.array_equal(back.data, signal.data)
    assert back.facts["nifti"] == nifti(data, "<")[:348].hex()
    write_nifti(tmp_path / name, signal.data[::2], bytes.fromhex(signal.facts["nifti"]), (2.0, 1.0, 1.0))
    head = bytes.fromhex(read_nifti(tmp_path / name).facts["nifti"])
    assert struct.unpack_from("<4f", head, 280) == (4, 0, 0, -10)
    assert struct.unpack_from("<4f", head, 76) == (1, 4, 3, 4)


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.nii.gz", "b.nii.gz"):
        write_nifti(tmp_path / name, cube()[..., None])
    assert (tmp_path / "a.nii.gz").read_bytes() == (tmp_path / "b.nii.gz").read_bytes()
    assert struct.unpack_from("<2f", gzip.decompress((tmp_path / "a.nii.gz").read_bytes()), 112) == (1.0, 0.0)


def five() -> bytes:
    return nifti(cube("u1", (2, 2, 2, 1, 3)))


def nan() -> Any:
    data = cube("f4")
    data[1, 2, 3] = np.nan
    return data


WRONG = {
    "cut": (lambda: nifti(cube())[:-7], "465 bytes are there for 472; it is cut short"),
    "cut header": (lambda: nifti(cube())[:200], "its header is cut short"),
    "cut gzip": (lambda: gzip.compress(nifti(cube()))[:-30], "damaged or cut short"),
    "flipped gzip": (lambda: flipped(gzip.compress(nifti(cube()), mtime=0)), "damaged or cut short"),
    "five": (five, "expected a volume of up to 16 channels in .*, got 2x2x2x1x3; cut a part of it out"),
    "long series": (lambda: nifti(cube("u1", (2, 2, 2, 17))), "got 2x2x2x17"),
    "flat": (lambda: nifti(cube("u1", (4, 5))), "at least 2 samples along every axis in .*, got 4x5x1"),
    "negative": (lambda: nifti(cube(), dims=(3, 3, -4, 5, 1, 1, 1, 1)), r"got \[3, 3, -4, 5"),
    "no axes": (lambda: nifti(cube(), dims=(0, 3, 4, 5, 1, 1, 1, 1)), r"sizes of at least 1 in .*, got \[0"),
    "complex": (lambda: nifti(cube(), at70=struct.pack("<h", 32)), "got NIfTI type 32; convert it"),
    "pair": (lambda: nifti(cube(), at344=b"ni1\0"), "got half of a pair"),
    "offset": (lambda: nifti(cube(), at108=struct.pack("<f", 12.0)), "got offset 12.0"),
    "nan": (lambda: nifti(nan()), r"got 1 NaN or infinite, the first at \(1, 2, 3\); correct them"),
    "huge": (
        lambda: nifti(cube(), dims=(3, 30000, 30000, 30000, 1, 1, 1, 1)),
        "472 bytes are there for 54,000,000,000,352; it is cut short",
    ),
}


def flipped(data: bytes) -> bytes:
    return data[:-8] + bytes([data[-8] ^ 1]) + data[-7:]


@pytest.mark.parametrize("name", WRONG)
def test_bad_files_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    make, message = WRONG[name]
    (tmp_path / "a.nii").write_bytes(make())
    with pytest.raises(UserError, match=message) as raised:
        read_nifti(tmp_path / "a.nii")
    assert "\n" not in str(raised.value)


@given(st.integers(0, 471), st.binary(min_size=1, max_size=9))
@settings(max_examples=150, deadline=None)
def test_damaged_bytes_never_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes) -> None:
    whole = nifti(cube())
    file = tmp_path_factory.getbasetemp() / "damaged.nii"
    file.write_bytes(whole[:at] + junk + whole[at + len(junk) :])
    with contextlib.suppress(UserError):
        open_signal(str(file))


def test_arrays_of_three_and_four_axes(tmp_path: Path) -> None:
    for shape, kind, sizes in (
        ((3, 4, 5), "volume", (3, 4, 5)),
        ((3, 4, 5, 2), "volume", (3, 4, 5)),
        ((3, 5, 4), "image", (3, 5)),
    ):
        np.save(tmp_path / "a.npy", cube("u1", shape))
        signal = read_npy(tmp_path / "a.npy")
        assert (signal.kind, signal.shape) == (kind, sizes)
    for shape in ((3, 1, 5), (3, 4, 5, 17), (1, 2, 2, 2, 2), (2,) * 6, (7,)):
        np.save(tmp_path / "a.npy", cube("u1", shape))
        with pytest.raises(UserError, match="or a volume"):
            read_npy(tmp_path / "a.npy")


def test_a_volume_is_a_mask_of_a_volume(tmp_path: Path) -> None:
    mask = cube("u1", (3, 4, 6)) > 60
    np.save(tmp_path / "a.npy", mask.astype(np.uint8))
    (tmp_path / "a.nii").write_bytes(nifti(mask.astype(np.uint8)))
    for name in ("a.npy", "a.nii"):
        assert np.array_equal(observed(f"mask:{tmp_path / name}", (3, 4, 6)), mask)
    with pytest.raises(UserError, match="expected a mask of size 5x4x3, got 6x4x3"):
        observed(f"mask:{tmp_path / 'a.npy'}", (3, 4, 5))


def test_a_real_volume() -> None:
    signal = read_nifti(shared_data("volume", "mni152_t1.nii.gz"))
    assert signal.shape == (197, 233, 189)
    assert signal.data.max() > signal.data.min()
