"""Which fields a page can evaluate, and what is said of the others."""

from __future__ import annotations

from typing import Any

import pytest

import alfilter as al
from alfilter.errors import UserError
from alfilter.export.page import page_text
from alfilter.export.program import REFUSED, program_of
from alfilter.methods import Field

FACTS = {"kind": "image", "shape": [6, 8], "channels": 3, "mode": "RGB", "bits": 8, "low": 0, "high": 255}

PAGES = [name for name in al.METHODS if name not in REFUSED]


def small(method: str, out_dim: int = 3, **options: Any) -> Field:
    field = al.build(method, in_dim=2, out_dim=out_dim, samples=(6, 8), **options)
    field.signal = {**FACTS, "channels": out_dim}
    return field.eval()


@pytest.mark.parametrize("method", REFUSED)
def test_what_the_page_cannot_evaluate_says_what_can_be_done(method: str) -> None:
    with pytest.raises(UserError) as refusal:
        page_text(small(method), "t")
    message = str(refusal.value)
    assert f"a page cannot evaluate {method}, only " in message
    assert message.endswith("; export .onnx instead, or look at it with alfilter view")
    assert message.split(", only ")[1].split(";")[0].split(", ") == PAGES


@pytest.mark.parametrize("dims", [1, 3, 4])
def test_fields_of_other_coordinates_have_programs(dims: int) -> None:
    for method in ("al-grid", "al-sine", "mfn-gabor", "fourier-features", "octree"):
        field = al.build(method, in_dim=dims, out_dim=1, samples=(4,) * dims, width=8)
        assert program_of(field).steps["dims"] == dims


@pytest.mark.parametrize("method", PAGES)
def test_every_other_method_has_a_page(method: str) -> None:
    assert program_of(small(method)).steps["layers"][-1]["outputs"] == 3


def test_only_pictures_have_a_page() -> None:
    with pytest.raises(UserError, match=r"a page shows pictures, .* got a field of 3 coordinates; export .onnx"):
        page_text(al.build("siren", in_dim=3, out_dim=1), "t")
    with pytest.raises(UserError, match="up to 4 coordinates and gives up to 4 values, got 2 and 5; export"):
        page_text(al.build("siren", in_dim=2, out_dim=5), "t")
