"""Tensors side by side in memory."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.runtime.flat_params import FlatLayout, coalesce, flat_zeros

SHAPES = st.lists(st.lists(st.integers(0, 9), max_size=3).map(tuple), min_size=1, max_size=6)


@given(SHAPES)
def test_views_do_not_overlap(shapes: list[tuple[int, ...]]) -> None:
    tensors = [torch.zeros(shape) for shape in shapes]
    views = flat_zeros(tensors)
    for number, view in enumerate(views, start=1):
        view.fill_(number)
    for number, (view, tensor) in enumerate(zip(views, tensors, strict=True), start=1):
        assert view.shape == tensor.shape
        assert (view == number).all()


@given(SHAPES)
def test_what_is_done_to_runs_is_done_to_every_tensor(shapes: list[tuple[int, ...]]) -> None:
    tensors = [torch.zeros(shape) for shape in shapes]
    a, b = flat_zeros(tensors), flat_zeros(tensors)
    runs = list(coalesce(list(zip(a, b, strict=True))))
    for left, right in runs:
        left.add_(1)
        right.sub_(1)
    assert all((t == 1).all() for t in a)
    assert all((t == -1).all() for t in b)
    if all(t.numel() for t in tensors):
        assert len(runs) == 1


def test_tensors_of_their_own_stay_apart() -> None:
    rows = [(torch.zeros(4), torch.zeros(4)) for _ in range(3)]
    assert [run[0].data_ptr() for run in coalesce(rows)] == [row[0].data_ptr() for row in rows]


def test_runs_end_where_one_column_does() -> None:
    a = flat_zeros([torch.zeros(16)] * 3)
    b = [*flat_zeros([torch.zeros(16)] * 2), torch.zeros(16)]
    assert [len(run[0]) for run in coalesce(list(zip(a, b, strict=True)))] == [32, 16]


def test_nothing() -> None:
    assert flat_zeros([]) == []
    assert FlatLayout([]).total == 0
