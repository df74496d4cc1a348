"""The exported page without a browser: what is written, and what is refused."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import alfilter as al
from alfilter.core import dyadic_encoding, random_features
from alfilter.errors import UserError
from alfilter.export import export_file
from alfilter.export.page import page_text
from alfilter.export.program import REFUSED, program_of
from alfilter.methods import Field

FACTS = {"kind": "image", "shape": [6, 8], "channels": 3, "mode": "RGB", "bits": 8, "low": 0, "high": 255}


PAGES = [name for name in al.METHODS if name not in REFUSED]


def made(method: str, out_dim: int = 3, **options: Any) -> Field:
    field = al.build(method, in_dim=2, out_dim=out_dim, samples=(6, 8), **options)
    field.signal = {**FACTS, "channels": out_dim}
    return field.eval()


def features(field: Field, x: torch.Tensor) -> Any:
    """The table's features in NumPy, without any filter."""
    program = program_of(field)
    first, count = program.steps["table"]
    rows = program.numbers[first : first + count].reshape(-1, 4).astype(np.float64)
    turns = x.numpy().astype(np.float64) @ rows[:, :2].T
    kinds = np.stack((turns, np.sin(2 * np.pi * turns), np.cos(2 * np.pi * turns)))
    return np.take_along_axis(kinds, rows[None, None, :, 2].astype(int), 0)[0], rows[:, 3]


def test_the_table_is_the_encoding() -> None:
    x = torch.rand(20, 2) * 2 - 1
    found, places = features(made("pe-mlp", levels=4), x)
    assert np.allclose(found, dyadic_encoding(x.double(), 4).numpy(), atol=1e-6)
    assert (places == -1).all()
    centred = made("pe-mlp", levels=4, placement="centres")
    inside = x.double() * torch.tensor([5 / 6, 7 / 8], dtype=torch.float64)
    assert np.allclose(features(centred, x)[0], dyadic_encoding(inside, 4).numpy(), atol=1e-6)
    with pytest.raises(UserError, match="a page has no phases"):
        features(made("pe-mlp", placement="unit"), x)
    field = made("fourier-features", features=7)
    found, _ = features(field, x)
    assert np.allclose(found, random_features(x.double(), field.encoding.frequencies.double()).numpy(), atol=1e-5)  # type: ignore[operator,union-attr]
    found, places = features(made("al-sine", levels=3, coordinates=True), x)
    assert places.tolist() == [-1, -1, *range(12)]
    assert np.allclose(found[:, :2], x.numpy())


def test_the_page_is_whole_and_holds_the_numbers(tmp_path: Path) -> None:
    field = made("al-sine", width=5, levels=2)
    line = export_file(field, tmp_path / "my field.html", "A <b>title</b> & more @ home")
    text = (tmp_path / "my field.html").read_text(encoding="utf-8")
    assert line["bytes"] == len(text.encode())
    assert "<h1>A &lt;b&gt;title&lt;/b&gt; &amp; more @ home</h1>" in text
    assert not re.search(r"@[A-Z]{3,}@", text)
    assert not re.search(r"(src|href)=|https?://", text)  # nothing is loaded
    program = json.loads(re.search(r'id="program">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    numbers = np.frombuffer(base64.b64decode(re.search(r'id="numbers">(.*?)</script>', text)[1]), "<f4")  # type: ignore[index]
    first, count = program["layers"][-1]["weight"]
    assert np.array_equal(numbers[first : first + count].reshape(3, 5), field.network.weights[-1].detach().numpy())  # type: ignore[index,union-attr]
    assert program["filter"]["frequencies"] == [1 / 7, 2 / 7]
    assert page_text(field, "t") == page_text(field, "t")


def test_points_are_shown_in_their_own_units() -> None:
    field = made("siren", out_dim=1)
    field.signal = {"kind": "points", "coords": ["lon", "lat"], "values": ["temp"], "low": [5.0, 45.0],
                    "high": [11.0, 48.0], "value_low": [-10.0], "value_high": [30.0]}  # fmt: skip
    field.set_range(torch.zeros(1), torch.ones(1))
    program = json.loads(re.search(r'id="program">(.*?)</script>', page_text(field, "t"), re.DOTALL)[1])  # type: ignore[index]
    assert program["axes"][1] == {"name": "lat", "low": 45.0, "high": 48.0}
    assert program["shape"] == [256, 512]  # six degrees to the right, three upwards
    assert program["values"] == ["temp"]
    assert (program["shift"], program["range"], program["scale"]) == ([10.0], [20.0], [-10.0, 30.0])


@pytest.mark.parametrize("method", REFUSED)
def test_what_the_page_cannot_evaluate_says_what_can_be_done(method: str) -> None:
    with pytest.raises(UserError) as told:
        page_text(made(method), "t")
    said = str(told.value)
    assert f"a page cannot evaluate {method}, only " in said
    assert said.endswith("; export .onnx instead, or look at it with alfilter view")
    assert said.split(", only ")[1].split(";")[0].split(", ") == PAGES


@pytest.mark.parametrize("method", PAGES)
def test_every_other_method_has_a_page(method: str) -> None:
    assert program_of(made(method)).steps["layers"][-1]["outputs"] == 3


def test_a_table_without_places_between_has_no_page() -> None:
    with pytest.raises(UserError, match="fit it with between=linear"):
        page_text(made("diner", between="refuse"), "t")


def test_only_pictures_have_a_page() -> None:
    with pytest.raises(UserError, match="2 coordinates and up to 4 values, got 3 and 1; export"):
        page_text(al.build("siren", in_dim=3, out_dim=1), "t")
