"""Views and refocused pictures of a light field's model, by hand and through the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from alfilter.cli import main
from alfilter.errors import UserError
from alfilter.methods import Field, build
from alfilter.render import stored_numbers
from alfilter.render.lightfield import refocused, view_picture, view_place
from alfilter.render.media import render_media
from alfilter.render.view import View
from alfilter.signals import read_image
from alfilter.training import load, save

SHAPE = [3, 5, 8, 12]


class Sheared(nn.Module):
    """L(u, v, y, x) = 0.5 + 0.01 (y + 2 u) + 0.02 (x + 2 v) in samples: everything moves by -2 pixels a view."""

    def forward(self, x: Tensor) -> Tensor:
        u, v, row, column = ((x + 1) / 2 * (torch.tensor(SHAPE) - 1)).unbind(-1)
        return (0.5 + 0.01 * (row + 2 * u) + 0.02 * (column + 2 * v))[..., None]


@pytest.fixture
def field() -> Field:
    field = build("siren", in_dim=4, out_dim=1, width=4, depth=1)
    facts = {"kind": "lightfield", "shape": SHAPE, "low": 0.0, "high": 255.0, "bits": 8, "dtype": "uint8"}
    field.signal = {**facts, "observe": "all", "observe_seed": 0, "channels": 1}
    shear = Sheared()
    field.forward = shear.forward  # type: ignore[method-assign]
    return field


def test_a_view_between_views(field: Field) -> None:
    picture = view_picture(field, View(view="1.5,2"))
    assert picture.shape == (8, 12, 1)
    assert picture[3, 4, 0].item() == pytest.approx(0.5 + 0.01 * (3 + 3) + 0.02 * (4 + 4), abs=1e-5)
    assert view_picture(field, View(view="0,0", size="24x4")).shape == (4, 24, 1)


@pytest.mark.parametrize("slope", [0.0, -2.0, 1.0])
def test_refocusing_is_the_mean_over_shifted_views(field: Field, slope: float) -> None:
    got = refocused(field, View(refocus=slope))
    total = np.zeros((8, 12))
    for u in range(3):
        for v in range(5):
            rows = np.clip(np.arange(8) + slope * (u - 1), 0, 7)[:, None]
            columns = np.clip(np.arange(12) + slope * (v - 2), 0, 11)[None]
            total += 0.5 + 0.01 * (rows + 2 * u) + 0.02 * (columns + 2 * v)
    np.testing.assert_allclose(got[..., 0].numpy(), total / 15, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "view", "text"),
    [
        ("a.png", View(view="3,0"), "view must lie between 0,0 and 2,4, got 3,0"),
        ("a.png", View(view="1"), "view looks like U,V, got '1'; for example 1,2"),
        ("a.png", View(view="a,b"), "view looks like U,V, got 'a,b'"),
        ("a.png", View(refocus=float("nan")), "refocus is a number of pixels a view, at most 12, got nan"),
        ("a.png", View(view="0,0", refocus=1.0), "give one of them"),
        ("a.png", View(), "a light field's name ends in .npy, got 'a.png'; a picture needs view U,V or refocus"),
        ("a.npy", View(view="0,0"), "a picture's name ends in .png"),
        ("a.png", View(slice="0:1"), "region and slice cut pictures and volumes, the model is a light field"),
    ],
)
def test_mistakes_are_said_in_one_line(field: Field, name: str, view: View, text: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        render_media(field, tmp_path / name, view)
    assert text in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_other_kinds_have_no_views(field: Field, tmp_path: Path) -> None:
    field.signal["kind"] = "volume"
    with pytest.raises(UserError, match="view and refocus are for light fields, the model is of kind volume"):
        render_media(field, tmp_path / "a.png", View(view="0,0"))


def test_places() -> None:
    assert view_place("0,4", SHAPE) == (0.0, 4.0)


def test_from_a_file_to_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    y, x = np.mgrid[:18, :20]
    views = [[128 + 100 * np.sin((y + u) / 3 + (x + v) / 4) for v in range(3)] for u in range(3)]
    np.savez(tmp_path / "lf.npz", views=np.asarray(views)[..., None].round().astype(np.uint8))
    run, source = tmp_path / "run", str(tmp_path / "lf.npz")
    words = ["fit", source, "--observe", "views:every:2", "--steps", "150", "--out", str(run), "--json", "--quiet"]
    assert main(words) == 0
    line = json.loads(capsys.readouterr().out)
    assert set(line["metrics"]) == {"psnr", "ssim"}
    assert line["heldout"]["psnr"] > 25
    assert {"planes.png", "alpha.png", "reconstruction.png", "report.html"} <= {file.name for file in run.iterdir()}
    assert "The light field" in (run / "report.html").read_text()
    assert main(["eval", str(run), source, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["heldout"]["psnr"] == pytest.approx(line["heldout"]["psnr"], abs=1e-6)
    for words in (["v.png", "--view", "1,1"], ["f.png", "--refocus", "-1"], ["all.npy"]):
        assert main(["render", str(run), str(tmp_path / words[0]), *words[1:]]) == 0
    everything = np.load(tmp_path / "all.npy")
    assert (everything.shape, everything.dtype) == ((3, 3, 18, 20, 1), np.uint8)
    assert np.array_equal(read_image(tmp_path / "v.png").data, everything[1, 1])
    assert capsys.readouterr().out.splitlines()[-1].endswith("all.npy 3x3 views of 20x18")


def test_a_model_file_whose_facts_lack_an_axis_is_refused(tmp_path: Path) -> None:
    field = build("siren", in_dim=4, out_dim=1, width=4, depth=1)
    field.signal = {"kind": "lightfield", "shape": [3, 3, 4], "low": 0.0, "high": 1.0, "bits": 8, "channels": 1,
                    "observe": "all", "observe_seed": 0}  # fmt: skip
    save(field, tmp_path / "m.safetensors")
    with pytest.raises(UserError, match="contradict"):
        load(tmp_path / "m.safetensors")


def test_views_that_do_not_fit_in_memory_are_not_drawn(
    field: Field, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_numbers, "free_memory", lambda: 100)
    for view, name in ((View(view="1,1"), "a.png"), (View(refocus=1.0), "a.png"), (View(), "a.npy")):
        with pytest.raises(UserError, match="are available; give a smaller scale"):
            render_media(field, tmp_path / name, view)
