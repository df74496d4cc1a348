"""What a view resolves to: sizes, scales, regions, by hand and as a property."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.evaluate import PixelAxis
from alfilter.methods import build
from alfilter.render.view import View, drawn_output


def test_views_by_hand() -> None:
    assert View().resolve((4, 8)) == ((4, 8), (0.0, 0.0, 8.0, 4.0))
    assert View(size="10x6").resolve((4, 8))[0] == (6, 10)
    assert View(scale=2, region="1,0,4,2").resolve((4, 8)) == ((4, 6), (1.0, 0.0, 4.0, 2.0))


@given(st.integers(1, 60), st.integers(1, 60), st.floats(0.05, 8))
def test_a_scale_never_leaves_nothing(rows: int, columns: int, scale: float) -> None:
    (height, width), box = View(scale=scale).resolve((rows, columns))
    assert (height, width) == (max(1, round(rows * scale)), max(1, round(columns * scale)))
    assert box == (0, 0, columns, rows)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (View(size="big"), "size looks like WIDTHxHEIGHT, got 'big'; for example 1024x768"),
        (View(scale=0), "scale must be a number above 0 and below 1,000,000, got 0; 2 doubles the picture"),
        (View(scale=1e9), "scale must be a number above 0 and below 1,000,000, got 1000000000; 2 doubles the picture"),
        (View(region="0,0,9,4"), "X0,Y0,X1,Y1 must be a box inside 0,0,8,4, got 0,0,9,4: X1 is above 8; correct it"),
        (View(region="-5,-5,5,3"), "got -5,-5,5,3: X0 is below 0, Y0 is below 0; correct it"),
        (View(region="3,0,3,4"), "got 3,0,3,4: X1 is not above X0; correct it"),
        (View(size="20000x20000"), "20000x20000 is more than 120,000,000 pixels; give a smaller size, or regions"),
    ],
)
def test_mistakes_are_said_in_one_line(view: View, message: str) -> None:
    with pytest.raises(UserError) as caught:
        view.resolve((4, 8))
    assert message in str(caught.value)


ONE = [PixelAxis(torch.zeros(1))] * 2


def test_an_output_is_chosen_by_its_level() -> None:
    field = build("bacon", in_dim=2, out_dim=3, samples=(16, 16), width=8)
    field.signal = {"kind": "image", "shape": [16, 16]}
    x = torch.zeros(5, 2)
    assert drawn_output(field, View(), ONE) is field
    for level, output in enumerate(field.outputs(x), start=1):
        assert torch.equal(drawn_output(field, View(level=level), ONE)(x), output)
    with pytest.raises(UserError, match="level must be between 1 and 4 for bacon, got 5"):
        drawn_output(field, View(level=5), ONE)
