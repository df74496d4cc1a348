"""ONNX graphs against torch, for every method; what cannot be exported says why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch

import alfilter as al
from alfilter.errors import UserError
from alfilter.export import export_file
from alfilter.export.onnx import difference, onnx_bytes
from alfilter.methods import METHODS, Field

onnx = pytest.importorskip("onnx", reason="needs onnx: pip install 'alfilter[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'alfilter[onnx]'")

CLOSE = 1e-4
SMALL: dict[str, dict[str, Any]] = {
    "bacon": {"width": 24, "shares": (1, 2, 3)},
    "poly-inr": {"width": 24, "levels": 4},
    "acorn": {"tiles": 20, "deepest": 3, "patch": 3, "features": 4, "width": 16, "depth": 2, "decoder": 8},
    "octree": {"levels": 3, "base": 3, "features": 3, "capacity": 300, "width": 16},
    "hash-grid": {"levels": 5, "finest": 40, "table": 7, "width": 16},
    "al-grid": {"levels": 5, "finest": 40, "table": 7, "width": 16},
    "filter-bank": {"levels": 3, "finest": 40, "table": 7, "width": 16, "backbone": 8},
    "fourier-features": {"features": 20, "width": 24},
}


def small(method: str, dims: int = 2, **options: Any) -> Field:
    """A small field of random numbers: nothing is left at a constant start, so that no part can be left out."""
    chosen = {**SMALL.get(method, {"width": 24, "depth": 3}), **options}
    field = al.build(method, in_dim=dims, out_dim=2, samples=(9, 13, 7)[:dims], seed=1, **chosen)
    generator, encoding = torch.Generator().manual_seed(2), cast(Any, field.encoding)
    with torch.no_grad():
        for name, values in encoding.named_parameters():
            reach = encoding.axis / encoding.alpha.unit if name.startswith("alpha") else 1.0  # α is stored in units
            values.copy_(torch.rand(values.shape, generator=generator) * reach)
    field.set_range(torch.tensor([0.0, -2.0]), torch.tensor([1.0, 5.0]))
    return field.eval()


def run(data: bytes, x: torch.Tensor) -> list[Any]:
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    result: list[Any] = session.run(None, {"points": x.numpy()})
    return result


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_as_torch_does(method: str, dims: int) -> None:
    field = small(method, dims)
    data = onnx_bytes(field)
    result = difference(field, data)
    assert result is not None
    assert result < CLOSE
    x = torch.rand(5, dims) * 2 - 1
    for count in (0, 1, 5):  # any number of points
        outputs = run(data, x[:count])
        assert outputs[0].shape == (count, 2)
        with torch.inference_mode():
            assert np.abs(outputs[0] - field(x[:count]).numpy()).max(initial=0) < CLOSE


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("al-sine", {"coordinates": True, "unit": "axis", "grid": (5, 1)}),
        ("al-relu", {"kappa": 60.0, "bandwidth": 3.0, "placement": "centres"}),
        ("al-grid", {"bandwidth": 2.0}),
        ("pe-mlp", {"placement": "unit"}),
        ("hosc", {"learn_beta": True}),
        ("wire", {"form": "real"}),
        ("finer", {"detach": False}),
        ("diner", {"between": "nearest"}),
    ],
)
def test_options_are_exported_too(method: str, options: dict[str, Any]) -> None:
    field = small(method, **options)
    result = difference(field, onnx_bytes(field))
    assert result is not None
    assert result < CLOSE


def test_alpha_is_an_output_of_the_methods_that_have_it() -> None:
    field = small("al-sine", grid=(4, 6))
    x = torch.tensor([[-1.0, -1.0], [0.0, 0.2], [1.0, 1.0]])
    values, alpha = run(onnx_bytes(field), x)
    encoding: Any = field.encoding
    assert np.allclose(alpha, encoding.alpha(x).detach().numpy(), atol=1e-5)
    assert alpha[0] == pytest.approx(encoding.alpha.values[0, 0, 0].item() * encoding.alpha.unit)  # a node, by hand
    assert len(run(onnx_bytes(small("siren")), x)) == 1
    assert values.shape == (3, 2)


def test_outside_the_domain_the_border_counts(tmp_path: Path) -> None:
    field = small("hash-grid")
    x = torch.tensor([[-1.5, 0.3], [2.0, 2.0]])
    with torch.inference_mode():
        assert np.abs(run(onnx_bytes(field), x)[0] - field(x).numpy()).max() < CLOSE


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    out = tmp_path / "field.onnx"
    line = export_file(small("al-sine"), out)
    assert line["file"] == str(out)
    assert line["bytes"] == out.stat().st_size
    assert line["difference"] < CLOSE
    model = onnx.load(out)
    facts = {entry.key: entry.value for entry in model.metadata_props}
    assert '"method": "al-sine"' in facts["spec"]
    assert "coordinates from -1 to 1" in model.doc_string
    assert out.read_bytes() == onnx_bytes(small("al-sine"))  # same field, same bytes


def test_what_cannot_be_exported_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="has no errors; fit it with between=linear"):
        export_file(small("diner", between="refuse"), tmp_path / "a.onnx")
    with pytest.raises(UserError, match=r"ends in \.onnx or \.html, got 'a\.pt'; rename"):
        export_file(small("siren"), tmp_path / "a.pt")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(UserError, match=r"needs onnx, which is not installed; pip install 'alfilter\[onnx\]'"):
        export_file(small("siren"), tmp_path / "a.onnx")
    assert list(tmp_path.iterdir()) == []


def test_without_the_runtime_nothing_is_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert export_file(small("siren"), tmp_path / "a.onnx")["difference"] is None
