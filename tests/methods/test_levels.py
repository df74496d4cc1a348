"""Fields with several outputs: all are trained, the finest is reported, any can be drawn. FINER as in its source."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tests.support.commands import alfilter, complaint, picture, without_figures

import alfilter as al
from alfilter.methods import Field
from alfilter.signals import read_image
from alfilter.testing.methods import check_model_file, check_resumes, check_seeds, check_trains, tiny_task
from alfilter.testing.promises import points
from alfilter.training.gradient import GradientWorkers, accumulate_gradient


def small(seed: int = 0) -> Field:
    return al.build("bacon", in_dim=2, out_dim=3, samples=(8, 12), width=8, shares=(1, 1, 2), seed=seed)


def test_every_output_learns_and_the_finest_is_reported() -> None:
    field, task = small(), tiny_task()
    field.set_range(*task.output_range())
    terms = accumulate_gradient(GradientWorkers(field), task, al.Training(micro=40), 0, 0)
    assert terms is not None
    x, y = task.load(slice(0, 96))
    losses = [task.loss(out, y) / 96 for out in field.outputs(x)]
    assert terms["data"] == pytest.approx(losses[-1].item(), rel=1e-5)
    parameters = dict(field.named_parameters())
    expected = torch.autograd.grad(torch.stack(losses).mean(), list(parameters.values()))
    for (name, parameter), gradient in zip(parameters.items(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-3, atol=1e-5, msg=name)
        assert bool((gradient != 0).any()), name


def test_a_field_of_one_output_has_one() -> None:
    field, x = al.build("siren", in_dim=2, out_dim=3, width=4), points(3, 2)
    (only,) = field.outputs(x)
    assert torch.equal(only, field(x))


def test_render_a_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    source, folder = picture(tmp_path / "photo.png"), tmp_path / "out"
    words = ("--steps", "5", "--out", folder, "--quiet", "--set", "width=16", "--set", "shares=1x1x2", "--threads", "1")
    assert alfilter("fit", source, "--method", "bacon", *words).code == 0
    model = folder / "model.safetensors"
    for level in ("1", "2"):
        assert alfilter("render", model, tmp_path / f"{level}.png", "--level", level).code == 0
    assert alfilter("render", model, tmp_path / "all.png").code == 0
    pictures = {name: read_image(tmp_path / f"{name}.png").data for name in ("1", "2", "all")}
    assert (pictures["2"] == pictures["all"]).all()
    assert (pictures["1"] != pictures["all"]).any()
    said = complaint("render", model, tmp_path / "3.png", "--level", "3")
    assert said == "level must be between 1 and 2 for bacon, got 3"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"resolution": (8, 8, 8)}, "option 'resolution' needs 2 sizes for 2 coordinates, got 3; give one per axis"),
        ({"shares": (3,)}, "option 'shares' needs at least 2 bands, got 1; for example 1x1x2x2x2"),
        ({"shares": (1, 0)}, "bacon option 'shares' must be between 1 and 1e+06, got 0"),
    ],
)
def test_wrong_bands_are_explained(options: dict[str, object], text: str) -> None:
    with pytest.raises(al.UserError) as error:
        al.build("bacon", in_dim=2, out_dim=3, **options)  # type: ignore[arg-type]
    assert str(error.value) == text


def test_bands_follow_the_signal() -> None:
    for samples, expected in (((64, 32), (32, 16)), (None, (128, 128))):
        field = al.build("bacon", in_dim=2, out_dim=1, samples=samples, width=4)
        assert field.network.limits[-1] == expected  # type: ignore[union-attr,index]


def test_finer_as_its_source_has_it(tmp_path: Path) -> None:
    """With the scale held fixed the gradient is not the derivative, but everything else must hold."""

    def make(seed: int = 0) -> Field:
        return al.build("finer", in_dim=2, out_dim=3, width=8, depth=2, omega=5.0, seed=seed)

    check_seeds(make)
    check_model_file(make(), tmp_path / "model.safetensors")
    check_trains(make)
    check_resumes(make, tmp_path)


def test_finers_first_biases_choose_the_frequencies() -> None:
    wide = al.build("finer", in_dim=2, out_dim=3, first_bias=10.0).network.get_parameter("biases.0")
    assert wide.abs().max().item() == pytest.approx(10, rel=0.05)
    usual = al.build("finer", in_dim=2, out_dim=3).network.get_parameter("biases.0")
    assert usual.abs().max().item() <= 2**-0.5
    later = al.build("finer", in_dim=2, out_dim=3, first_bias=10.0).network.get_parameter("biases.1")
    assert later.abs().max().item() <= 1 / 16
