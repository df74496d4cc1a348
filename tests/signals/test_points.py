"""Scattered points: units, duplicates, regions, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from alfilter.errors import UserError
from alfilter.signals.points import Box, PointSignal, directions, outside, read_points, support


def table(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_case_by_hand() -> None:
    places = np.array([[0.0, 5.0], [2.0, 5.0], [0.0, 9.0], [2.0, 5.0]])
    signal = PointSignal(places, np.array([[10.0], [20.0], [30.0], [26.0]]), np.array([1.0, 1.0, 1.0, 2.0]))
    assert signal.places.tolist() == [[0, 5], [0, 9], [2, 5]]
    assert signal.measured.ravel().tolist() == [10, 30, 24]  # (20 + 2·26) / 3
    assert signal.weights.tolist() == [1, 1, 3]
    assert (signal.merged, len(signal)) == (1, 3)
    assert signal.coords().tolist() == [[-1, -1], [-1, 1], [1, -1]]
    assert signal.values().ravel().tolist() == pytest.approx([0, 1, 0.7])


@given(st.permutations(range(6)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    places = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 2.0], [1.0, 1.0], [5.0, 5.0], [0.0, 0.0]])
    values = np.arange(6.0)[:, None]
    one, other = PointSignal(places, values), PointSignal(places[order], values[order])
    np.testing.assert_array_equal(one.measured, other.measured)
    np.testing.assert_array_equal(one.places, other.places)


@given(arrays(np.float64, (7, 2), elements=st.floats(-1e6, 1e6)), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_units_do_not_matter(rows: np.ndarray, factor: float, shift: float) -> None:
    box, scaled = Box.around(rows), Box.around(rows * factor + shift)
    np.testing.assert_allclose(box.outward(box.inward(rows)), rows, atol=1e-6)
    wide = np.ptp(rows, axis=0) > 1
    np.testing.assert_allclose(scaled.inward(rows * factor + shift)[:, wide], box.inward(rows)[:, wide], atol=1e-6)


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
def test_no_point_lies_outside_its_own_region(dims: int) -> None:
    cloud = np.random.default_rng(0).normal(size=(200, dims))
    reach = support(cloud)
    assert not outside(cloud, reach).any()
    assert not outside(cloud.mean(0, keepdims=True), reach).any()
    assert outside(cloud * 1.01, reach).any()
    assert outside(np.full((1, dims), 100.0), reach).all()
    np.testing.assert_allclose(np.linalg.norm(directions(dims), axis=1), 1)


def test_the_region_is_close_to_the_convex_hull() -> None:
    from scipy.spatial import Delaunay

    rng = np.random.default_rng(1)
    cloud, query = rng.uniform(-1, 1, (60, 2)), rng.uniform(-1.2, 1.2, (4000, 2))
    hull = Delaunay(cloud).find_simplex(query) < 0
    ours = outside(query, support(cloud))
    assert not (ours & ~hull).any()  # what we call outside is outside the hull
    assert (hull & ~ours).mean() < 0.02


def test_rows_without_a_value_are_dropped_and_counted(tmp_path: Path) -> None:
    file = table(tmp_path / "p.csv", "x,y,t,w\n0,0,1,1\n1,0,,1\n0,1,3,0\n1,1,4,2\n")
    signal = read_points(file, ["x", "y"], ["t"], "w")
    assert (signal.rows, signal.dropped, len(signal)) == (4, 1, 3)
    assert signal.describe()["coords"] == ["x", "y"]
    assert signal.weights.tolist() == [1, 0, 2]


def test_standard_deviations_weigh_one_over_their_square(tmp_path: Path) -> None:
    file = table(tmp_path / "p.csv", "x,t,s\n0,1,0.5\n1,2,1\n1,4,2\n2,3,0.5\n")
    signal = read_points(file, ["x"], ["t"], noise="s")
    assert signal.weights.tolist() == [1, 0.25 + 0.0625, 1]
    assert signal.measured.ravel().tolist() == pytest.approx([1, 2.4, 3])  # (2 + 4/4) / (1 + 1/4)
    assert (signal.describe()["noise"], signal.describe()["weight"]) == ("s", None)


@pytest.mark.parametrize(("cell", "got"), [("0", "0"), ("-1", "-1"), ("", "nan"), ("inf", "inf")])
def test_a_standard_deviation_is_above_zero(cell: str, got: str, tmp_path: Path) -> None:
    file = table(tmp_path / "p.csv", f"x,t,s\n0,1,1\n1,2,{cell}\n")
    with pytest.raises(UserError) as caught:
        read_points(file, ["x"], ["t"], noise="s")
    expected = f"expected standard deviations above 0 in column 's' of {file}, got {got} in data row 2; correct them"
    assert str(caught.value) == expected


GRID = "0,0\n1,0\n0,1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y,t\n0,0,1\n", "at least two different points"),
        ("x,y,t\n0,0,1\n0,0,2\n", "at least two different points"),
        ("x,y,t\n0,0,1\n1,1,2\n2,2,3\n", "all of them on a line"),
        ("x,y,t\n0,0,1\n0,1,2\n0,2,3\n", "column 'x'"),
        ("x,y,t\n0,0,1\n1,0,1\n0,1,1\n", "got 1 everywhere; there is nothing to fit"),
        ("x,y,t\n0,0,1\nnan,0,2\n0,1,3\n", "finite coordinate in column 'x'"),
        ("x,y,t\n0,0,1\n1,,2\n0,1,3\n", "the first in data row 2"),
        ("x,y,t\n0,0,1\n1,0,inf\n0,1,3\n", "1 infinite"),
        ("x,y,t\n0,0,\n1,0,\n0,1,\n", "got none of 3"),
        ("x,y,z\n0,0,1\n1,0,2\n", "has no column 't'"),
    ],
)
def test_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_points(table(tmp_path / "p.csv", text), ["x", "y"], ["t"])
    assert message in str(caught.value)


def test_refused_roles(tmp_path: Path) -> None:
    file = table(tmp_path / "p.csv", "a,b,c,d,e,f\n0,0,1,2,3,-1\n1,2,3,4,5,1\n")
    with pytest.raises(UserError, match="1 to 4 coordinates, got 5"):
        read_points(file, list("abcde"), ["f"])
    with pytest.raises(UserError, match="'a' twice"):
        read_points(file, ["a"], ["a"])
    with pytest.raises(UserError, match="the columns a, b, c, d, e, f; name them"):
        read_points(file, [], ["a"])
    with pytest.raises(UserError, match="weights of at least 0"):
        read_points(file, ["a"], ["b"], "f")
    with pytest.raises(UserError, match="got weight=c and noise=d; name one"):
        read_points(file, ["a"], ["b"], "c", "d")
    with pytest.raises(UserError, match="'a' twice"):
        read_points(file, ["a"], ["b"], noise="a")


def test_a_range_that_no_float_holds_is_refused() -> None:
    far = np.array([[-1.7e308], [1.7e308], [0.0]])
    for places, measured in ((far, np.arange(3.0)[:, None]), (np.arange(3.0)[:, None], far)):
        with pytest.raises(UserError, match="expected numbers whose range a float64 holds"):
            PointSignal(places, measured)
