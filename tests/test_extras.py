"""What needs an extra."""

from __future__ import annotations

import math
import sys

import pytest

from alfilter.errors import UserError
from alfilter.extras import need


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert need("math") is math
    monkeypatch.setitem(sys.modules, "igl", None)
    with pytest.raises(UserError, match=r"^shapes need igl, which is not installed; pip install 'alfilter\[shapes\]'$"):
        need("igl")
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.setitem(sys.modules, "av.video", None)  # another test may have imported it
    with pytest.raises(UserError, match=r"^this needs av, which is not installed; pip install 'alfilter\[media\]'$"):
        need("av.video", "media")
