"""Small files that announce much: refused by their headers, before anything of that size is made."""

from __future__ import annotations

import gzip
import json
import struct
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from alfilter.errors import UserError
from alfilter.signals import file_checks, open_signal
from alfilter.signals.tables import column_names, read_columns


@contextmanager
def refused(message: str, most: int = 64 << 20) -> Iterator[None]:
    """Inside, a UserError says so, and Python and NumPy never hold more than `most` bytes."""
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=message):
            yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def test_a_tiff_whose_bytes_cannot_hold_its_pixels(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    file = tmp_path / "bomb.tif"
    tifffile.imwrite(file, np.zeros((64, 64, 4), np.uint8), photometric="rgb", compression="zlib", metadata=None)
    data = bytearray(file.read_bytes())
    with tifffile.TiffFile(file) as tiff:
        for name in ("ImageWidth", "ImageLength", "RowsPerStrip"):
            tag = tiff.pages[0].tags[name]
            kind = {3: "<H", 4: "<I"}[int(tag.dtype)]
            struct.pack_into(kind, data, tag.valueoffset, 10_000)
    file.write_bytes(data)
    with refused("bytes cannot hold 400,000,000 bytes of pixels"):
        open_signal(str(file))


@pytest.mark.parametrize(
    ("side", "message"), [(15000, "expected at most 200 million pixels"), (9000, "35 bytes for 9000")]
)
def test_a_gif_of_35_bytes(side: int, message: str, tmp_path: Path) -> None:
    size = struct.pack("<HH", side, side)
    picture = b"," + bytes(4) + struct.pack("<HH", 1, 1) + b"\0" + b"\x02\x02\x44\x01\0;"
    file = tmp_path / "bomb.gif"
    file.write_bytes((b"GIF89a" + size + b"\x80\0\0" + bytes(6) + picture)[:35])
    with refused(message):
        open_signal(str(file))


def glb(header: dict[str, Any], body: bytes = bytes(36)) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def test_a_glb_of_made_up_numbers(tmp_path: Path) -> None:
    mesh = {"primitives": [{"attributes": {"POSITION": 0}}]}
    accessors = [{"count": 50_000_000, "componentType": 5126, "type": "VEC3"}]
    header = {"asset": {"version": "2.0"}, "meshes": [mesh], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}],
              "scene": 0, "accessors": accessors}  # fmt: skip
    (tmp_path / "bomb.glb").write_bytes(glb(header))
    with refused("bytes cannot hold 150,000,000 numbers"):
        open_signal(str(tmp_path / "bomb.glb"))


@pytest.mark.parametrize("header", [b"{'descr': '<f4', 'shape': (", b"(" * 3000, b"{'shape': (9,), 'descr': '<f8'"])
def test_damaged_headers_of_arrays(header: bytes, tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n" + bytes(64))
    with refused("as a NumPy array: .*; save it again with np.save"):
        open_signal(str(file))
    with refused("as a table .*; save plain numeric arrays"):
        read_columns(file, ["0"])


@pytest.mark.parametrize("packed", [False, True])
def test_a_volume_that_is_not_there(packed: bool, tmp_path: Path) -> None:
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, 600, 600, 600, 1, 1, 1, 1)
    struct.pack_into("<2h", head, 70, 2, 8)
    struct.pack_into("<3f", head, 108, 352.0, 1.0, 0.0)
    head[344:348] = b"n+1\0"
    file = tmp_path / ("v.nii.gz" if packed else "v.nii")
    file.write_bytes(gzip.compress(bytes(head)) if packed else bytes(head))
    with refused("bytes are there for 216,000,352; it is cut short"):
        open_signal(str(file))


def test_many_names_that_are_equal_are_found_at_once(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{k}" for k in range(60_000)) + ",c7\n" + "1," * 60_000 + "1\n")
    with refused("got 'c7' twice"):
        column_names(file)
    file.write_text(",".join(f"c{k}" for k in range(60_000)) + "\n")
    with pytest.raises(UserError) as caught:
        read_columns(file, ["zzz"])
    assert len(str(caught.value)) < 1000


def test_an_archive_whose_header_is_a_hundred_megabytes_of_nothing(tmp_path: Path) -> None:
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 4, 4, 1)}" + b" " * (100 << 20)
    header = b"\x93NUMPY\x02\x00" + struct.pack("<I", len(text)) + text
    with ZipFile(tmp_path / "bomb.npz", "w", ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("views.npy", header)
    del text, header
    with refused("bytes is too long"):
        read_columns(tmp_path / "bomb.npz", ["views"])
    with refused("expected a PNG, .* got a zip archive or an .npz"):
        open_signal(str(tmp_path / "bomb.npz"))


def test_a_parquet_file_of_a_hundred_kilobytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "bomb.parquet"
    texts = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(1_000_000, np.int32)), arrow.array(["x" * 1000]))
    parquet.write_table(arrow.table({"x": np.zeros(1_000_000), "words": texts}), file)
    assert file.stat().st_size < 200_000
    before = arrow.total_allocated_bytes()
    with refused(r"expected numbers in column 'words' of .*, got dictionary"):
        read_columns(file, ["words"])
    monkeypatch.setattr(file_checks, "free_memory", lambda: 1 << 20)
    with refused("it needs 0.0 GB of memory, 0.0 GB are available"):
        read_columns(file, ["x"])
    assert arrow.total_allocated_bytes() - before < 1 << 20
