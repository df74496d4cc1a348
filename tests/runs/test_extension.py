"""Runs that go further: made longer, started from a model, ended by their quality."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.commands import SIZES, TINY, alfilter, complaint, picture, without_figures

import alfilter as al
from alfilter.errors import UserError
from alfilter.runs.extension import take_over
from alfilter.runs.folder import read_history
from alfilter.signals import read_image
from alfilter.training import load


@pytest.fixture
def photo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    without_figures(monkeypatch)
    return picture(tmp_path / "photo.png")


def fit(photo: Path, folder: Path, *more: str) -> dict[str, Any]:
    code, out, err = alfilter("fit", photo, "--out", folder, "--json", *TINY, *more)
    assert code == 0, err
    line: dict[str, Any] = json.loads(out)
    return line


def test_a_finished_run_is_made_longer(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = fit(photo, folder, "--steps", "60")
    longer = alfilter("fit", photo, "--out", folder, "--json", *TINY, "--resume", "--steps", "200")
    assert "140 steps after the 60 steps that are done: the optimiser starts without memory, the rates" in longer.err
    assert "training takes 140 steps" in longer.err
    second = json.loads(longer.out)
    assert second["steps"] == 200
    assert second["metrics"]["psnr"] > first["metrics"]["psnr"]
    steps = [line["step"] for line in read_history(folder / "history.jsonl")]
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (1, 200)
    config = json.loads((folder / "config.json").read_text())
    assert [entry["steps"] for entry in config["extended"]] == [60]
    assert "finished already" in alfilter("fit", photo, "--out", folder, *TINY, "--resume").err
    assert fit(photo, folder, "--resume", "--steps", "210")["steps"] == 210
    assert "has 210 steps and" in complaint("fit", photo, "--out", folder, *TINY, "--resume", "--steps", "100")


def test_a_longer_run_that_was_stopped_goes_on_to_the_same_bytes(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        fit(photo, tmp_path / name, "--steps", "30")
    fit(photo, tmp_path / "a", "--resume", "--steps", "80")
    from alfilter.training.loop import GradientWorkers

    plain = GradientWorkers.run

    def killed(self: Any, task: Any, setting: Any, step: int, *rest: Any) -> Any:
        if step == 55:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(self, task, setting, step, *rest)

    words = ("fit", photo, "--out", tmp_path / "b", "--json", *TINY, "--resume", "--steps", "80")
    with monkeypatch.context() as patch:
        patch.setattr(GradientWorkers, "run", killed)
        assert alfilter(*words).code == 130
    assert 30 < json.loads((tmp_path / "b" / "metrics.json").read_text())["steps"] < 80
    assert "is not finished; resume it as it is" in complaint(*words[:-1], "90")
    assert alfilter(*words).code == 0
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b")]
    assert models[0] == models[1]


def test_a_longer_run_killed_before_its_first_state_starts_again(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder then holds the old model, scores that say it is not finished, and no checkpoint."""
    folder = tmp_path / "out"
    fit(photo, folder, "--steps", "30")
    words = ("fit", photo, "--out", folder, "--json", *TINY, "--resume", "--steps", "50")
    with monkeypatch.context() as patch:
        patch.setattr("alfilter.runs.fitting.fit", lambda *arguments, **more: exit("killed"))
        with pytest.raises(SystemExit):
            alfilter(*words)
    resumed = alfilter(*words)
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["steps"] == 50
    config = json.loads((folder / "config.json").read_text())
    assert [entry["steps"] for entry in config["extended"]] == [30]


def test_resuming_needs_no_length(photo: Path, tmp_path: Path) -> None:
    fit(photo, tmp_path / "out", "--steps", "25")
    assert "finished already" in alfilter("fit", photo, "--out", tmp_path / "out", *TINY, "--resume").err


def test_a_run_folder_goes_on_by_itself(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fit(photo, folder, "--steps", "25", "--seed", "3", "--observe", "every:2")
    done = alfilter("fit", folder, "--json", "--threads", "1")
    assert "finished already" in done.err
    longer = alfilter("fit", folder, "--steps", "40", "--json", "--threads", "1")
    assert longer.code == 0, longer.err
    assert json.loads(longer.out)["steps"] == 40
    config = json.loads((folder / "config.json").read_text())
    assert (config["seed"], config["signal"]["observe"], config["signal"]["source"]) == (3, "every:2", str(photo))
    assert "whose run keeps its settings; leave --method out" in complaint("fit", folder, "--method", "siren")
    assert "give the signal and --out" in complaint("fit", folder, "--overwrite")


def test_a_run_whose_signal_is_not_there_says_how_to_go_on(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fit(Path(photo.name), tmp_path / "out", "--steps", "2")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    message = complaint("fit", tmp_path / "out", "--steps", "4")
    assert f"recorded its signal as {photo.name}, relative to the folder it was started in" in message
    assert message.endswith("give the signal where it is now with this folder and the run's settings (--out, --resume)")
    moved = photo.rename(tmp_path / "moved.png")
    again = alfilter("fit", moved, "--out", tmp_path / "out", "--steps", "4", *TINY, "--resume")
    assert again.code == 0, again.err


@pytest.mark.parametrize(
    "damage",
    [
        {"seed": "3"}, {"seed": 0.5}, {"method": 5}, {"preset": 5}, {"options": []}, {"training": 5}, {"signal": []},
        {"signal": {"source": 5}}, {"signal": {"source": "x", "coords": [5]}}, {"signal": {"source": "x", "noise": 5}},
    ],
)  # fmt: skip
def test_a_run_folder_that_does_not_say_how_it_was_made(damage: dict[str, Any], photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fit(photo, folder, "--steps", "2")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **damage}))
    assert "config.json does not say how its run was made" in complaint("fit", folder)


def test_until_ends_the_training_and_says_so(photo: Path, tmp_path: Path) -> None:
    line = fit(photo, tmp_path / "out", "--steps", "3000", "--until", "18dB")
    assert line["until"] == {"quality": 18.0, "reached": True}
    assert line["steps"] < 3000
    assert line["metrics"]["psnr"] >= 17.9
    last = read_history(tmp_path / "out" / "history.jsonl")[-1]
    assert last["step"] == line["steps"]
    assert "18 dB reached" in alfilter("fit", photo, "--out", tmp_path / "out", *TINY, "--resume").out


def test_a_quality_that_is_not_reached_is_said(photo: Path, tmp_path: Path) -> None:
    code, out, err = alfilter("fit", photo, "--out", tmp_path / "out", *TINY, "--steps", "5", "--until", "90")
    assert code == 0
    assert "90 dB not reached" in out
    assert "90 dB were not reached" in err
    assert "a quality is above 0 and looks like 45dB, got 'good'" in complaint("fit", photo, "--until", "good")


def test_until_survives_a_stop(photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The running mean is part of a checkpoint: with or without a stop, the run ends at the same step."""
    words = ("--steps", "3000", "--until", "18", "--train", "batch=40")
    whole = fit(photo, tmp_path / "a", *words)
    from alfilter.training.loop import GradientWorkers

    plain = GradientWorkers.run

    def killed(self: Any, task: Any, setting: Any, step: int, *rest: Any) -> Any:
        if step == whole["steps"] - 4:
            os.kill(os.getpid(), signal.SIGINT)
        return plain(self, task, setting, step, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(GradientWorkers, "run", killed)
        assert alfilter("fit", photo, "--out", tmp_path / "b", *TINY, *words).code == 130
    resumed = fit(photo, tmp_path / "b", *words, "--resume")
    assert resumed["steps"] == whole["steps"]
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b")]
    assert models[0] == models[1]


def test_a_run_starts_from_a_model(photo: Path, tmp_path: Path) -> None:
    """On the same picture it starts where the model ended; on another of the series it is ahead of a fresh start."""
    first = fit(photo, tmp_path / "first", "--steps", "3000", "--until", "19")
    again = alfilter("fit", photo, "--out", tmp_path / "again", "--json", "--threads", "1", "--steps", "1", "--from",
                     tmp_path / "first")  # fmt: skip
    assert "tensors come from the model" in again.err
    assert json.loads(again.out)["metrics"]["psnr"] > first["metrics"]["psnr"] - 1.5
    config = json.loads((tmp_path / "again" / "config.json").read_text())
    assert config["options"]["width"] == 16
    assert config["from"]["model"].endswith("first")
    other = tmp_path / "other.npy"  # the next of the series is a little brighter
    np.save(other, np.minimum(read_image(photo).data, 245) + np.uint8(10))
    warm = fit(other, tmp_path / "warm", "--steps", "1", "--from", str(tmp_path / "first" / "model.safetensors"))
    cold = fit(other, tmp_path / "cold", "--steps", "1")
    assert warm["metrics"]["psnr"] > cold["metrics"]["psnr"] + 3


def test_a_finer_grid_takes_alpha_between_its_nodes() -> None:
    small, large = (al.build("al-sine", in_dim=2, out_dim=3, grid=n, width=8, depth=1) for n in (4, 7))
    alpha = small.get_parameter("encoding.alpha.values")
    with torch.no_grad():
        alpha.copy_(torch.arange(16.0).view(4, 4, 1) / 16)
    assert "tensors come from the model" in take_over(large, small)
    x = torch.rand(50, 2) * 2 - 1
    assert torch.allclose(large(x), small(x), atol=1e-4)


def test_what_does_not_fit_starts_anew_or_is_refused(photo: Path, tmp_path: Path) -> None:
    fit(photo, tmp_path / "first", "--steps", "2")
    model = load(tmp_path / "first" / "model.safetensors")
    wide = al.build("al-sine", in_dim=2, out_dim=3, width=20, depth=1, levels=3, grid=8)
    assert "of another size start from their initial values" in take_over(wide, model)
    words = ("--from", tmp_path / "first", "--steps", "1", "--out", tmp_path / "x", *SIZES)
    assert "is al-grid, the request says siren" in complaint("fit", photo, "--method", "siren", *words)
    gray = tmp_path / "gray.npy"
    np.save(gray, np.zeros((8, 8), np.uint8))
    assert "maps 2 → 3 numbers, the signal 2 → 1" in complaint("fit", gray, *words)


def test_a_run_from_a_model_keeps_the_range_of_its_own_signal() -> None:
    """Numbers of another range would be out of the network's reach."""
    model, field = (al.build("siren", in_dim=2, out_dim=1, width=4, depth=1, seed=seed) for seed in (0, 1))
    field.set_range(torch.tensor([100.0]), torch.tensor([900.0]))
    assert take_over(field, model).startswith("4 of 4 tensors")
    assert (field.shift.item(), field.scale.item()) == (500, 400)
    other = al.build("siren", in_dim=2, out_dim=1, width=5, depth=2)
    for tensor in other.parameters():
        tensor.data = tensor.data.new_zeros(tensor.numel() + 7)
    with pytest.raises(UserError, match="has no tensor of this field's sizes"):
        take_over(field, other)


def test_damaged_files_of_a_finished_run_are_said_in_one_line(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    fit(photo, folder, "--steps", "3")
    line, config = (json.loads((folder / name).read_text()) for name in ("metrics.json", "config.json"))
    again = ("fit", photo, "--out", folder, *TINY, "--resume")
    for damage in ({"metrics": 5}, {"until": 5}, {"until": {"quality": "high"}}, {"heldout": []}):
        (folder / "metrics.json").write_text(json.dumps({**line, **damage}))
        assert "is not the result of a run, it is damaged" in complaint(*again)
    for damage in ({"steps": "many"}, {"steps": 3, "seconds": None}, {"steps": float("inf")}):
        (folder / "metrics.json").write_text(json.dumps({**line, **damage}))
        assert "metrics.json does not say how far its run is" in complaint(*again, "--steps", "9")
    (folder / "metrics.json").write_text(json.dumps(line))
    for extended in (5, [5], [{}], [{"steps": "x", "seconds": 1}]):
        (folder / "config.json").write_text(json.dumps({**config, "extended": extended}))
        assert "config.json does not say how far its run is" in complaint(*again)
