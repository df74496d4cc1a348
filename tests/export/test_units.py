"""Graphs in the user's units: against what the commands themselves write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.commands import picture

import alfilter as al
from alfilter.export.onnx import difference, onnx_bytes
from alfilter.export.units import units_of
from alfilter.geometry.frame import Frame
from alfilter.signals import read_image
from alfilter.tasks.points import predict

pytest.importorskip("onnx", reason="needs onnx: pip install 'alfilter[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'alfilter[onnx]'")


def run(field: al.Field, points: Any) -> Any:
    data = onnx_bytes(field.eval())
    error = difference(field, data)
    assert error is not None
    assert error < 1e-4
    session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    assert {"points", "values"} <= set(session.get_modelmeta().custom_metadata_map)
    return session.run(None, {"points": points})[0]


def fitted(task: Any, method: str = "al-sine", **options: Any) -> al.Field:
    sizes = {"in_dim": task.in_dim, "out_dim": task.out_dim, "samples": task.samples}
    field = al.build(method, width=12, depth=2, **sizes, **options)
    al.fit(field, task, steps=3)
    return field


def test_a_picture_by_pixels(tmp_path: Path) -> None:
    task = al.ImageTask.from_file(picture(tmp_path / "a.png", 9, 7))
    field = fitted(task, levels=3)
    rows = np.array([[r, c] for r in range(9) for c in range(7)], np.float32)
    with torch.inference_mode():
        expected = field(task.signal.coords()).numpy() * 255
    assert run(field, rows) == pytest.approx(expected, abs=0.05)


def test_a_place_on_a_sample_is_exactly_there(tmp_path: Path) -> None:
    """diner knows its table at the samples' own coordinates only."""
    task = al.ImageTask.from_file(picture(tmp_path / "a.png", 9, 7))
    field = al.build("diner", in_dim=2, out_dim=3, samples=(9, 7), width=8, depth=1, between="nearest")
    al.fit(field, task, steps=3)
    rows = np.array([[r, c] for r in range(9) for c in range(7)], np.float32)
    with torch.inference_mode():
        assert run(field, rows) == pytest.approx(field(task.signal.coords()).numpy() * 255, abs=0.05)
    assert read_image(tmp_path / "a.png").shape == (9, 7)


def test_measurements_in_their_own_columns() -> None:
    """Coordinates with an offset that a float32 would lose, and a place outside the fitted box."""
    rng = np.random.default_rng(0)
    places = rng.random((60, 2)) * [3.0, 5.0] + [4_512_300.0, -7.0]
    task = al.PointTask.from_array(places, 300 + 40 * np.sin(places[:, :1]))
    field = fitted(task, levels=3)
    asked = np.concatenate((places[:20], places[:1] + 100))
    expected, _ = predict(field, task.describe(), asked)
    assert run(field, asked) == pytest.approx(expected, abs=1e-2)


def test_a_shape_in_the_units_of_its_mesh() -> None:
    corners = 10 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) + 1000
    task = al.SdfTask.from_array(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], block=200)
    field = al.build("al-relu", in_dim=3, out_dim=1, width=8, depth=1, levels=2, grid=2)
    al.fit(field, task, steps=2, batch=64)
    frame = Frame.read(field.signal["frame"])
    places = corners.mean(0) + np.random.default_rng(1).random((10, 3))
    with torch.inference_mode():
        expected = field(torch.from_numpy(frame.into(places)).float()).numpy() * frame.scale
    assert run(field, places) == pytest.approx(expected, abs=1e-2)


def test_a_field_of_nothing_keeps_its_domain() -> None:
    units = units_of({}, 2, 1)
    assert units.outward(np.array([[0.3, -1.0]])).tolist() == [[0.3, -1.0]]
