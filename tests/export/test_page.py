"""The exported page without a browser: what is written, and what is refused."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

import alfilter as al
from alfilter.export import export_file
from alfilter.export.page import page_text
from alfilter.methods import Field

FACTS = {"kind": "image", "shape": [6, 8], "channels": 3, "mode": "RGB", "bits": 8, "low": 0, "high": 255}


def small(method: str, out_dim: int = 3, **options: Any) -> Field:
    field = al.build(method, in_dim=2, out_dim=out_dim, samples=(6, 8), **options)
    field.signal = {**FACTS, "channels": out_dim}
    return field.eval()


def test_the_page_is_whole_and_holds_the_numbers(tmp_path: Path) -> None:
    field = small("al-sine", width=5, levels=2)
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
    assert f"a network of {sum(p.numel() for p in field.parameters()):,} parameters takes any place" in text
    assert page_text(field, "t") == page_text(field, "t")


def test_points_are_shown_in_their_own_units() -> None:
    field = small("siren", out_dim=1)
    field.signal = {"kind": "points", "coords": ["lon", "lat"], "values": ["temp"], "low": [5.0, 45.0],
                    "high": [11.0, 48.0], "value_low": [-10.0], "value_high": [30.0]}  # fmt: skip
    field.set_range(torch.zeros(1), torch.ones(1))
    program = json.loads(re.search(r'id="program">(.*?)</script>', page_text(field, "t"), re.DOTALL)[1])  # type: ignore[index]
    assert program["axes"][1] == {"name": "lat", "low": 45.0, "high": 48.0}
    assert program["shape"] == [256, 512]  # six degrees to the right, three upwards
    assert program["values"] == ["temp"]
    assert (program["shift"], program["range"], program["scale"]) == ([10.0], [20.0], [-10.0, 30.0])
