"""A model as a picture: the pixels of every size and region agree with each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.commands import TINY, alfilter, complaint, picture

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.methods import Field, build
from alfilter.render.image import render, render_file
from alfilter.render.view import View
from alfilter.signals import read_image, write_image
from alfilter.tasks import ImageTask
from alfilter.training import fit, load, save

HEIGHT, WIDTH = 11, 14


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("model")
    task = ImageTask.from_file(picture(home / "photo.png", HEIGHT, WIDTH))
    field = build("al-sine", in_dim=2, out_dim=3, samples=task.samples, width=16, depth=1, levels=3, grid=8)
    fit(field, task, steps=20)
    save(field, home / "model.safetensors")
    return home / "model.safetensors"


@pytest.fixture(scope="module")
def field(model: Path) -> Field:
    return load(model)


def test_scale_one_is_the_reconstruction(field: Field) -> None:
    whole = sample_grid(field, (HEIGHT, WIDTH))
    assert torch.equal(render(field, View()), whole)
    assert torch.equal(render(field, View(scale=1.0)), whole)
    assert torch.equal(render(field, View(size=f"{WIDTH}x{HEIGHT}")), whole)


def test_the_coordinates_are_those_of_the_fit(field: Field, model: Path) -> None:
    task = ImageTask.from_file(model.parent / "photo.png")
    with torch.inference_mode():
        fitted = field(task.signal.coords()).view(HEIGHT, WIDTH, 3)
    assert torch.allclose(render(field, View()), fitted, rtol=0, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_region_is_the_crop(field: Field, data: st.DataObject) -> None:
    x0, y0 = data.draw(st.integers(0, WIDTH - 1)), data.draw(st.integers(0, HEIGHT - 1))
    x1, y1 = data.draw(st.integers(x0 + 1, WIDTH)), data.draw(st.integers(y0 + 1, HEIGHT))
    part = render(field, View(region=f"{x0},{y0},{x1},{y1}"))
    assert torch.equal(part, render(field, View())[y0:y1, x0:x1])


def test_twice_as_fine_holds_the_pixels_at_even_places(field: Field) -> None:
    fine = render(field, View(size=f"{2 * WIDTH - 1}x{2 * HEIGHT - 1}"))
    assert torch.equal(fine[::2, ::2], render(field, View()))


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 6), st.integers(1, 40), st.integers(1, 40))
def test_sizes(field: Field, scale: float, columns: int, rows: int) -> None:
    assert render(field, View(size=f"{columns}x{rows}")).shape == (rows, columns, 3)
    wanted = (max(1, round(HEIGHT * scale)), max(1, round(WIDTH * scale)), 3)
    assert render(field, View(scale=scale)).shape == wanted


def test_a_magnified_region_stays_between_its_corners(field: Field) -> None:
    part = render(field, View(size="30x20", region="2,3,8,9"))
    whole = render(field, View())
    corners = part[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert torch.allclose(corners, whole[[3, 3, 8, 8], [2, 7, 2, 7]], atol=1e-6)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif", ".bmp"])
def test_formats(suffix: str, field: Field, tmp_path: Path) -> None:
    assert render_file(field, tmp_path / f"out{suffix}", View(scale=2)) == (2 * HEIGHT, 2 * WIDTH)
    assert read_image(tmp_path / f"out{suffix}").shape == (2 * HEIGHT, 2 * WIDTH)


def test_a_float_picture_comes_back_in_its_own_numbers(tmp_path: Path) -> None:
    values = np.linspace(-3, 5, 48, dtype="float32").reshape(6, 8, 1)
    write_image(tmp_path / "float.tif", values, 32)
    words = ("--steps", "150", "--train", "batch=none", "--train", "lr=2e-3", "--out", tmp_path / "out", *TINY)
    assert alfilter("fit", tmp_path / "float.tif", *words).code == 0
    assert alfilter("render", tmp_path / "out" / "model.safetensors", tmp_path / "again.tif").code == 0
    again = read_image(tmp_path / "again.tif")
    assert again.data.dtype == np.float32
    assert np.abs(again.data - values).mean() < 1


MISTAKES = [
    (("--size", "big"), "size looks like WIDTHxHEIGHT"),
    (("--size", "0x4"), "at least 1x1"),
    (("--size", "20000x20000"), "pixels; give a smaller size"),
    (("--scale", "0"), "scale must be a number above 0"),
    (("--scale", "nan"), "scale must be a number above 0"),
    (("--scale", "2", "--size", "4x4"), "not allowed with"),
    (("--region", "0,0,4"), "region looks like X0,Y0,X1,Y1"),
    (("--region", "0,0,99,4"), f"inside 0,0,{WIDTH},{HEIGHT}"),
    (("--region", "4,4,2,6"), f"inside 0,0,{WIDTH},{HEIGHT}"),
    (("--region", "1,1,1.5,4"), "at least one pixel"),
    (("--region", "nan,0,4,4"), "inside"),
    (("--bits", "12"), "8 or 16 bits"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(words: tuple[str, ...], said: str, model: Path, tmp_path: Path) -> None:
    assert said in complaint("render", model, tmp_path / "out.png", *words)
    assert not list(tmp_path.iterdir())


def test_mistakes_about_files(model: Path, tmp_path: Path) -> None:
    assert "ends in .png" in complaint("render", model, tmp_path / "out.gif")
    assert "cannot write" in complaint("render", model, tmp_path / "nowhere" / "out.png")
    (tmp_path / "folder.png").mkdir()
    assert "cannot write" in complaint("render", model, tmp_path / "folder.png")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.png"]


def test_an_untrained_field_is_no_picture() -> None:
    with pytest.raises(UserError, match="nothing yet, not a picture"):
        render(build("siren", in_dim=2, out_dim=3, width=8, depth=1), View())
