"""A model as a picture: the pixels of every size and region agree with each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.commands import TINY, alfilter, complaint, picture

from alfilter.analysis import capped
from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.methods import Field, build
from alfilter.metrics.image import psnr
from alfilter.render import stored_numbers
from alfilter.render.image import render, render_file
from alfilter.render.view import View
from alfilter.runs.fitting import fit_task
from alfilter.signals import GridSignal, read_image, write_image
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


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[" ".join(words) for words, _ in MISTAKES])
def test_mistakes(words: tuple[str, ...], message: str, model: Path, tmp_path: Path) -> None:
    assert message in complaint("render", model, tmp_path / "out.png", *words)
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


def fine_field(method: str) -> Field:
    """A field of 32×48 pixels with much between them that point sampling would alias."""
    field = build(method, in_dim=2, out_dim=3, samples=(32, 48), seed=1)
    field.signal = {"kind": "image", "shape": [32, 48], "bits": 8, "low": 0.0, "high": 255.0}
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        if method in ("al-grid", "hash-grid"):
            field.encoding.table.uniform_(-1, 1, generator=generator)  # type: ignore[union-attr]
    return field


@pytest.mark.parametrize("method", ["al-grid", "hash-grid", "al-sine", "siren"])
@pytest.mark.parametrize("factor", [2, 4, 8])
def test_a_smaller_picture_is_the_area_mean(method: str, factor: int) -> None:
    field = fine_field(method)
    whole = render(field, View())
    expected = whole.view(32 // factor, factor, 48 // factor, factor, 3).mean((1, 3))
    assert torch.allclose(render(field, View(scale=1 / factor)), expected, atol=1e-5)
    assert torch.allclose(render(field, View(size=f"{48 // factor}x{32 // factor}")), expected, atol=1e-5)
    part = render(field, View(scale=1 / factor, region="8,16,40,32"))
    assert torch.allclose(part, expected[16 // factor : 32 // factor, 8 // factor : 40 // factor], atol=1e-5)


def test_a_field_that_learned_its_levels_of_detail_is_capped_instead() -> None:
    """One place per pixel, in its middle, with the filter at the pixels' frequency; below what it learned, means."""
    field = fine_field("al-grid")
    field.signal["detail"] = 2
    middle = torch.cartesian_prod(*(2 * ((torch.arange(n / 4) + 0.5) * 4 - 0.5) / (n - 1) - 1 for n in (32, 48)))
    expected = capped(field, 48 / 4 / 2)(middle).view(8, 12, 3)
    assert torch.allclose(render(field, View(scale=0.25)), expected.detach(), atol=1e-5)
    eighth = expected.view(4, 2, 6, 2, 3).mean((1, 3))
    assert torch.allclose(render(field, View(scale=0.125)), eighth.detach(), atol=1e-5)
    assert torch.equal(render(field, View()), render(fine_field("al-grid"), View()))


def test_levels_of_detail_that_were_learned_are_the_area_means() -> None:
    """A texture at 1/2 and 1/4 of its size: far closer to the area means than one place per pixel."""
    grain = np.random.default_rng(0).integers(0, 256, (64, 64, 1), np.uint8)
    task = ImageTask(GridSignal(grain))
    field = fit_task(task, "al-grid", preset="detail", training={"steps": 300}).field
    assert field.signal["detail"] == 3
    target = task.signal.values().view(64, 64, 1)
    for factor in (2, 4):
        expected = target.view(64 // factor, factor, 64 // factor, factor, 1).mean((1, 3))
        drawn = render(field, View(scale=1 / factor))
        alone = sample_grid(field, (64, 64))[factor // 2 :: factor, factor // 2 :: factor]
        assert psnr(drawn, expected) > psnr(alone, expected) + 12


def test_detail_caps_the_frequency() -> None:
    field = fine_field("al-grid")
    x = torch.cartesian_prod(*(torch.linspace(-1, 1, n) for n in (32, 48)))
    expected = capped(field, 0.1 * 47)(x).view(32, 48, 3).detach()
    assert torch.allclose(render(field, View(detail=0.1)), expected, atol=1e-5)
    assert torch.allclose(render(field, View(detail=99)), render(field, View()), atol=1e-6)
    for wrong, message in ((View(detail=0), "detail is a frequency above 0 in cycles per sample, got 0"),
                        (View(detail=0.1, level=1), "detail caps a filter and level chooses an output")):  # fmt: skip
        with pytest.raises(UserError, match=message):
            render(field, wrong)
    with pytest.raises(UserError, match="siren has no filter and no local frequency; fit with al-grid"):
        render(fine_field("siren"), View(detail=0.1))


def test_a_picture_that_does_not_fit_in_memory_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_numbers, "free_memory", lambda: 100)
    with pytest.raises(UserError, match=r"of memory, 0\.0 GB are available; give a smaller scale"):
        render_file(fine_field("siren"), tmp_path / "a.png", View())
