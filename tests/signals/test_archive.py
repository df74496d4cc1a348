"""Archives of arrays: told by their headers, read one by one, never trusted."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.lib import format as npy

from alfilter.errors import UserError
from alfilter.signals.tables import column_names, read_columns


def refusal(file: Path) -> str:
    with pytest.raises(UserError) as refused:
        read_columns(file, ["x"])
    return str(refused.value)


def test_the_columns_of_an_archive_are_told_by_its_headers(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "table.npz", x=np.zeros(20_000_000), y=np.zeros((20_000_000, 2), np.float32))
    tracemalloc.start()
    try:
        assert column_names(tmp_path / "table.npz") == ["x", "y0", "y1"]
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def entry(shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    npy.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue()


def test_an_archive_that_announces_more_than_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "t.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", entry((1 << 40,)))
    assert "bytes cannot hold" in refusal(file)


def test_an_encrypted_archive_and_an_unknown_compression(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", x=np.arange(4.0))
    plain = (tmp_path / "t.npz").read_bytes()
    start = plain.rindex(b"PK\x01\x02")
    for offset, value in ((8, 1), (10, 99)):  # in the entry of the central directory: a flag, the method
        data = bytearray(plain)
        data[start + offset] = value
        data[offset - 2] = value  # the same in the entry itself
        (tmp_path / "t.npz").write_bytes(data)
        assert refusal(tmp_path / "t.npz").endswith("; save plain numeric arrays")


def test_only_what_is_named_is_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", x=np.arange(4.0), y=np.ones((4, 2)), words=np.array(["a", "b"]))
    table = read_columns(tmp_path / "t.npz", ["y1", "x"])
    assert list(table) == ["y1", "x"]
    assert table["x"].tolist() == [0, 1, 2, 3]
    with zipfile.ZipFile(tmp_path / "t.npz", "a") as archive:
        archive.writestr("broken.npy", b"nothing")
    assert "cannot read" in refusal(tmp_path / "t.npz")
