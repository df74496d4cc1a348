"""A small valid file of every kind that alfilter reads, and the command that reads it."""

from __future__ import annotations

import shutil
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

TINY = ("--method", "siren", "--set", "width=8", "--set", "depth=1", "--steps", "6", "--threads", "1", "--quiet")


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
    _tables(home, rng)
    _models(home)
    _stopped_run(home / "run")
    return kinds()


def kinds() -> list[Kind]:
    """All kinds of files."""
    kinds = [Kind(name, name, (("eval", "{home}/image.safetensors", "{file}", "--json"),)) for name in SIGNALS]
    kinds += [Kind(name, name, (("eval", "{home}/points.safetensors", "{file}", "--json"),)) for name in TABLES]
    kinds += [Kind(name, name, (("info", "{file}", "--json"), *commands)) for name, commands in _MODELS.items()]
    resume = ("fit", "{home}/photo.png", *TINY, "--resume", "--out", "run", "--json")
    names = (f"run/{name}" for name in ("checkpoint.safetensors", "config.json", "history.jsonl", "metrics.json"))
    return [*kinds, *(Kind(name, name, (resume,), ("run",)) for name in names)]


PICTURES = {"photo.png": 8, "deep.png": 16, "photo.jpg": 8, "photo.tif": 8, "deep.tif": 16, "float.tif": 32,
            "photo.webp": 8, "photo.bmp": 8}  # fmt: skip
SIGNALS = (
    *PICTURES,
    *("film.gif", "film.mp4", "film.webm", "sound.wav", "wide.wav", "float.wav", "volume.nii", "volume.nii.gz"),
    *("picture.npy", "volume.npy", "ball.ply", "ascii.ply", "ball.obj", "ball.stl", "ascii.stl", "ball.off"),
    *("ball.glb", "cloud.xyz"),
)
TABLES = ("table.csv", "table.tsv", "table.npz", "packed.npz", "table.npy", "table.parquet")
_RENDER = ("render", "{file}", "out.png", "--size", "12x10")
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
        (_RENDER, ("eval", "{file}", "{home}/photo.png", "--json")),
    ),
    "points.safetensors": (("predict", "{file}", "{home}/table.csv", "--out", "out.csv"),),
    "sound.safetensors": (("render", "{file}", "out.wav"),),
    "volume.safetensors": (("render", "{file}", "out.npy"),),
    "film.safetensors": (("render", "{file}", "out.gif"),),
    "shape.safetensors": (("mesh", "{file}", "out.ply", "--resolution", "16"),),
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


def _tables(home: Path, rng: np.random.Generator) -> None:
    columns = {name: rng.random(24) for name in ("x", "y", "z")}
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
        ("sound", "sound.wav", "siren", small),
        ("volume", "volume.npy", "siren", small),
        ("film", "film.gif", "siren", small),
        ("shape", "ball.ply", "al-sine", {**small, "levels": 2, "grid": 4}),
    ]
    for name, source, method, options in rows:
        _save(open_task(str(home / source)), method, options, home / f"{name}.safetensors")
    table = open_task(str(home / "table.csv"), columns=(("x", "y"), ("z",), None, None))
    _save(table, "siren", small, home / "points.safetensors")


def _save(task: Any, method: str, options: dict[str, Any], file: Path) -> None:
    field = build(method, in_dim=task.in_dim, out_dim=task.out_dim, samples=task.samples, **options)
    field.set_range(*task.output_range())
    field.signal = task.describe()
    save(field, file)


def _stopped_run(folder: Path) -> None:
    """A run that was told to stop after three steps: everything that a resumed one reads."""
    done: list[int] = []
    request = FitRequest(
        signal=str(folder.parent / "photo.png"),
        method="siren",
        options={"width": 8, "depth": 1},
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
