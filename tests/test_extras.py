"""What needs an extra, and how much memory there is."""

from __future__ import annotations

import math
import sys

import pytest

from alfilter.errors import UserError
from alfilter.extras import free_memory, need


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert need("math") is math
    monkeypatch.setitem(sys.modules, "igl", None)
    with pytest.raises(UserError, match=r"^shapes need igl, which is not installed; pip install 'alfilter\[shapes\]'$"):
        need("igl")
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(UserError, match=r"^this needs av, which is not installed; pip install 'alfilter\[media\]'$"):
        need("av.video", "media")


def test_free_memory_is_a_number_of_bytes() -> None:
    free = free_memory()
    assert free is None or 1 << 20 < free < 1 << 50
