"""The study of sound, volumes, video and light fields, on made signals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import alfilter as al
from alfilter.encodings.filtered import FilteredEncoding
from alfilter.experiments.compare import media
from alfilter.experiments.compare.media import LINEAR, STUDY, execute, hidden_values, runs
from alfilter.tasks import LightFieldTask, VolumeTask


def test_every_kind_has_every_method_on_all_and_on_half() -> None:
    rows = runs()
    assert len(rows) == 4 * 2 * (2 * (4 + 2 * 2) + 2)
    assert len({run.name for run in rows}) == len(rows)
    assert {run.observe for run in rows if run.image.startswith("light")} == {"all", "views:every:2"}


def test_linear_by_hand() -> None:
    ramp = np.broadcast_to(np.arange(5.0)[:, None, None], (5, 2, 2)) / 4
    linear = hidden_values(LINEAR, VolumeTask.from_array(ramp, "slices:0:every:2"))
    np.testing.assert_allclose(linear[:, 0], [0.25] * 4 + [0.75] * 4)
    u, v = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    views = np.broadcast_to((0.2 * u + 0.1 * v)[..., None, None, None], (3, 3, 2, 2, 1))
    task = LightFieldTask.from_array(views, "views:every:2")
    np.testing.assert_allclose(hidden_values(LINEAR, task), media._hidden(task), atol=1e-6)


def test_a_light_field_through_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "lightfield/lightfield_5x5.npz"
    monkeypatch.setattr(media, "SIGNALS", {name: ("views:every:2", (slice(None),))})
    y, x = np.mgrid[:18, :20]
    views = [[128 + 100 * np.sin((y + u) / 3 + (x + v) / 4) for v in range(3)] for u in range(3)]
    (tmp_path / "lightfield").mkdir()
    np.savez(tmp_path / name, np.asarray(views)[..., None].round().astype(np.uint8))
    rows = [run for run in runs() if run.method not in ("siren", "al-sine") and run.seed == 0]
    short = [
        replace(run, training={**run.training, "budget": None, "steps": 30}) if run.training else run for run in rows
    ]
    lines = [execute(run, str(tmp_path)) for run in short]
    assert [line["heldout"] is None for line in lines] == [run.observe == "all" for run in rows]
    assert all(line["heldout"]["psnr"] > 15 for line in lines if line["heldout"])
    assert "| lightfield: al-grid | 2 |" in STUDY.summarise(lines)
    rhos = {line["method"]: line["metrics"].get("rho") for line in lines if line["observe"] == "all"}
    assert rhos["hash-grid"] is None
    assert rhos["al-grid"] is None  # in so few steps α has not moved


def test_alpha_is_compared_with_the_band_of_every_slice() -> None:
    """Noise in one half of a volume and nothing in the other, and an α that says so."""
    rough = np.zeros((4, 16, 16))
    rough[:, :, 8:] = np.random.default_rng(0).random((4, 16, 8))
    task = VolumeTask.from_array(rough)
    field = al.build("al-grid", in_dim=3, out_dim=1, levels=3, base=4, finest=16, grid=(2, 2, 2))
    encoding = field.encoding
    assert isinstance(encoding, FilteredEncoding)
    with torch.no_grad():
        encoding.alpha.values[:, :, 0] = 0.0  # (2, 2, 2, 1): left, along the last axis
    rho = media.local_rho(field, task)
    assert rho is not None
    assert rho > 0.8
    with torch.no_grad():
        encoding.alpha.values.copy_(encoding.alpha.values.flip(2))
    assert media.local_rho(field, task) == pytest.approx(-rho, abs=0.1)
    assert media.local_rho(al.build("siren", in_dim=3, out_dim=1), task) is None
