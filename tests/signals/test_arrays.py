"""Signals from arrays: every library, every type, and what is no array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import alfilter as al
from alfilter.errors import UserError
from alfilter.signals import GridSignal
from alfilter.signals.arrays import as_array

RAMP = np.linspace(0, 1, 24).reshape(4, 6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (RAMP, RAMP),
        (RAMP.astype(np.float32), RAMP),
        (RAMP.astype(np.float16), RAMP),
        (torch.from_numpy(RAMP), RAMP),
        (torch.from_numpy(RAMP).bfloat16(), RAMP),
        (RAMP.tolist(), RAMP),
        ((RAMP * 255).astype(np.uint8), RAMP),
        ((RAMP * 1000).astype(np.int64), RAMP),  # the range of its own numbers
        (RAMP.astype(">f8"), RAMP),
        (RAMP > 0.5, RAMP > 0.5),
        (Image.fromarray((RAMP * 255).astype(np.uint8)), RAMP),
    ],
)
def test_a_picture_of_any_type(values: Any, expected: np.ndarray) -> None:
    task = al.ImageTask.from_array(values)
    assert (task.in_dim, task.out_dim, task.samples) == (2, 1, (4, 6))
    assert task.signal.values().view(4, 6).numpy() == pytest.approx(expected.astype(float), abs=5e-3)


def test_pillow_modes_become_colours() -> None:
    picture = Image.fromarray(np.full((4, 6, 3), (10, 200, 30), np.uint8))
    for mode in ("RGB", "P", "CMYK"):
        task = al.ImageTask.from_array(picture.convert(mode))
        assert task.out_dim == 3
        assert task.signal.data[0, 0].tolist() == pytest.approx([10, 200, 30], abs=30)


def test_the_array_is_not_shared() -> None:
    """What the caller writes into the array later changes nothing."""
    values = np.zeros((4, 4))
    task = al.ImageTask.from_array(values)
    values[:] = 1
    assert task.signal.values().max() == 0


def test_every_kind_has_a_way_in() -> None:
    cube = np.random.default_rng(0).random((3, 4, 5, 2))
    ball = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = torch.tensor([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    tasks = {
        "volume": al.VolumeTask.from_array(cube),
        "video": al.VideoTask.from_array(torch.from_numpy(cube[..., :1]), rate=12),
        "audio": al.AudioTask.from_array(np.sin(np.arange(50)), rate=8000),
        "points": al.PointTask.from_array(cube[0, 0, :, :], cube[0, 1, :, 0], observe="random:0.6"),
        "shape": al.SdfTask.from_array(torch.from_numpy(ball), faces),
    }
    assert {kind: task.describe()["kind"] for kind, task in tasks.items()} == {kind: kind for kind in tasks}
    assert tasks["audio"].describe()["rate"] == 8000
    assert tasks["video"].describe()["rate"] == 12
    cloud = al.SdfTask.from_array(np.repeat(ball, 10, 0), normals=np.ones((40, 3)))
    assert cloud.describe()["form"] == "cloud"


def test_a_sound_is_silent_at_one_half() -> None:
    for values in (np.array([0.0, 0.5, -0.25]), np.array([128, 255, 64], np.uint8), np.array([0, 9, -5], np.int16)):
        assert al.AudioTask.from_array(values, rate=10).signal.values()[0].item() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: al.ImageTask(RAMP), r"ImageTask takes a signal, got numpy.ndarray; ImageTask.from_array"),  # type: ignore[arg-type]
        (lambda: al.VolumeTask(torch.zeros(2, 2, 2)), r"got torch.Tensor; VolumeTask.from_array"),  # type: ignore[arg-type]
        (lambda: al.PointTask(RAMP), r"PointTask takes a signal, got numpy.ndarray; PointTask.from_array"),  # type: ignore[arg-type]
        (lambda: al.SdfTask(RAMP), r"SdfTask takes a signal, got numpy.ndarray; SdfTask.from_array"),  # type: ignore[arg-type]
        (lambda: al.ImageTask("a.png"), r"got the text 'a.png'; ImageTask.from_file\('a.png'\)"),  # type: ignore[arg-type]
        (lambda: al.SdfTask(GridSignal(RAMP[..., None])), "SdfTask takes a ShapeSignal, got a signal of kind 'image'"),
        (lambda: al.ImageTask.from_array("a.png"), "got the text 'a.png'; from_file reads files"),
        (lambda: al.ImageTask.from_array(np.zeros((3, 40, 60))), r"got \(3, 40, 60\); channels come last"),
        (lambda: al.ImageTask.from_array(np.zeros(5)), r"got \(5,\); reshape it"),
        (lambda: al.ImageTask.from_array(np.full((3, 3), np.nan)), "got 9 NaN or infinite"),
        (lambda: al.ImageTask.from_array([[1, 2], [3]]), "expected an array of numbers"),
        (lambda: al.ImageTask.from_array(np.zeros((3, 3), complex)), "got ndarray of complex128"),
        (lambda: al.AudioTask.from_array(np.zeros(5), rate=0), "samples per second above 0, got 0"),
        (lambda: al.PointTask.from_array(np.zeros((3, 2)), np.zeros(4)), r"got \(3, 2\) and \(4, 1\)"),
        (lambda: al.PointTask.from_array([0, 1], [0, 1], [1]), r"expected 2 weights of at least 0, got shape \(1,\)"),
        (lambda: al.PointTask.from_array([0, 1], [0, np.inf]), "finite measurements, got 1 NaN or infinite"),
        (lambda: al.SdfTask.from_array(np.zeros((4, 3))), "either faces or normals"),
        (lambda: al.SdfTask.from_array(np.zeros((4, 3)), np.zeros((2, 3))), "faces are whole numbers"),
        (lambda: al.SdfTask.from_array(np.zeros((4, 2)), np.zeros((2, 3), int)), r"vertices of shape \(n, 3\)"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        make()


def test_numbers_keep_their_type() -> None:
    assert as_array(np.zeros(2, np.int16), "x").dtype == np.int16
    assert as_array(np.zeros(2), "x").dtype == np.float64
