"""The brush changes α inside its circle and nowhere else, and what it made can be saved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.ops import interpolate
from alfilter.training import load, save
from alfilter.viewer.model import Model
from alfilter.viewer.open import open_files, picture_models
from alfilter.viewer.steering import Brush, alpha_of, paint, refine, with_alpha

SHAPE = (40, 52)


def test_taking_back_is_bounded_by_memory(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = picture_models(open_files([str(runs / "al")]))[0]
    for number in range(30):
        model.steer(str(number), torch.tensor([[9.0, 9.0]]), 6.0, 0.1, "shift")
    assert len(model.undo) == 24
    size = model.undo[0][1].numel() * 4
    monkeypatch.setattr("alfilter.viewer.model._UNDO_BYTES", 3 * size + 1)
    model.steer("one more", torch.tensor([[9.0, 9.0]]), 6.0, 0.1, "shift")
    assert len(model.undo) == 3
    monkeypatch.setattr("alfilter.viewer.model._UNDO_BYTES", 1)
    model.steer("the last", torch.tensor([[9.0, 9.0]]), 6.0, 0.1, "shift")
    assert len(model.undo) == 1


def test_a_dab_by_hand() -> None:
    grid = torch.zeros(9, 9, 1)
    after, box = paint(grid, grid, torch.tensor([[4.0, 4.0]]), Brush(2 + 2**0.5 - 1e-9, 3.0), (9, 9))
    expected = 3 * (1 - torch.tensor([0, 1, 2, 4]) / 4).square()  # at distances 0, 1, √2, 2 of a reach of 2
    assert torch.allclose(after[[4, 4, 5, 4], [4, 5, 5, 6], 0], expected, atol=1e-6)
    assert int((after != 0).sum()) == 9
    assert box == pytest.approx((4 - 3.414, 4 - 3.414, 4 + 3.414, 4 + 3.414), abs=1e-3)


@settings(max_examples=40)
@given(st.integers(2, 9), st.integers(1, 9), st.integers(1, 40), st.integers(1, 40))
def test_a_refined_grid_is_the_same_function(first: int, second: int, rows: int, columns: int) -> None:
    grid = torch.randn(first, second, 1, generator=torch.Generator().manual_seed(first * 10 + second))
    fine = refine(grid, (rows, columns))
    x = torch.rand(200, 2, generator=torch.Generator().manual_seed(0)) * 2 - 1
    assert torch.allclose(interpolate(fine, x), interpolate(grid, x), atol=1e-5)
    for nodes, samples in zip(fine.shape, (rows, columns), strict=False):
        assert (samples - 1) / max(1, nodes - 1) <= 1 or samples == 1


@settings(max_examples=30)
@given(st.floats(-5, 45), st.floats(-5, 60), st.floats(3, 15), st.floats(-4, 4), st.sampled_from(["shift", "restore"]))
def test_outside_the_brush_nothing_changes(row: float, column: float, radius: float, amount: float, kind: str) -> None:
    learned = torch.randn(40, 52, 1, generator=torch.Generator().manual_seed(3))
    grid = learned + 1
    after, (top, left, bottom, right) = paint(
        grid,
        learned,
        torch.tensor([[row, column]], dtype=torch.float64),
        Brush(radius, amount, kind),
        SHAPE,  # type: ignore[arg-type]
    )
    places = torch.rand(4000, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1
    there = (places + 1) / 2 * (torch.tensor(SHAPE) - 1)
    away = (there - torch.tensor([row, column])).norm(dim=-1) > radius
    assert torch.equal(interpolate(after, places)[away], interpolate(grid, places)[away])
    outside = (there[:, 0] < top) | (there[:, 0] > bottom) | (there[:, 1] < left) | (there[:, 1] > right)
    assert bool((away | ~outside).all())


def test_restoring_brings_back_what_was_learned() -> None:
    learned = torch.randn(30, 30, 1)
    dabs = torch.tensor([[15.0, 15.0]])
    raised, _ = paint(learned, learned, dabs, Brush(8, 5.0), (30, 30))
    back = raised
    for _ in range(200):
        back, _ = paint(back, learned, dabs, Brush(12, 0.0, "restore"), (30, 30))
    assert float((raised - learned).abs().max()) > 4
    assert float((back - learned).abs().max()) < 1e-3


@pytest.fixture
def model(runs: Path) -> Model:
    return picture_models(open_files([str(runs / "al")]))[0]


def test_the_picture_changes_inside_the_circle_only(model: Model) -> None:
    before = sample_grid(model.original, SHAPE)
    model.steer("g", torch.tensor([[20.0, 30.0]]), 6.0, 3.0, "shift")
    after = sample_grid(model.current, SHAPE)
    rows, columns = torch.meshgrid(torch.arange(40.0), torch.arange(52.0), indexing="ij")
    inside = (rows - 20).square() + (columns - 30).square() < 36
    changed = (after - before).abs().amax(-1)
    # outside only the last bits move: the refined grid holds the same function in other numbers
    assert float(changed[~inside].max()) < 1e-4
    assert float(changed[inside].max()) > 1e-2
    assert torch.equal(sample_grid(model.original, SHAPE), before)


def test_undo_goes_by_gestures_and_reset_by_all(model: Model) -> None:
    for gesture in ("a", "a", "b"):
        model.steer(gesture, torch.tensor([[20.0, 30.0]]), 6.0, 1.0, "shift")
    assert len(model.undo) == 2
    assert model.undo_last()
    assert model.is_steered
    assert model.undo_last()
    assert not model.is_steered
    assert not model.undo_last()
    model.steer("c", torch.tensor([[1.0, 1.0]]), 6.0, -1.0, "shift")
    model.reset()
    assert model.current is model.original


def test_a_steered_model_is_a_model(model: Model, tmp_path: Path) -> None:
    model.steer("a", torch.tensor([[20.0, 30.0], [22.0, 30.0]]), 8.0, -2.0, "shift")
    save(model.current, tmp_path / "steered.safetensors")
    again = load(tmp_path / "steered.safetensors")
    assert torch.equal(sample_grid(again, SHAPE), sample_grid(model.current, SHAPE))
    assert again.spec["options"]["grid"] == (46, 61)  # 15 cells, each in 3 and in 4


def test_alpha_stays_where_its_gradient_lives(model: Model) -> None:
    encoding = alpha_of(with_alpha(model.original, torch.full((4, 4, 1), 1e6)))
    assert float(encoding.alpha.values.max()) * encoding.alpha.unit == pytest.approx(encoding.alpha.high)


def test_what_cannot_be_steered_says_so(runs: Path) -> None:
    siren = picture_models(open_files([str(runs / "siren")]))[0]
    with pytest.raises(UserError, match="α is not defined for siren"):
        siren.steer("a", torch.tensor([[1.0, 1.0]]), 6.0, 1.0, "shift")
    for wrong in ({"radius": 1.0}, {"radius": 9.0, "amount": 1e9}, {"radius": 9.0, "kind": "wipe"}):
        with pytest.raises(UserError, match="a brush"):
            Brush(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="with a brush of more than"):
        paint(torch.zeros(3, 3, 1), torch.zeros(3, 3, 1), torch.zeros(1, 2), Brush(4.0, 1.0), (40, 40))
