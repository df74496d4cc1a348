"""The one error a user sees, the hint in it, and the extra that it names."""

from __future__ import annotations

import math
import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.errors import UserError, closest, nearest, need, printable

NAMES = ["al-relu", "al-sine", "fourier-features", "pe-mlp", "siren"]


def test_a_user_error_is_a_value_error() -> None:
    assert issubclass(UserError, ValueError)


def test_a_user_error_names_the_arguments_that_mend_it() -> None:
    error = UserError("which columns?", arguments=["coords", "values"])
    assert (str(error), error.arguments) == ("which columns?", ("coords", "values"))
    assert pickle.loads(pickle.dumps(error)).arguments == error.arguments


@given(st.text())
def test_nothing_that_is_printed_moves_the_cursor(text: str) -> None:
    assert printable(text).isprintable()
    assert printable(printable(text)) == printable(text)
    assert not text.isprintable() or printable(text) == text


def test_closest_by_hand() -> None:
    assert closest("Siren", NAMES) == "siren"
    assert closest("zzz", NAMES) is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("al-sin", "did you mean 'al-sine'?"),
        ("AL-SINE", "did you mean 'al-sine'?"),
        ("sirne", "did you mean 'siren'?"),
        ("fourierfeatures", "did you mean 'fourier-features'?"),
        ("xyz", "known: al-relu, al-sine, fourier-features, pe-mlp, siren"),
        ("", "known: al-relu, al-sine, fourier-features, pe-mlp, siren"),
    ],
)
def test_nearest_by_hand(name: str, hint: str) -> None:
    assert nearest(name, reversed(NAMES)) == hint


@given(st.sampled_from(NAMES))
def test_a_name_is_nearest_to_itself(name: str) -> None:
    assert nearest(name, NAMES) == f"did you mean {name!r}?"


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_the_hint_is_one_line_of_known_names(name: str) -> None:
    hint = nearest(name, NAMES)
    assert "\n" not in hint
    assert any(known in hint for known in NAMES)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert need("math") is math
    monkeypatch.setitem(sys.modules, "igl", None)
    with pytest.raises(UserError, match=r"^shapes need igl, which is not installed; pip install 'alfilter\[shapes\]'$"):
        need("igl")
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.setitem(sys.modules, "av.video", None)  # another test may have imported it
    with pytest.raises(UserError, match=r"^this needs av, which is not installed; pip install 'alfilter\[media\]'$"):
        need("av.video", "media")
