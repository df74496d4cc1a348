"""The numbers that are written: of the fitted type, rounded and clipped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from alfilter.errors import UserError
from alfilter.render.stored_numbers import check_memory, stored, stored_type


def test_values_go_back_to_the_fitted_numbers() -> None:
    facts = {"low": 0.0, "high": 255.0}
    assert stored(np.array([-0.1, 0.5, 1.2]), facts, np.dtype("u1")).tolist() == [0, 128, 255]
    assert stored(np.array([0.5]), {"low": -1.0, "high": 1.0}, np.dtype("f4")).tolist() == [0.0]


def test_types_that_no_file_holds() -> None:
    assert stored_type({"dtype": "uint8"}) == (np.dtype("u1"), None)
    with pytest.raises(UserError, match="does not say which numbers were fitted; fit it again"):
        stored_type({"dtype": "complex64"})


def test_more_than_there_is_room_for() -> None:
    check_memory(Path("a.npy"), 10)
    with pytest.raises(UserError, match=r"writing a.npy needs .* GB of memory"):
        check_memory(Path("a.npy"), 1 << 60)
