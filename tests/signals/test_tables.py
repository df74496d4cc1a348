"""Tables: every format gives the same numbers, and every damage is said in one line."""

from __future__ import annotations

import builtins
import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.signals.tables import column_names, read_columns, write_columns, write_rows

COLUMNS = {"lon": np.array([1.0, 2.5, -3.0]), "temp": np.array([0.1, np.nan, 1e300])}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npz", ".parquet"])
def test_written_columns_come_back(suffix: str, tmp_path: Path) -> None:
    write_columns(tmp_path / f"t{suffix}", COLUMNS)
    assert column_names(tmp_path / f"t{suffix}") == ["lon", "temp"]
    back = read_columns(tmp_path / f"t{suffix}", ["temp", "lon"])
    assert list(back) == ["temp", "lon"]
    for name, column in COLUMNS.items():
        np.testing.assert_array_equal(back[name], column)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_text_keeps_every_bit(numbers: list[float]) -> None:
    stream = io.StringIO()
    write_rows(stream, {"a": np.array(numbers)})
    assert [float(line) for line in stream.getvalue().split()[1:]] == numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n\n3,NA\n", [[1, 3], [2, np.nan]]),
        ("a;b\r\n1;2\r\n3;4\r\n", [[1, 3], [2, 4]]),
        ("a\tb\n1\t2\n3\t\n", [[1, 3], [2, np.nan]]),
        ('\ufeff"a", b\n1e1," 2"\n-3,null', [[10, -3], [2, np.nan]]),
    ],
)
def test_dialects_of_text(text: str, expected: list[list[float]], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    back = read_columns(tmp_path / "t.csv", ["a", "b"])
    np.testing.assert_array_equal(list(back.values()), expected)


def test_columns_without_names_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    np.save(tmp_path / "t.npy", np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.savez(tmp_path / "t.npz", x=np.array([[1, 2], [3, 4]]), y=np.array([1, 2]))
    for name in ("t.csv", "t.npy"):
        assert read_columns(tmp_path / name, ["1"])["1"].tolist() == [2, 4]
    assert column_names(tmp_path / "t.npz") == ["x0", "x1", "y"]
    structured = np.array([(1, 2.0)], dtype=[("lon", int), ("t", float)])
    np.save(tmp_path / "s.npy", structured)
    assert read_columns(tmp_path / "s.npy", ["t"])["t"].tolist() == [2.0]


def test_damage_is_said_in_one_line(tmp_path: Path) -> None:
    def write(name: str, data: bytes) -> Path:
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    np.savez(tmp_path / "words.npz", a=np.array(["x", "y"]))
    np.savez(tmp_path / "uneven.npz", a=np.zeros(2), b=np.zeros(3))
    np.save(tmp_path / "object.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    cases = [
        (write("text.csv", b"a,b\n1,2\n\n3,warm\n"), "expected a number in column 'b', data row 2"),
        (write("ragged.csv", b"a,b\n1,2\n3\n"), "expected 2 cells in data row 2"),
        (write("twice.csv", b"a,a\n1,2\n"), "got 'a' twice"),
        (write("bare.csv", b"a,b\n"), "expected rows of numbers"),
        (write("blank.csv", b"\n1,2\n"), "expected the names of the columns"),
        (write("latin.csv", b"a,b\xe9\n1,2\n"), "no UTF-8 text"),
        (write("cut.npz", b"PK\x03\x04rest"), "cannot read"),
        (write("cut.parquet", b"PAR1rest"), "cannot read"),
        (write("pickle.npy", pickle.dumps([1, 2])), ""),
        (tmp_path / "words.npz", "expected numbers in column 'a'"),
        (tmp_path / "uneven.npz", "expected columns of one length"),
        (tmp_path / "object.npy", "cannot read"),
    ]
    for path, message in cases:
        with pytest.raises(UserError) as caught:
            read_columns(path, ["a", "b"] if "uneven" in path.name or path.suffix == ".csv" else ["a"])
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)
    with pytest.raises(UserError, match="has no column 'lom'; did you mean 'lon'"):
        read_columns(write("good.csv", b"lon,lat\n1,2\n"), ["lom"])
    with pytest.raises(UserError, match=r"a table's name ends in .*rename"):
        write_columns(tmp_path / "t.xls", COLUMNS)


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(128, 200)))
    with pytest.raises(UserError, match=r"photo.png is a PNG picture, which has no columns to name; give a table"):
        read_columns(tmp_path / "photo.png", ["x"])
    (tmp_path / "t.csv").write_text("x;y\n0,5;1\n")
    with pytest.raises(UserError, match="got '0,5'; write decimals with a point or leave the cell empty"):
        read_columns(tmp_path / "t.csv", ["x"])


def test_parquet_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"pip install 'alfilter\[parquet\]'"):
        read_columns(tmp_path / "t.parquet", ["a"])


def test_many_rows_come_back_exactly(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((100_000, 3))
    write_columns(tmp_path / "t.csv", {"a": rows[:, 0], "b": rows[:, 1], "c": rows[:, 2]})
    back = read_columns(tmp_path / "t.csv", ["a", "c"])
    np.testing.assert_array_equal(back["c"], rows[:, 2])
