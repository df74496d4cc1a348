"""A small valid file of every kind that alfilter reads, and the command that reads it."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from alfilter.methods import build
from alfilter.runs import FitRequest, run
from alfilter.signals import write_audio, write_image
from alfilter.signals.tables import write_columns
from alfilter.signals.video import write_clip
from alfilter.signals.volume import write_nifti
from alfilter.tasks import open_task
from alfilter.training import save

_SIZES = {"siren": ("width=8", "depth=1"), "al-grid": ("width=8", "depth=1", "levels=3", "table=6")}


def tiny(method: str) -> tuple[str, ...]:
    """The words of a fit that takes no time."""
    sizes = (word for size in _SIZES[method] for word in ("--set", size))
    return ("--method", method, *sizes, "--steps", "6", "--threads", "1", "--quiet")


@dataclass(frozen=True)
class Kind:
    """One kind of file: where its original lies below the campaign's folder, and the commands that read it in turn.

    beside: more files and folders that the commands need, copied beside the damaged one.
    """

    name: str
    file: str
    commands: tuple[tuple[str, ...], ...]
    beside: tuple[str, ...] = ()


def make_originals(home: Path) -> list[Kind]:
    """Write all originals below `home`."""
    rng = np.random.default_rng(0)
    make_pictures(home)
    _signals(home, rng)
    _many_pictures(home, rng)
    _tables(home, rng)
    _models(home)
    _result_lines(home)
    _stopped_run(home / "run", "siren", {"width": 8, "depth": 1})
    _stopped_run(home / "grid-run", "al-grid", {"width": 8, "depth": 1, "levels": 3, "table": 6})
    return kinds()


def kinds() -> list[Kind]:
    """All kinds of files."""
    kinds = [Kind(name, name, (("eval", f"{{home}}/{_model_for(name)}", "{file}", "--json"),)) for name in SIGNALS]
    kinds += [Kind(name, name, commands, beside) for name, (commands, beside) in _MANY.items()]
    kinds += [Kind(name, name, _ON_TABLES) for name in TABLES]
    kinds += [Kind(name, name, (("info", "{file}", "--json"), *commands)) for name, commands in _MODELS.items()]
    kinds.append(Kind("image-fitting.jsonl", "image-fitting.jsonl", _REPORTS))
    for folder, method in (("run", "siren"), ("grid-run", "al-grid")):
        resume = ("fit", "{home}/photo.png", *tiny(method), "--resume", "--out", folder, "--json")
        read_all = (resume, ("fit", folder, "--threads", "1", "--quiet", "--json"), ("report", folder))
        names = ("checkpoint.safetensors", "config.json", "history.jsonl", "metrics.json")
        for name in names if folder == "run" else names[:1]:
            commands = (resume,) if name == names[0] else read_all
            kinds.append(Kind(f"{folder}/{name}", f"{folder}/{name}", commands, (folder,)))
    return kinds


def _model_for(name: str) -> str:
    """The model that a signal is scored on; a surface would take seconds, and is read all the same."""
    stem, suffix = name.partition(".")[::2]
    own = "sound" if suffix == "wav" else stem if stem in ("film", "volume") else "image"
    return f"{own}.safetensors"


PICTURES = {"photo.png": 8, "deep.png": 16, "photo.jpg": 8, "photo.tif": 8, "deep.tif": 16, "float.tif": 32,
            "photo.webp": 8, "photo.bmp": 8}  # fmt: skip
SIGNALS = (
    *PICTURES,
    *("film.gif", "film.mp4", "film.webm", "sound.wav", "wide.wav", "float.wav", "volume.nii", "volume.nii.gz"),
    *("picture.npy", "volume.npy", "ball.ply", "ascii.ply", "ball.obj", "ball.stl", "ascii.stl", "ball.off"),
    *("ball.glb", "cloud.xyz"),
)
TABLES = ("table.csv", "table.tsv", "table.npz", "packed.npz", "table.npy", "table.parquet")
_ON_TABLES = (
    ("eval", "{home}/points.safetensors", "{file}", "--json"),
    ("predict", "{home}/points.safetensors", "{file}", "--out", "out.csv"),
    ("fit", "{file}", "--coords", "x,y", "--values", "z", "--noise", "s", *tiny("siren"), "--out", "fresh", "--json"),
)
_VIEWS = ("eval", "{home}/views.safetensors")
_MASKED = ("eval", "{home}/image.safetensors", "{home}/photo.png", "--observe", "mask:{file}", "--json")
# light fields, folders of pictures and masks: the commands, and the folder that the damaged file belongs to
_MANY: dict[str, tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]] = {
    "views.npz": (((*_VIEWS, "{file}", "--json"),), ()),
    "views.npy": (((*_VIEWS, "{file}", "--json"),), ()),
    "views/view_1_0.png": (((*_VIEWS, "views", "--json"),), ("views",)),
    "frames/frame2.png": ((("eval", "{home}/film.safetensors", "frames", "--json"),), ("frames",)),
    "mask.png": ((_MASKED,), ()),
    "large.png": ((("fit", "{file}", *tiny("siren"), "--train", "batch=64", "--out", "fresh", "--json"),), ()),
}
_REPORTS = (("report", "{file}", "--out", "out.html"), ("report", "{file}", "--format", "markdown", "--by-signal"))
_RENDER = ("render", "{file}", "out.png", "--size", "12x10")
_EXPORTS = (("export", "{file}", "out.onnx"), ("export", "{file}", "out.html"))
_MODELS: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(
        (
            "image.safetensors",
            "octree.safetensors",
            "acorn.safetensors",
            "hash.safetensors",
            "grid.safetensors",
            "bacon.safetensors",
        ),
        (_RENDER, ("eval", "{file}", "{home}/photo.png", "--json"), *_EXPORTS),
    ),
    "start.safetensors": (("fit", "{home}/photo.png", *tiny("siren"), "--from", "{file}", "--out", "fresh", "--json"),),
    "points.safetensors": (
        ("predict", "{file}", "{home}/table.csv", "--out", "out.csv"),
        ("eval", "{file}", "{home}/table.csv", "--json"),
        _EXPORTS[1],
    ),
    "sound.safetensors": (("render", "{file}", "out.wav"), *_EXPORTS),
    "volume.safetensors": (("render", "{file}", "out.npy"), ("render", "{file}", "out.nii.gz"), *_EXPORTS),
    "film.safetensors": (("render", "{file}", "out.gif"), ("render", "{file}", "out.mp4")),
    "views.safetensors": (
        ("render", "{file}", "out.npy"),
        ("render", "{file}", "out.png", "--view", "0,0.5"),
        ("render", "{file}", "out.png", "--refocus", "0.5"),
    ),
    "shape.safetensors": (("mesh", "{file}", "out.ply", "--resolution", "16"), _EXPORTS[0]),
}


def make_pictures(home: Path) -> None:
    """Small pictures in every format."""
    values = np.random.default_rng(0).random((10, 12, 3)).astype(np.float32)
    for name, bits in PICTURES.items():
        write_image(home / name, values, bits)


def _signals(home: Path, rng: np.random.Generator) -> None:
    """Everything else that a fit reads, but tables."""
    import trimesh

    frames = [(rng.random((16, 18, 3)) * 255).astype(np.uint8) for _ in range(4)]
    for name in ("film.gif", "film.mp4", "film.webm"):
        write_clip(home / name, iter(frames), 10.0)
    for name, bits, is_float in (("sound.wav", 16, False), ("wide.wav", 24, False), ("float.wav", 32, True)):
        write_audio(home / name, rng.random((64, 2)) - 0.5, 8000, bits, is_float=is_float)
    volume = rng.random((5, 6, 7, 1)).astype(np.float32)
    for name in ("volume.nii", "volume.nii.gz"):
        write_nifti(home / name, volume)
    np.save(home / "picture.npy", volume[0, ..., 0])
    np.save(home / "volume.npy", volume)
    ball = trimesh.creation.icosphere(subdivisions=1)
    for form in ("ply", "obj", "stl", "off", "glb", "stl_ascii"):
        name = "ascii.stl" if form == "stl_ascii" else f"ball.{form}"
        data = ball.export(file_type=form)
        (home / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    (home / "ascii.ply").write_bytes(ball.export(file_type="ply", encoding="ascii"))
    cloud = np.concatenate([ball.vertices, ball.vertex_normals], axis=1)
    (home / "cloud.xyz").write_text("\n".join(" ".join(f"{v:.6f}" for v in row) for row in cloud) + "\n")


def _many_pictures(home: Path, rng: np.random.Generator) -> None:
    """A light field, a folder of its views, one of frames, masks, and a picture that is unpacked piece by piece."""
    views = (rng.random((2, 2, 5, 6, 3)) * 255).astype(np.uint8)
    np.savez_compressed(home / "views.npz", views=views)
    np.save(home / "views.npy", views)
    for name, pictures in (
        ("views", {f"view_{u}_{v}": views[u, v] for u in range(2) for v in range(2)}),
        ("frames", {f"frame{number}": frame for number, frame in enumerate(rng.random((4, 6, 7, 3)))}),
    ):
        (home / name).mkdir()
        for stem, picture in pictures.items():
            scale = 255 if picture.dtype == np.uint8 else 1
            write_image(home / name / f"{stem}.png", picture.astype(np.float32) / scale)
    mask = (rng.random((10, 12)) < 0.5).astype(np.uint8)
    write_image(home / "mask.png", mask[..., None].astype(np.float32))
    write_image(home / "large.png", np.zeros((4100, 4100, 1), np.float32))  # 16 KB, above signals.mapped.LARGE pixels


def _tables(home: Path, rng: np.random.Generator) -> None:
    columns = {name: rng.random(24) + 0.01 for name in ("x", "y", "z", "s")}
    for name in ("table.csv", "table.tsv", "table.npz", "table.parquet"):
        write_columns(home / name, columns)
    np.savez_compressed(home / "packed.npz", **columns)  # type: ignore[arg-type]
    rows = np.array(list(zip(*columns.values(), strict=True)), dtype=[(name, "f8") for name in columns])
    np.save(home / "table.npy", rows)


def _models(home: Path) -> None:
    """A field of every kind of signal and of every kind of encoding, as it is before training."""
    small: dict[str, Any] = {"width": 8, "depth": 1}
    rows: list[tuple[str, str, str, dict[str, Any]]] = [
        ("image", "photo.png", "al-sine", {**small, "levels": 3, "grid": 6}),
        ("octree", "photo.png", "octree", {**small, "levels": 3, "capacity": 200, "features": 2}),
        ("acorn", "photo.png", "acorn", {**small, "tiles": 16, "deepest": 3, "patch": 2, "features": 2, "decoder": 8}),
        ("hash", "photo.png", "hash-grid", {**small, "levels": 3, "table": 6}),
        ("grid", "photo.png", "al-grid", {**small, "levels": 3, "table": 6}),
        ("bacon", "photo.png", "bacon", {"width": 8}),
        ("start", "photo.png", "siren", small),
        ("sound", "sound.wav", "siren", small),
        ("views", "views.npz", "al-grid", {**small, "levels": 2, "table": 8}),
        ("volume", "volume.npy", "siren", small),
        ("film", "film.gif", "siren", small),
        ("shape", "ball.ply", "al-sine", {**small, "levels": 2, "grid": 4}),
    ]
    for name, source, method, options in rows:
        _save(open_task(str(home / source)), method, options, home / f"{name}.safetensors")
    table = open_task(str(home / "table.csv"), "random:0.5", columns=(("x", "y"), ("z",), None, "s"))
    _save(table, "siren", small, home / "points.safetensors")


def _save(task: Any, method: str, options: dict[str, Any], file: Path) -> None:
    field = build(method, in_dim=task.in_dim, out_dim=task.out_dim, samples=task.samples, **options)
    field.set_range(*task.output_range())
    field.signal = task.describe()
    save(field, file)


def _result_lines(home: Path) -> None:
    """What a study leaves: a line per run, with curves, pictures and a map of α."""
    picture = b64encode((home / "photo.png").read_bytes()).decode()
    common: dict[str, Any] = {
        "image": "photo.png", "observe": "random:0.35", "size": 12, "steps": 6, "seconds": 0.5, "params": 100,
        "peak_memory": 1 << 28, "heldout": {"psnr": 25.0}, "version": "0.1.0", "curve": [[1, 10.0], [6, 30.0]],
        "pictures": {"reference": picture, "alpha": picture},
        "alpha": {"low": 0.0, "high": 4.0, "spread": 0.5, "channels": 24, "bandwidth": 15.0},
    }  # fmt: skip
    lines = [
        {"name": f"{row} {seed}", "group": row, "method": row, "seed": seed, "metrics": {"psnr": 30.0 + seed}, **common}
        for row in ("siren", "al-sine")
        for seed in (0, 1)
    ]
    (home / "image-fitting.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _stopped_run(folder: Path, method: str, options: dict[str, Any]) -> None:
    """A run that was told to stop after three steps: everything that a resumed one reads."""
    done: list[int] = []
    request = FitRequest(
        signal=str(folder.parent / "photo.png"),
        method=method,
        options=options,
        training={"steps": 6},
        out=str(folder),
    )
    run(request, on_progress=lambda p: done.append(p.step), should_stop=lambda: len(done) >= 3)


def copy_case(kind: Kind, home: Path, folder: Path, data: bytes) -> Path:
    """The damaged file in a folder of its own, with what its commands need; its path."""
    for name in kind.beside:
        shutil.copytree(home / name, folder / name)
    file = folder / kind.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file
