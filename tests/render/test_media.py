"""From a sound, a volume or a video to a model and back: what is written agrees with the field, at every sampling."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.support.commands import SIZES, alfilter, complaint

from alfilter.errors import UserError
from alfilter.evaluate import sample_grid
from alfilter.methods import METHODS, Field, build
from alfilter.render import stored_numbers
from alfilter.render.media import sound_sampling
from alfilter.render.view import View
from alfilter.signals import GridSignal, open_signal, read_audio, read_image, read_nifti, write_audio, write_image
from alfilter.signals.volume import write_nifti
from alfilter.training import load, save

QUICK = (*SIZES, "--set", "grid=8", "--threads", "1", "--steps", "3", "--train", "batch=64")
COUNT, RATE = 300, 8000


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a fitted stereo sound of 16 bits."""
    home = tmp_path_factory.mktemp("sound")
    time = np.arange(COUNT)[:, None] / RATE
    write_audio(home / "a.wav", 0.5 * np.sin(2 * np.pi * time * [200, 330]), RATE, 16)
    code, out, err = alfilter("fit", home / "a.wav", "--method", "al-sine", "--out", home / "run", "--json", *QUICK)
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
    message = complaint("eval", sound / "model.safetensors", tmp_path / "mono.wav")
    assert "1-D with 2 channels" in message
    message = complaint("eval", sound / "model.safetensors", sound.parent / "a.wav", "--lpips")
    assert "LPIPS compares pictures" in message


def test_what_cannot_be_written_is_said_in_one_line(sound: Path, tmp_path: Path) -> None:
    model = sound / "model.safetensors"
    assert "a sound's name ends in .wav, got 'b.png'" in complaint("render", model, tmp_path / "b.png")
    assert "cannot write" in complaint("render", model, tmp_path / "none" / "b.wav")
    assert "region and slice cut pictures" in complaint("render", model, tmp_path / "b.wav", "--region", "0,0,1,1")
    for size in ("4x4", "9" * 5000):
        assert "size of a sound is a number of samples" in complaint(
            "render", model, tmp_path / "b.wav", "--size", size
        )
    assert "scale must be a number above 0" in complaint("render", model, tmp_path / "b.wav", "--scale", "0")
    assert "a WAV holds 8 or 16 or 24 or 32 bits" in complaint("render", model, tmp_path / "b.wav", "--bits", "12")
    assert not list(tmp_path.iterdir())


def test_seen_and_held_out_samples_are_scored_apart(sound: Path, tmp_path: Path) -> None:
    words = ("fit", sound.parent / "a.wav", "--out", tmp_path / "run", "--observe", "every:2", "--json", *QUICK)
    code, out, err = alfilter(*words)
    assert code == 0, err
    assert sorted(json.loads(out)["heldout"]) == ["psnr", "snr"]
    assert "expected a mask of size 300" in complaint(*words[:2], "--out", tmp_path / "x", "--observe", _mask(tmp_path))


def _mask(folder: Path) -> str:
    write_image(folder / "mask.png", np.ones((3, 4, 1)))
    return f"mask:{folder / 'mask.png'}"


def test_a_model_without_its_rate_is_refused(field: Field, tmp_path: Path) -> None:
    signal = field.signal
    field.signal = {name: value for name, value in signal.items() if name != "rate"}
    save(field, tmp_path / "m.safetensors")
    field.signal = signal
    assert "contradict themselves" in complaint("render", tmp_path / "m.safetensors", tmp_path / "b.wav")


@pytest.mark.parametrize("change", [{"dtype": "zebra"}, {"nifti": "0g"}, {"nifti": "00"}, {"dtype": "complex64"}])
def test_a_model_with_damaged_facts_of_its_volume_is_refused(
    volume: Path, change: dict[str, str], tmp_path: Path
) -> None:
    field = load(volume / "model.safetensors")
    field.signal = {**field.signal, **change}
    save(field, tmp_path / "m.safetensors")
    message = complaint("render", tmp_path / "m.safetensors", tmp_path / "b.nii")
    assert "does not say which numbers were fitted" in message


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a fitted volume of whole numbers, in a NIfTI file."""
    home = tmp_path_factory.mktemp("volume")
    write_nifti(home / "v.nii.gz", blob((6, 7, 8), np.int16)[..., None])
    code, out, err = alfilter("fit", home / "v.nii.gz", "--out", home / "run", "--json", *QUICK)
    assert code == 0, err
    assert list(json.loads(out)["metrics"]) == ["psnr"]
    return home / "run"


def blob(shape: tuple[int, ...], kind: type) -> np.ndarray:
    axes = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    return (200 * np.exp(-sum(axis**2 for axis in axes))).astype(kind)


def test_the_report_shows_slices(volume: Path) -> None:
    for name in ("planes", "reference", "reconstruction", "alpha", "scales", "error", "spectrum"):
        assert (volume / f"{name}.png").exists()
    assert "the middle one of every axis of a volume" in (volume / "report.html").read_text()


@pytest.mark.parametrize("name", ["b.nii", "b.nii.gz", "b.npy"])
def test_a_volume_comes_back_in_its_own_numbers(volume: Path, name: str, tmp_path: Path) -> None:
    code, out, err = alfilter("render", volume / "model.safetensors", tmp_path / name)
    assert (code, out) == (0, f"{tmp_path / name} 6x7x8 int16\n"), err
    back = np.load(tmp_path / name) if name.endswith("npy") else read_nifti(tmp_path / name).data[..., 0]
    field = load(volume / "model.safetensors")
    facts = field.signal
    stored = sample_grid(field, (6, 7, 8)).numpy()[..., 0] * (facts["high"] - facts["low"]) + facts["low"]
    assert np.abs(back - stored).max() <= 0.5 + 1e-3


def test_a_finer_volume_keeps_the_samples(volume: Path, tmp_path: Path) -> None:
    for name, words in (("one.npy", ()), ("two.npy", ("--scale", "2"))):
        assert alfilter("render", volume / "model.safetensors", tmp_path / name, *words)[0] == 0
    one, two = np.load(tmp_path / "one.npy"), np.load(tmp_path / "two.npy")
    assert two.shape == (11, 13, 15)
    assert np.array_equal(two[::2, ::2, ::2], one)


@pytest.mark.parametrize(("axis", "size"), [(0, (7, 8)), (1, (6, 8)), (2, (6, 7))])
def test_a_slice_is_a_picture(volume: Path, axis: int, size: tuple[int, int], tmp_path: Path) -> None:
    words = ("render", volume / "model.safetensors", tmp_path / "s.png", "--slice", f"{axis}:3", "--bits", "16")
    code, out, err = alfilter(*words)
    assert (code, out) == (0, f"{tmp_path / 's.png'} {size[1]}x{size[0]}\n"), err
    whole = sample_grid(load(volume / "model.safetensors"), (6, 7, 8)).numpy().take(3, axis)
    drawn = read_image(tmp_path / "s.png").data / 65535
    assert np.abs(drawn - whole.clip(0, 1)).max() <= 0.5 / 65535 + 1e-6


def test_words_that_do_not_apply_to_volumes(volume: Path, sound: Path, tmp_path: Path) -> None:
    render = ("render", volume / "model.safetensors")
    assert "pictures need slice AXIS:K" in complaint(*render, tmp_path / "b.png")
    assert "slice looks like AXIS:K, got 'x'" in complaint(*render, tmp_path / "b.png", "--slice", "x")
    assert "an axis from 0 to 2, got 3" in complaint(*render, tmp_path / "b.png", "--slice", "3:0")
    assert "must lie between 0 and 5, got 6" in complaint(*render, tmp_path / "b.png", "--slice", "0:6")
    assert "must lie between 0 and 5, got nan" in complaint(*render, tmp_path / "b.png", "--slice", "0:nan")
    assert "a picture's name ends in" in complaint(*render, tmp_path / "b.nii", "--slice", "0:1")
    assert "size is for pictures, volumes take scale" in complaint(*render, tmp_path / "b.nii", "--size", "4x4")
    assert "region cuts pictures, not volumes" in complaint(*render, tmp_path / "b.nii", "--region", "0,0,1,1")
    assert "GB of memory" in complaint(*render, tmp_path / "b.npy", "--scale", "4000")
    assert "cannot write" in complaint(*render, tmp_path / "none" / "b.nii")
    assert "region and slice cut" in complaint(
        "render", sound / "model.safetensors", tmp_path / "b.wav", "--slice", "0:1"
    )
    assert not list(tmp_path.iterdir())


def test_every_method_builds_on_sound_and_volumes() -> None:
    """Whatever can be built gives finite values; nothing that is known cannot be."""
    refused = set()
    for name in METHODS:
        for dims, samples in ((1, (500,)), (3, (6, 7, 8))):
            try:
                field = build(name, in_dim=dims, out_dim=2, preset="default", samples=samples)
            except UserError:
                refused.add((name, dims))
                continue
            assert torch.isfinite(field(torch.rand(4, dims) * 2 - 1)).all(), name
    assert refused == set()


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder of a fitted folder of frames."""
    home = tmp_path_factory.mktemp("clip")
    (home / "frames").mkdir()
    for k, frame in enumerate(blob((5, 12, 14), np.float64) / 255):
        write_image(home / "frames" / f"{k}.png", np.stack([frame, 1 - frame, frame], axis=-1))
    code, out, err = alfilter("fit", home / "frames", "--out", home / "run", "--json", *QUICK)
    assert code == 0, err
    assert list(json.loads(out)["metrics"]) == ["psnr", "ssim"]
    return home / "run"


def test_a_video_comes_back_as_a_gif_a_clip_and_a_frame(clip: Path, tmp_path: Path) -> None:
    pytest.importorskip("av", reason="needs the extra media")
    model = clip / "model.safetensors"
    whole = sample_grid(load(model), (5, 12, 14)).numpy().clip(0, 1)
    for name, words, size in (("a.gif", (), (12, 14)), ("a.mp4", ("--scale", "2"), (24, 28))):
        code, out, err = alfilter("render", model, tmp_path / name, *words)
        assert (code, out) == (0, f"{tmp_path / name} 5 frames of {size[1]}x{size[0]}\n"), err
        back = open_signal(str(tmp_path / name))
        assert isinstance(back, GridSignal)
        assert (back.shape, round(back.facts["rate"])) == ((5, *size), 25)
        assert np.abs(back.data.mean((1, 2)) / 255 - whole.mean((1, 2))).max() < 0.05
    assert alfilter("render", model, tmp_path / "f.png", "--slice", "0:2")[0] == 0
    assert np.abs(read_image(tmp_path / "f.png").data / 255 - whole[2]).max() <= 0.5 / 255 + 1e-6


def test_the_video_is_scored_again(clip: Path) -> None:
    code, out, err = alfilter("eval", clip / "model.safetensors", clip.parent / "frames", "--json")
    assert code == 0, err
    assert json.loads(out)["metrics"] == pytest.approx(json.loads((clip / "metrics.json").read_text())["metrics"])


def test_words_that_do_not_apply_to_videos(clip: Path, tmp_path: Path) -> None:
    render = ("render", clip / "model.safetensors")
    assert "a frame as a picture needs slice 0:K" in complaint(*render, tmp_path / "b.png")
    assert "a video holds 8 bits" in complaint(*render, tmp_path / "b.gif", "--bits", "16")
    assert "region cuts pictures, not videos" in complaint(*render, tmp_path / "b.gif", "--region", "0,0,1,1")
    assert "cannot write" in complaint(*render, tmp_path / "none" / "b.gif")
    assert not list(tmp_path.iterdir())


def test_a_long_gif_is_refused(clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its frames are all in memory until the last."""
    field = load(clip / "model.safetensors")
    field.signal = {**field.signal, "shape": [(1 << 14) + 1, *field.signal["shape"][1:]]}
    save(field, tmp_path / "m.safetensors")
    said = complaint("render", tmp_path / "m.safetensors", tmp_path / "a.gif")
    assert "a GIF is written with up to 16,384 frames, got 16,385; write an .mp4" in said
    monkeypatch.setattr(stored_numbers, "free_memory", lambda: 1000)
    assert "are available; give a smaller scale" in complaint("render", clip, tmp_path / "a.gif")


def test_what_does_not_fit_in_memory_is_not_drawn(
    sound: Path, volume: Path, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_numbers, "free_memory", lambda: 100)
    for model, name, *more in (
        (sound, "a.wav"), (volume, "a.npy"), (volume, "a.png", "--slice", "0:1"), (clip, "a.png", "--slice", "0:1"),
    ):  # fmt: skip
        said = complaint("render", model, tmp_path / name, *more)
        assert "of memory, 0.0 GB are available; give a smaller scale" in said, name
