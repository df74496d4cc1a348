"""The coordinate convention and the grid signal."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from alfilter.errors import UserError
from alfilter.signals import GridSignal, grid_coords

shapes = st.lists(st.integers(1, 7), min_size=1, max_size=4).map(tuple)


def test_grid_coords_by_hand() -> None:
    assert grid_coords((3, 2)).tolist() == [[-1, -1], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 1]]
    assert grid_coords((1, 3)).tolist() == [[0, -1], [0, 0], [0, 1]]
    assert grid_coords((5,), torch.tensor([3, 0])).tolist() == [[0.5], [-1.0]]


@given(shapes)
def test_grid_coords_against_the_obvious_loop(shape: tuple[int, ...]) -> None:
    def place(i: int, n: int) -> float:
        return 0.0 if n == 1 else float(Fraction(2 * i, n - 1) - 1)

    slow = [[place(i, n) for i, n in zip(index, shape, strict=True)] for index in product(*map(range, shape))]
    assert torch.equal(grid_coords(shape), torch.tensor(slow, dtype=torch.float32))


@given(shapes, st.data())
def test_gathered_coords_are_rows_of_all_coords(shape: tuple[int, ...], data: st.DataObject) -> None:
    count = int(np.prod(shape))
    index = torch.tensor(data.draw(st.lists(st.integers(0, count - 1), max_size=9)), dtype=torch.int64)
    assert torch.equal(grid_coords(shape, index), grid_coords(shape)[index])


@given(st.integers(2, 100_000))
def test_each_axis_is_symmetric_nearest_and_ends_exactly(n: int) -> None:
    x = grid_coords((n,))[:, 0]
    assert x.dtype == torch.float32
    assert x[[0, -1]].tolist() == [-1, 1]
    assert torch.equal(x, -x.flip(0))
    for i in (1, n // 3, n // 2, n - 2):  # the float32 nearest to the exact fraction
        assert x[i].item() == float(np.float32(Fraction(2 * i - (n - 1), n - 1)))


def test_coords_refuse_indices_off_the_grid_and_other_types() -> None:
    with pytest.raises(IndexError, match=r"expected indices in \[0, 6\), got -1 to 6"):
        grid_coords((2, 3), torch.tensor([-1, 6]))
    with pytest.raises(TypeError, match="flat integer indices"):
        grid_coords((2, 3), torch.tensor([True]))


def test_grid_signal_by_hand() -> None:
    signal = GridSignal(np.array([[[0, 255], [51, 102]]], dtype=np.uint8), mode="LA")
    assert (signal.in_dim, signal.out_dim, len(signal), signal.shape, signal.bits) == (2, 2, 2, (1, 2), 8)
    assert torch.equal(signal.values(), torch.tensor([[0, 1], [0.2, 0.4]]))
    assert torch.equal(signal.values(torch.tensor([1, 1, 0])), torch.tensor([[0.2, 0.4], [0.2, 0.4], [0, 1]]))
    assert torch.equal(signal.coords(torch.tensor([1])), torch.tensor([[0.0, 1.0]]))


def test_describe_is_json_and_complete() -> None:
    facts = GridSignal(np.zeros((4, 5, 6, 1), np.uint16), kind="volume").describe()
    assert json.loads(json.dumps(facts)) == {
        "kind": "volume",
        "shape": [4, 5, 6],
        "channels": 1,
        "mode": "1ch",
        "bits": 16,
        "dtype": "uint16",
        "low": 0.0,
        "high": 65535.0,
    }


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_integer_values_are_correctly_rounded_and_reversible(dtype: type[Any]) -> None:
    top = np.iinfo(dtype).max
    every = np.arange(top + 1, dtype=dtype)
    values = GridSignal(every[:, None]).values()[:, 0].numpy()
    assert np.array_equal(values, (every / np.float64(top)).astype(np.float32))
    assert np.array_equal(np.rint(values * np.float64(top)), every)


floats = hnp.arrays(np.float32, (3, 4, 2), elements=st.floats(-(2.0**99), 2.0**99, width=32))


@given(floats)
def test_float_values_span_the_unit_interval(data: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    signal = GridSignal(data)
    values = signal.values()
    assert values.dtype == torch.float32
    assert 0 <= values.min() <= values.max() <= 1
    if not (data.min() >= 0 and data.max() <= 1):
        assert (signal.low, values.min().item()) == (data.min(), 0)
        assert values.max() == (1 if data.max() > data.min() else 0)


def test_float_values_inside_the_unit_interval_are_kept() -> None:
    data = np.array([[0.25], [0.75]], dtype=np.float32)
    assert np.array_equal(GridSignal(data).values().numpy(), data)
    assert GridSignal(data, span=(0.25, 0.75)).values().flatten().tolist() == [0, 1]


def test_signed_and_odd_data() -> None:
    assert GridSignal(np.array([[-32768], [32767]], np.int16)).values().flatten().tolist() == [0, 1]
    assert GridSignal(np.array([[np.nan], [-1.0], [3.0]])).values()[1:].flatten().tolist() == [0, 1]
    with pytest.raises(UserError, match="only NaN or infinity"):
        GridSignal(np.array([[np.nan], [np.inf]]))
    with pytest.raises(UserError, match="got complex128; convert"):
        GridSignal(np.zeros((2, 1), complex))
    with pytest.raises(UserError, match=r"got \(3,\); give at least one"):
        GridSignal(np.zeros(3))


def test_data_is_kept_not_copied_and_memory_maps_stay_on_disk(tmp_path: Path) -> None:
    stored = np.memmap(tmp_path / "big", np.uint16, "w+", shape=(50, 40, 3))
    stored[:] = np.random.default_rng(0).integers(0, 65536, stored.shape)
    signal = GridSignal(stored)
    assert signal.data is stored
    index = torch.tensor([7, 1999])
    assert torch.equal(signal.values(index), signal.values()[index])
    turned = GridSignal(stored[::-1])
    assert turned.data.flags.c_contiguous
    assert torch.equal(turned.values(index), GridSignal(np.array(stored[::-1])).values(index))


def test_foreign_byte_order_is_made_native() -> None:
    signal = GridSignal(np.array([[1], [256]], ">u2"))
    assert signal.data.dtype == np.uint16
    assert signal.data.flatten().tolist() == [1, 256]


@pytest.mark.parametrize("scale", [1e-6, 1e-300, 1e30, 1e300])
def test_values_far_from_one_fill_their_range(scale: float) -> None:
    data = np.random.default_rng(0).random((6, 5, 1)) * scale
    signal = GridSignal(data)
    assert (signal.low, signal.high) == (data.min(), data.max())
    values = signal.values()
    assert (float(values.min()), float(values.max())) == (0.0, 1.0)


def test_dark_and_constant_pictures_keep_their_range() -> None:
    assert GridSignal(np.linspace(0, 0.02, 4).reshape(2, 2, 1)).high == 1.0
    for constant in (0.0, 1e-6, 0.5, 1.0):
        assert GridSignal(np.full((2, 2, 1), constant)).high == 1.0
    assert torch.isfinite(GridSignal(np.full((2, 2, 1), 1e30)).values()).all()


def test_a_range_that_no_float_holds_is_refused() -> None:
    data = np.array([-1.7e308, 1.7e308, 0.0, 1.0]).reshape(2, 2, 1)
    with pytest.raises(UserError, match=r"whose range a float64 holds, got -1\.7e\+308 to 1\.7e\+308; scale them"):
        GridSignal(data)
