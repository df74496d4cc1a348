"""The brush changes α inside its circle and nowhere else, and what it made can be saved."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from alfilter.analysis import filter_of
from alfilter.analysis.structure import gradient_energy
from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.ops import interpolate
from alfilter.runs.fitting import fit_task
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import load, save
from alfilter.viewer.model import Model
from alfilter.viewer.open import grid_models, open_files
from alfilter.viewer.steering import Brush, paint, refine

SHAPE = (40, 52)


def test_taking_back_is_bounded_by_memory(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = grid_models(open_files([str(runs / "al")]))[0]
    for number in range(30):
        model.steer(str(number), torch.tensor([[9.0, 9.0]]), 6.0, 0.1)
    assert len(model.undo) == 24
    size = model.undo[0][1].numel() * 4
    monkeypatch.setattr("alfilter.viewer.model._UNDO_BYTES", 3 * size + 1)
    model.steer("one more", torch.tensor([[9.0, 9.0]]), 6.0, 0.1)
    assert len(model.undo) == 3
    monkeypatch.setattr("alfilter.viewer.model._UNDO_BYTES", 1)
    model.steer("the last", torch.tensor([[9.0, 9.0]]), 6.0, 0.1)
    assert len(model.undo) == 1


def test_a_dab_by_hand() -> None:
    after, box = paint(torch.zeros(9, 9, 1), torch.tensor([[4.0, 4.0]]), Brush(2 + 2**0.5 - 1e-9, -3.0), (9, 9))
    expected = -3 * (1 - torch.tensor([0, 1, 2, 4]) / 4).square()  # at distances 0, 1, √2, 2 of a reach of 2
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
@given(st.floats(-5, 45), st.floats(-5, 60), st.floats(3, 15), st.floats(-4, 4))
def test_outside_the_brush_nothing_changes(row: float, column: float, radius: float, amount: float) -> None:
    offset = -torch.rand(40, 52, 1, generator=torch.Generator().manual_seed(3))
    dab = torch.tensor([[row, column]], dtype=torch.float64)
    after, (top, left, bottom, right) = paint(offset, dab, Brush(radius, amount), SHAPE)
    places = torch.rand(4000, 2, generator=torch.Generator().manual_seed(1)) * 2 - 1
    there = (places + 1) / 2 * (torch.tensor(SHAPE) - 1)
    away = (there - torch.tensor([row, column])).norm(dim=-1) > radius
    assert torch.equal(interpolate(after, places)[away], interpolate(offset, places)[away])
    outside = (there[:, 0] < top) | (there[:, 0] > bottom) | (there[:, 1] < left) | (there[:, 1] > right)
    assert bool((away | ~outside).all())


def test_raising_brings_back_what_was_learned_and_no_more() -> None:
    dabs = torch.tensor([[15.0, 15.0]])
    lowered, _ = paint(torch.zeros(30, 30, 1), dabs, Brush(8, -5.0), (30, 30))
    half, _ = paint(lowered, dabs, Brush(8, 2.5), (30, 30))
    back, _ = paint(half, dabs, Brush(8, 9.0), (30, 30))
    assert float(lowered.min()) == -5
    assert torch.allclose(half, lowered / 2)
    assert torch.equal(back, torch.zeros(30, 30, 1))


@pytest.fixture
def model(runs: Path) -> Model:
    return grid_models(open_files([str(runs / "al")]))[0]


def test_the_picture_changes_inside_the_circle_only(model: Model) -> None:
    before = sample_grid(model.original, SHAPE)
    model.steer("g", torch.tensor([[20.0, 30.0]]), 6.0, -3.0)
    after = sample_grid(model.current, SHAPE)
    rows, columns = torch.meshgrid(torch.arange(40.0), torch.arange(52.0), indexing="ij")
    inside = (rows - 20).square() + (columns - 30).square() < 36
    assert torch.equal(after[~inside], before[~inside])
    assert float((after - before)[inside].abs().max()) > 1e-2
    assert torch.equal(sample_grid(model.original, SHAPE), before)


def test_undo_goes_by_gestures_and_reset_by_all(model: Model) -> None:
    for gesture in ("a", "a", "b"):
        model.steer(gesture, torch.tensor([[20.0, 30.0]]), 6.0, -1.0)
    assert len(model.undo) == 2
    assert model.undo_last()
    assert model.is_steered
    assert model.undo_last()
    assert not model.is_steered
    assert not model.undo_last()
    model.steer("c", torch.tensor([[1.0, 1.0]]), 6.0, -1.0)
    model.reset()
    assert model.current is model.original


def test_a_steered_model_is_a_model(model: Model, tmp_path: Path) -> None:
    model.steer("a", torch.tensor([[20.0, 30.0], [22.0, 30.0]]), 8.0, -2.0)
    save(model.saved(), tmp_path / "steered.safetensors")
    again = load(tmp_path / "steered.safetensors")
    assert torch.allclose(sample_grid(again, SHAPE), sample_grid(model.current, SHAPE), atol=1e-4)
    assert again.spec["options"]["grid"] == (46, 61)  # 15 cells, each in 3 and in 4


def test_alpha_stays_where_its_gradient_lives(model: Model) -> None:
    """However much is painted away, α ends at the lower end of the filter's axis."""
    model.steer("a", torch.tensor([[20.0, 30.0]]), 12.0, -900.0)
    here = torch.tensor([[2 * 20 / 39 - 1, 2 * 30 / 51 - 1]])
    for field in (model.current, model.saved()):
        encoding = filter_of(field)
        assert float(encoding.alpha(here).detach()) == pytest.approx(encoding.alpha.low)


def test_what_cannot_be_steered_says_so(runs: Path) -> None:
    siren = grid_models(open_files([str(runs / "siren")]))[0]
    with pytest.raises(UserError, match="siren has no filter and no local frequency; fit with al-grid"):
        siren.steer("a", torch.tensor([[1.0, 1.0]]), 6.0, -1.0)
    for radius, amount in ((1.0, 1.0), (9.0, 1e9)):
        with pytest.raises(UserError, match="a brush"):
            Brush(radius, amount)
    with pytest.raises(UserError, match="with a brush of more than"):
        paint(torch.zeros(3, 3, 1), torch.zeros(1, 2), Brush(4.0, 1.0), (40, 40))


@pytest.fixture(scope="module")
def grid_model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """al-grid on a texture that is fine everywhere."""
    signal = GridSignal(np.random.default_rng(0).integers(0, 256, (48, 64, 1), np.uint8))
    field = fit_task(ImageTask(signal), "al-grid", training={"steps": 150}).field
    file = tmp_path_factory.mktemp("grid") / "model.safetensors"
    save(field, file)
    return grid_models(open_files([str(file)]))[0]


def test_lowering_blurs_step_by_step_and_raising_brings_the_detail_back(grid_model: Model) -> None:
    """Inside the brush the gradient energy falls with every stroke and comes back; outside no bit changes."""
    model, shape = grid_model, (48, 64)
    rows, columns = torch.meshgrid(torch.arange(48.0), torch.arange(64.0), indexing="ij")
    away = ((rows - 24).square() + (columns - 30).square()).sqrt()
    learned = sample_grid(model.original, shape)

    def energy() -> float:
        shown = sample_grid(model.current, shape)
        assert torch.equal(shown[away > 14], learned[away > 14])
        return float(gradient_energy(shown[..., 0])[away < 7].mean())

    energies = [energy()]
    for stroke in range(4):
        model.steer(f"down {stroke}", torch.tensor([[24.0, 30.0]]), 14.0, -1.5)
        energies.append(energy())
    assert all(later < before for before, later in itertools.pairwise(energies)), energies
    assert energies[-1] < 0.3 * energies[0]
    for stroke, amount in enumerate((1.5, 1.5, 1.5, 9.0)):  # at the end more than was taken away
        model.steer(f"up {stroke}", torch.tensor([[24.0, 30.0]]), 14.0, amount)
        energies.append(energy())
    assert all(later > before for before, later in itertools.pairwise(energies[4:])), energies
    assert torch.equal(sample_grid(model.current, shape), learned)
    assert not model.is_steered
