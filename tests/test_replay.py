"""From a sound to a model and back: what is written agrees with the field, at every rate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.running import SIZES, alfilter, complaint

from alfilter.methods import Field
from alfilter.rendering import View
from alfilter.replay import sound_sampling
from alfilter.signals import read_audio, write_audio
from alfilter.tasks import sample_grid
from alfilter.training import load

QUICK = (*SIZES, "--set", "grid=8", "--threads", "1", "--steps", "3", "--train", "batch=64")
COUNT, RATE = 300, 8000


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a fitted stereo sound of 16 bits."""
    home = tmp_path_factory.mktemp("sound")
    time = np.arange(COUNT)[:, None] / RATE
    write_audio(home / "a.wav", 0.5 * np.sin(2 * np.pi * time * [200, 330]), RATE, 16)
    code, out, err = alfilter("fit", home / "a.wav", "--out", home / "run", "--json", *QUICK)
    assert code == 0, err
    line = json.loads(out)
    assert sorted(line["metrics"]) == ["psnr", "snr"]
    assert line["heldout"] is None
    return home / "run"


@pytest.fixture(scope="module")
def field(sound: Path) -> Field:
    return load(sound / "model.safetensors")


def test_the_preset_is_that_of_sound(sound: Path, field: Field) -> None:
    assert json.loads((sound / "config.json").read_text())["preset"] == "default-audio"
    assert field.spec["options"]["levels"] == 7  # log2(300) - 5.4 = 2.8 scales pass, four wait


def test_the_report_shows_sound(sound: Path) -> None:
    page = (sound / "report.html").read_text()
    for name in ("waveform", "spectrogram", "alpha", "scales"):
        assert (sound / f"{name}.png").exists()
    assert "The sound" in page
    assert "SNR in dB" in page
    assert not (sound / "reference.png").exists()


def test_the_own_rate_gives_the_fitted_samples(sound: Path, field: Field, tmp_path: Path) -> None:
    code, out, err = alfilter("render", sound / "model.safetensors", tmp_path / "b.wav")
    assert (code, out) == (0, f"{tmp_path / 'b.wav'} 300 samples at 8000 Hz\n"), err
    back = read_audio(tmp_path / "b.wav")
    assert (back.data.dtype, back.facts["rate"], back.shape) == (np.int16, RATE, (COUNT,))
    facts = field.signal
    stored = sample_grid(field, (COUNT,)).numpy() * (facts["high"] - facts["low"]) + facts["low"]
    assert np.abs(back.data - stored).max() <= 0.5 + 1e-3


def test_twice_the_rate_keeps_every_fitted_sample(sound: Path, tmp_path: Path) -> None:
    for name, words in (("one", ()), ("two", ("--scale", "2"))):
        assert alfilter("render", sound / "model.safetensors", tmp_path / f"{name}.wav", "--bits", "32", *words)[0] == 0
    one, two = (read_audio(tmp_path / f"{name}.wav") for name in ("one", "two"))
    assert (two.facts["rate"], two.shape) == (2 * RATE, (2 * COUNT - 1,))
    assert np.array_equal(two.data[::2], one.data)


def test_how_many_samples_at_which_rate() -> None:
    assert sound_sampling(View(), 300, 8000) == (300, 299.0, 8000)
    assert sound_sampling(View(scale=44100 / 8000), 8000, 8000) == (44095, 44094 * 8000 / 44100, 44100)
    assert sound_sampling(View(size="1"), 300, 8000) == (1, 299.0, 27)


def test_the_model_is_scored_against_its_sound_and_others(sound: Path, tmp_path: Path) -> None:
    fitted = json.loads((sound / "metrics.json").read_text())["metrics"]
    code, out, _ = alfilter("eval", sound / "model.safetensors", sound.parent / "a.wav", "--json")
    assert code == 0
    assert json.loads(out)["metrics"] == pytest.approx(fitted)
    write_audio(tmp_path / "mono.wav", np.zeros((9, 1)), RATE, 16)
    said = complaint("eval", sound / "model.safetensors", tmp_path / "mono.wav")
    assert "1-D with 2 channels" in said
    said = complaint("eval", sound / "model.safetensors", sound.parent / "a.wav", "--lpips")
    assert "LPIPS looks at pictures" in said


def test_what_cannot_be_written_is_said_in_one_line(sound: Path, tmp_path: Path) -> None:
    model = sound / "model.safetensors"
    assert "a sound's name ends in .wav, got 'b.png'" in complaint("render", model, tmp_path / "b.png")
    assert "cannot write" in complaint("render", model, tmp_path / "none" / "b.wav")
    assert "--region cuts pictures" in complaint("render", model, tmp_path / "b.wav", "--region", "0,0,1,1")
    assert "--size of a sound is a number of samples" in complaint("render", model, tmp_path / "b.wav", "--size", "4x4")
    assert "--scale must be a number above 0" in complaint("render", model, tmp_path / "b.wav", "--scale", "0")
    assert "a WAV holds 8 or 16 or 24 or 32 bits" in complaint("render", model, tmp_path / "b.wav", "--bits", "12")
    assert "not a picture" in complaint("view", model, "--no-browser", "--port", "0")
    assert not list(tmp_path.iterdir())


def test_seen_and_held_out_samples_are_scored_apart(sound: Path, tmp_path: Path) -> None:
    words = ("fit", sound.parent / "a.wav", "--out", tmp_path / "run", "--observe", "every:2", "--json", *QUICK)
    code, out, err = alfilter(*words)
    assert code == 0, err
    assert sorted(json.loads(out)["heldout"]) == ["psnr", "snr"]
    assert "expected a mask of size 300" in complaint(*words[:2], "--out", tmp_path / "x", "--observe", _mask(tmp_path))


def _mask(folder: Path) -> str:
    from alfilter.signals import write_image

    write_image(folder / "mask.png", np.ones((3, 4, 1)))
    return f"mask:{folder / 'mask.png'}"


def test_a_model_without_its_rate_is_refused(field: Field, tmp_path: Path) -> None:
    from alfilter.training import save

    kept = field.signal
    field.signal = {name: value for name, value in kept.items() if name != "rate"}
    save(field, tmp_path / "m.safetensors")
    field.signal = kept
    assert "contradict themselves" in complaint("render", tmp_path / "m.safetensors", tmp_path / "b.wav")
    assert torch.isfinite(field(torch.zeros(1, 1))).all()
