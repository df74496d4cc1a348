"""What a fit is told between its samples comes from the seen ones alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.support.shapes import ball

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.methods import build
from alfilter.signals import GridSignal, ShapeSignal
from alfilter.signals.points import PointSignal
from alfilter.tasks import ImageTask, PointTask, SdfTask
from alfilter.tasks.gap_filling import Filling
from alfilter.tasks.holdout import HoldoutTask
from alfilter.training import fit

SIZE = {"width": 24, "depth": 2}


def waves(size: int = 32) -> np.ndarray:
    y, x = np.indices((size, size)) / size
    return (0.5 + 0.4 * np.sin(9 * x + 3 * y))[..., None].astype(np.float32)


def picture(data: np.ndarray, observe: str = "every:2") -> ImageTask:
    return ImageTask(GridSignal(data, span=(0.0, 1.0)), observe)


def points(count: int = 200) -> PointTask:
    places = np.random.default_rng(0).random((count, 2))
    return PointTask(PointSignal(places, np.sin(4 * places[:, :1])), "random:0.5")


def test_unseen_pixels_are_all_there_and_no_seen_one_is() -> None:
    task = picture(waves())
    filling = task.filling()
    assert filling is not None
    assert len(filling.x) == 32 * 32 - task.count
    seen = {tuple(row) for row in task.signal.coords(task.seen).tolist()}
    assert not seen & {tuple(row) for row in filling.x.tolist()}
    assert task.filling() is filling, "made once"
    assert picture(waves(), "all").filling() is None


def test_the_values_do_not_depend_on_what_is_unseen() -> None:
    data = waves()
    changed = 1 - data
    changed[::2, ::2] = data[::2, ::2]
    first, second = picture(data).filling(), picture(changed).filling()
    assert first is not None
    assert second is not None
    assert torch.equal(first.y, second.y)


def test_what_judges_a_trial_is_not_in_its_filling() -> None:
    task = picture(waves())
    held = HoldoutTask(task, 0.25)
    filling = held.filling()
    assert filling is not None
    assert len(filling.x) == 32 * 32 - len(held.training)
    scattered = points()
    between = HoldoutTask(scattered, 0.25).filling()
    assert between is not None
    assert between.y.shape[1] == 2, "values, and a weight of one"


def test_pieces_are_a_pure_function_of_the_step() -> None:
    filling = Filling(torch.rand(50, 2), torch.rand(50, 1))
    first, again = ([piece.tolist() for piece in filling.pieces(3, 7, 20, 8)] for _ in range(2))
    assert first == again
    assert [len(piece) for piece in first] == [8, 8, 4]
    assert first != [piece.tolist() for piece in filling.pieces(4, 7, 20, 8)]
    assert sum(len(piece) for piece in filling.pieces(0, 0, 99, 8)) == 50


def test_a_field_told_the_filling_is_right_between_the_samples() -> None:
    """A network that can oscillate between 256 samples does not once it learns what lies between."""
    scores = {}
    for weight in (0.0, 0.3):
        task = picture(waves())
        field = build("al-sine", in_dim=2, out_dim=1, samples=task.samples, preset="default", omega=60.0, **SIZE)
        fit(field, task, steps=150, lr=3e-3, fill=weight)
        result = task.compare(sample_grid(field, (32, 32)), task.target())
        assert result.heldout is not None
        scores[weight] = result.heldout["psnr"]
    assert scores[0.3] > scores[0.0] + 5


def test_a_run_goes_on_where_it_stopped(tmp_path) -> None:
    def trained(stop: int | None):
        task = picture(waves())
        field = build("al-sine", in_dim=2, out_dim=1, samples=task.samples, preset="reconstruct", **SIZE)
        calls = iter(range(10**6))
        path = tmp_path / f"{stop}.safetensors"
        if stop is not None:
            fit(field, task, steps=12, batch=100, checkpoint=path, should_stop=lambda: next(calls) > stop)
        fit(field, task, steps=12, batch=100, checkpoint=path)
        return field

    whole, parts = trained(None), trained(9)
    for one, other in zip(whole.parameters(), parts.parameters(), strict=True):
        assert torch.equal(one, other)


def test_points_are_filled_too_and_the_loss_says_so() -> None:
    task = points()
    field = build("al-sine", in_dim=2, out_dim=1, samples=task.samples, preset="reconstruct", **SIZE)
    lines = fit(field, task, steps=5, fill=0.5).history
    assert all(line["fill"] > 0 for line in lines)
    assert lines[0]["loss"] == pytest.approx(10 ** (-lines[0]["psnr"] / 10) + lines[0]["fill"])


def test_a_shape_has_no_gaps_to_fill() -> None:
    task = SdfTask(ShapeSignal.from_mesh(*ball(levels=2)), block=256, reuse=4, window=2)
    field = build("al-sine", in_dim=3, out_dim=1, preset="default-shape", **SIZE)
    with pytest.raises(UserError, match="'fill' is for grids and scattered points"):
        fit(field, task, steps=1, fill=0.1)


def test_points_without_weight_have_no_say() -> None:
    places = np.random.default_rng(0).random((60, 2))
    values, weights = places[:, :1].copy(), np.ones(60)
    values[:10], weights[:10] = 50.0, 0.0
    filling = PointTask(PointSignal(places, values, weights=weights)).filling()
    assert filling is not None
    along = filling.x.numpy()[:, 0]
    assert np.abs(np.corrcoef(along, filling.y[:, 0].numpy())[0, 1]) > 0.99


def test_many_coordinates_are_not_filled() -> None:
    draw = np.random.default_rng(0)
    task = PointTask(PointSignal(draw.random((50, 6)), draw.random((50, 1))))
    assert task.filling() is None
    field = build("al-sine", in_dim=6, out_dim=1, preset="reconstruct", samples=task.samples, grid=1, **SIZE)
    assert "fill" not in fit(field, task, steps=2, fill=0.5).history[-1]


def test_a_band_in_which_nothing_is_seen_is_left_out(tmp_path, monkeypatch) -> None:
    from alfilter.inpainting import grid as module
    from alfilter.signals import write_image

    seen = np.zeros((64, 16, 1), np.float32)
    seen[:8] = 1.0
    write_image(tmp_path / "mask.png", seen)
    monkeypatch.setattr(module, "_BAND", 8 * 16)
    task = ImageTask(GridSignal(waves(64)[:, :16], span=(0.0, 1.0)), f"mask:{tmp_path / 'mask.png'}")
    filling = task.filling()
    assert filling is not None
    rows = {round(float(y), 3) for y in filling.x[:, 0].tolist()}
    assert max(rows) < 0.5, "the last bands are far from all that is known"
    assert float(filling.y.min()) > 0.02
