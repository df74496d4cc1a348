"""Every mistake: exit code 2, one line that says what to do, nothing on stdout, nothing left behind."""

from __future__ import annotations

import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import tifffile
import torch
from PIL import Image
from safetensors.torch import save_file
from tests.support.commands import TINY, alfilter, complaint, picture, without_figures

from alfilter.methods import build
from alfilter.training import save
from alfilter.training.modelfile import FORMAT, read_tensors, write_tensors


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    picture(tmp_path / "photo.png")
    return tmp_path


def listing(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


def refused(home: Path, *words: str | Path) -> str:
    """The complaint about a command that must leave the folder as it was."""
    before = listing(home)
    message = complaint(*words)
    assert listing(home) == before
    return message


def huge_png(side: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def test_signals(home: Path) -> None:
    whole = (home / "photo.png").read_bytes()
    (home / "folder").mkdir()
    (home / "empty.png").write_bytes(b"")
    (home / "text.png").write_text("not a picture")
    (home / "cut.png").write_bytes(whole[: len(whole) // 2])
    (home / "huge.png").write_bytes(huge_png(20_000))
    picture(home / "one.png", 1, 1)
    values = np.ones((4, 5), dtype="float32")
    values[2, 3] = np.nan
    tifffile.imwrite(home / "nan.tif", values)
    cases = {
        "missing.tif": "no such file; check the path",
        "Photo.PNG": "no such file; did you mean 'photo.png'?",
        "folder": "it is a folder",
        "empty.png": "the file is empty",
        "text.png": "got text",
        "cut.png": "damaged or cut short",
        "huge.png": "8 bytes cannot hold 1,200,020,000 bytes of pixels",
        "one.png": "at least 2x2 pixels in one.png, got 1x1",
        "nan.tif": "1 NaN or infinite, the first at row 2, column 3",
        "sample:astronout": "did you mean 'astronaut'?",
        "x" * 5000 + ".png": "too long",
    }
    for name, message in cases.items():
        assert message in refused(home, "fit", name, "--out", "out")
        assert message in refused(home, "fit", name, "--out", "out", "--resume")


def test_signals_of_more_axes(home: Path) -> None:
    for name in ("missing", "ragged", "frames"):
        (home / name).mkdir()
    for u, v in ((0, 0), (0, 1), (1, 0), (1, 1)):
        if (u, v) != (1, 0):
            picture(home / "missing" / f"view_{u}_{v}.png", 6, 8)
        picture(home / "ragged" / f"view_{u}_{v}.png", 6, 8 + u)
    picture(home / "frames" / "0001.png")
    views, volume = np.ones((2, 1, 5, 6, 3), "float32"), np.ones((5, 6, 7), "float32")
    np.savez(home / "line.npz", views=views)
    volume[1, 2, 3] = np.nan
    np.save(home / "nan.npy", volume)
    cases = {
        "missing": "expected all 2x2 views in missing, got 3; view_1_0 is missing, add it",
        "ragged": "expected views of one size in ragged, view_1_0.png is 9x6x3 uint8, the first 8x6x3 uint8; crop or",
        "line.npz": "with 2 samples or more per axis in line.npz, got shape (2, 1, 5, 6, 3); a line of views is a",
        "frames": "expected at least 2 frames in frames, got 1; add the others, or give 0001.png alone as a picture",
        "nan.npy": "expected finite float32 values in nan.npy, got 1 NaN or infinite, the first at (1, 2, 3); correct",
    }
    for name, message in cases.items():
        assert message in refused(home, "fit", name, "--out", "out")
        assert message in refused(home, "fit", name, "--out", "out", "--resume")


WORDS = [
    (["--method", "al-sin"], "there is no method 'al-sin'; did you mean 'al-sine'?"),
    (["--method", "zzz"], "there is no method 'zzz'; known: "),
    (["--preset", "detial"], "al-grid has no preset 'detial'; did you mean 'detail'?"),
    (["--preset", "papper"], "al-grid has no preset 'papper'; did you mean 'paper' (al-sine, al-relu, …)? ("),
    (["--method", "al-grid", "--preset", "paper"], "no preset 'paper'; methods that have it: al-sine, al-relu, … ("),
    (["--method", "AL-Grid"], "there is no method 'AL-Grid'; did you mean 'al-grid'?"),
    (["--set", "lr=1"], "al-grid has no option 'lr'; it is one of --train: --train lr=1"),
    (["--train", "levels=6"], "training has no option 'levels'; it is one of --set: --set levels=6"),
    (["--set", "level=3"], "al-grid has no option 'level'; did you mean 'levels'?"),
    (["--set", "levels"], "an option is written name=value, got 'levels'"),
    (["--set", "levels=many"], "'levels' must be a whole number, got 'many'"),
    (["--set", "levels=0"], "'levels' must be between 1 and 32, got 0"),
    (["--set", "kappa=nan"], "'kappa' must be a finite number"),
    (["--set", "grid=2x2x2"], "'grid' needs 2 sizes"),
    (["--train", "rate=1"], "training has no option 'rate'; it is one of --set: --set rate=1"),
    (["--train", "schedule=linear"], "'schedule' must be one of step, cosine, constant, got 'linear'"),
    (["--steps", "-5"], "'steps' must be at least 1, got -5"),
    (["--steps", "0"], "'steps' must be at least 1, got 0"),
    (["--steps", "ten"], "argument --steps: must be a whole number, got 'ten'"),
    (["--steps", "1e3"], "argument --steps: must be a whole number, got '1e3'"),
    (["--seed", "x"], "argument --seed: must be a whole number, got 'x'"),
    (["--checkpoint-every", "x"], "argument --checkpoint-every: must be a number, got 'x'"),
    (["--until", "-4dB"], "a quality is above 0 and looks like 45dB, got '-4dB'"),
    (["--steps", "5", "--budget", "5s"], "not allowed with"),
    (["--budget", "-5s"], "a time is above 0 and looks like 90s, 5m or 1h, got '-5s'"),
    (
        ["--coords", "lon,lat", "--values", "t"],
        "photo.png is a PNG picture, which has no columns to name; give",
    ),
    (["--budget", "soon"], "a time is above 0 and looks like 90s, 5m or 1h, got 'soon'"),
    (["--budget", "0s"], "a time is above 0 and looks like 90s, 5m or 1h, got '0s'"),
    (["--budget", "9" * 400], "must be a finite number"),
    (["--observe", "evry:2"], "expected which samples are seen, got 'evry:2'; did you mean 'every:K'? (--observe)"),
    (["--observe", "none"], "known: all, every:K, random:FRACTION, mask:FILE, "),
    (["--observe", "Random:0.5"], "did you mean 'random:FRACTION'?"),
    (["--observe", "every:0"], "whole number K of at least 1"),
    (["--observe", "random:2"], "fraction in (0, 1]"),
    (["--observe", "mask:none.png"], "none.png: no such file"),
    (["--observe", "mask:other.png"], "expected a mask of size 10x12, got 7x5; resize other.png"),
    (["--seed", "-1"], "the seed must be a whole number from 0"),
    (["--seed", "9" * 30], "the seed must be a whole number from 0"),
    (["--threads", "0"], "--threads must be between 1 and 1024"),
    (["--checkpoint-every", "-1"], "checkpoint_every must be a number of seconds"),
    (["--checkpoint-every", "nan"], "checkpoint_every must be a number of seconds"),
    (["--ovewrite"], "fit has no option '--ovewrite'; did you mean '--overwrite'? see 'alfilter fit --help'"),
    (["--over"], "fit has no option '--over'; did you mean '--overwrite'?"),
    (["--stps=10"], "fit has no option '--stps'; did you mean '--steps'?"),
    (["--zzz"], "fit has no option '--zzz'; see 'alfilter fit --help'"),
    (["second.png"], "fit does not take 'second.png' as well; see 'alfilter fit --help'"),
    (["--out"], "--out: expected one argument"),
]


@pytest.mark.parametrize(("words", "message"), WORDS, ids=[" ".join(words)[:30] for words, _ in WORDS])
def test_words_of_fit(words: list[str], message: str, home: Path) -> None:
    picture(home / "other.png", 5, 7)
    assert message in refused(home, "fit", "photo.png", "--out", "out", *words)


def test_what_is_no_signal_is_named(home: Path) -> None:
    save(build("siren", in_dim=2, out_dim=3, width=8, depth=1), "model.safetensors")
    assert "got the address https://example.org/a.png; download it first" in refused(
        home, "fit", "https://example.org/a.png"
    )
    model = refused(home, "fit", "model.safetensors", "--out", "out")
    assert "model.safetensors is a model or a checkpoint, which eval, render, info and view take" in model
    assert "give what was fitted, or a signal to fit and this to start from (--from)" in model
    Path("points.csv").write_text("x,t\n0,1\n1,2\n")
    table = refused(home, "fit", "points.csv", "--out", "out")
    assert "points.csv is a table with the columns x, t; name them: coords say where" in table
    assert table.endswith("(--coords, --values)")
    header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    strips = "element tristrips 1\nproperty list int int vertex_indices\nend_header\n"
    Path("a.ply").write_text(header + strips + "0 0 0\n1 0 0\n0 1 0\n0 0 1\n6 0 1 2 3 0 1\n")
    assert "triangle strips, which are not read; save it with plain faces" in refused(home, "fit", "a.ply")


def test_changed_colours_and_another_signal_are_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    Image.new("CMYK", (8, 8), (10, 200, 30, 0)).save("ink.jpg")
    fit = alfilter("fit", "ink.jpg", "--steps", "1", "--out", "out", *TINY)
    assert "ink.jpg holds CMYK colours; they were converted to RGB" in fit.err
    picture(home / "other.png", 5, 7)
    other = alfilter("eval", "out", "other.png")
    assert other.code == 0
    assert "other.png is 7x5, the model was fitted to 8x8" in other.err
    picture(home / "same.png", 8, 8)
    assert "same.png is not the signal that the model was fitted to" in alfilter("eval", "out", "same.png").err
    assert "fitted" not in alfilter("eval", "out", "ink.jpg").err


def test_commands(home: Path) -> None:
    assert "there is no command 'fti'; did you mean 'fit'?" in refused(home, "fti", "photo.png")
    assert "there is no command ''" in refused(home, "")
    assert "required: COMMAND" in refused(home)
    assert "COMMAND" in refused(home, "--quick")
    assert "required: SIGNAL" in refused(home, "fit")
    assert "required: MODEL, OUT" in refused(home, "render")
    assert "there is no method 'sirene'; did you mean 'siren'?" in refused(home, "methods", "sirene")


def test_output_folders(home: Path) -> None:
    (home / "file").write_text("mine")
    fit = ("fit", "photo.png", "--steps", "1", *TINY, "--out")
    assert "file is a file; give another name" in refused(home, *fit, "file")
    assert "Not a directory" in refused(home, *fit, "file/below")
    assert "Not a directory" in refused(home, *fit, "file/below", "--overwrite")
    assert "too long" in refused(home, *fit, "x" * 5000)
    if Path("/proc/self").exists():
        assert "cannot use the folder /proc/alfilter" in refused(home, *fit, "/proc/alfilter")
        assert "cannot use the folder /proc/alfilter" in refused(home, *fit, "/proc/alfilter", "--overwrite")
        assert "/proc/self" in refused(home, *fit, "/proc/self", "--overwrite")
    assert (home / "file").read_text() == "mine"


def test_a_mistake_of_ones_own_is_said_before_a_full_folder(home: Path) -> None:
    (home / "out").mkdir()
    (home / "out" / "file").write_text("mine")
    assert "no such file" in refused(home, "fit", "none.png", "--out", "out")
    assert "did you mean 'levels'?" in refused(home, "fit", "photo.png", "--out", "out", "--set", "level=2")
    assert "has no preset 'papr'" in refused(home, "fit", "photo.png", "--out", "out", "--preset", "papr")
    assert "got 'some'" in refused(home, "fit", "photo.png", "--out", "out", "--observe", "some")
    assert "between 2 and 500, got -1" in refused(home, "fit", "photo.png", "--out", "out", "--snapshots", "-1")
    assert "parameters" in refused(home, "fit", "photo.png", "--out", "out", "--params", "10")
    full = refused(home, "fit", "photo.png", "--out", "out")
    assert "out holds files but no run, and they are not written over; give a new folder" in full


def test_model_files(home: Path) -> None:
    """Whatever is wrong with the model file, every command that reads one says it in one line."""
    field = build("siren", in_dim=2, out_dim=3, width=8, depth=1)
    save(field, "good.safetensors")
    whole = Path("good.safetensors").read_bytes()
    header, tensors = read_tensors("good.safetensors")
    (home / "folder").mkdir()
    Path("empty").write_bytes(b"")
    Path("cut").write_bytes(whole[:-5])
    Path("text").write_text("hello")
    Path("pickled").write_bytes(pickle.dumps({"a": 1}))
    torch.save(field.state_dict(), "torch.pt")
    flipped = bytearray(whole)
    flipped[9] ^= 0xFF
    Path("flipped").write_bytes(flipped)
    save_file({"a": torch.zeros(2)}, "foreign")
    write_tensors("newer", tensors, {**header, "format": FORMAT + 1})
    cases = {
        "none": "got no such file",
        "folder": "holds no model.safetensors",
        "empty": "not a readable model file",
        "cut": "not a readable model file",
        "text": "not a readable model file",
        "pickled": "pickled is a pickle; give the model",
        "torch.pt": "torch.pt is a zip archive or an .npz; give the model",
        "flipped": "not a readable model file",
        "foreign": "a safetensors file of another program",
        "newer": f"has format {FORMAT + 1}, this version reads up to {FORMAT}; upgrade alfilter",
        "photo.png": "photo.png is a PNG picture; give the model.safetensors of a run",
    }
    for name, message in cases.items():
        assert message in refused(home, "info", name)
        assert message in refused(home, "render", name, "out.png")
        assert message in refused(home, "eval", name, "photo.png", "--json")
    assert "nothing yet, not a picture" in refused(home, "render", "good.safetensors", "out.png")
    assert "no such file" in refused(home, "eval", "good.safetensors", "none.png")
