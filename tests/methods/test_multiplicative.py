"""BACON: its bands follow the signal, and what they cannot be."""

from __future__ import annotations

import pytest

import alfilter as al


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"resolution": (8, 8, 8)}, "option 'resolution' needs 2 sizes for 2 coordinates, got 3; give one per axis"),
        ({"shares": (3,)}, "option 'shares' needs at least 2 bands, got 1; for example 1x1x2x2x2"),
        ({"shares": (1, 0)}, "bacon option 'shares' must be between 1 and 1e+06, got 0"),
    ],
)
def test_wrong_bands_are_explained(options: dict[str, object], text: str) -> None:
    with pytest.raises(al.UserError) as error:
        al.build("bacon", in_dim=2, out_dim=3, **options)  # type: ignore[arg-type]
    assert str(error.value) == text


def test_bands_follow_the_signal() -> None:
    for samples, expected in (((64, 32), (32, 16)), (None, (128, 128))):
        field = al.build("bacon", in_dim=2, out_dim=1, samples=samples, width=4)
        assert field.network.limits[-1] == expected  # type: ignore[union-attr,index]
