"""From model files to the viewer that shows them; every file is read once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alfilter.errors import UserError
from alfilter.evaluate import LAYOUTS
from alfilter.methods import Field
from alfilter.runs.folder import RunFolder
from alfilter.runs.snapshots import list_snapshots
from alfilter.signals import GridSignal, open_signal
from alfilter.training import load
from alfilter.viewer.base import Viewer
from alfilter.viewer.model import Model, check_same_size, level_names
from alfilter.viewer.picture import PictureViewer
from alfilter.viewer.shape import ShapeViewer
from alfilter.viewer.sound import SoundViewer

_MOST_CHANNELS = 16  # of a tile or a stretch of sound, which is made whole
Opened = tuple[Path, Field]  # a model's file, and what it holds


def open_viewer(paths: Sequence[str], reference: str | None = None) -> Viewer:
    """The viewer of some model files or run folders: one shape or sound, or pictures, volumes, videos of one size.

    reference: what was fitted; None for a picture's copy in a run folder.
    """
    opened = open_files(paths)
    file, field = opened[0]
    for path, (_, each) in zip(paths, opened, strict=True):
        if each.out_dim > _MOST_CHANNELS:
            raise UserError(f"a page shows up to {_MOST_CHANNELS} channels, {path} has {each.out_dim}; render it")
    if field.signal.get("kind") == "shape":
        if len(paths) > 1 or reference is not None:
            raise UserError(f"{paths[0]} is a shape and is shown alone; leave the other models and the reference out")
        return ShapeViewer(field, model_name(file))
    if field.signal.get("kind") == "audio":
        if len(paths) > 1:
            raise UserError(f"{paths[0]} is a sound and is shown alone; leave the other models out")
        known = None if reference is None else read_reference(reference, field, "sound")
        return SoundViewer(field, model_name(file), known)
    models = grid_models(opened)
    return PictureViewer(models, open_reference(reference, models))


def open_files(paths: Sequence[str]) -> list[Opened]:
    """The fields of some model files or run folders."""
    files = [RunFolder(path).model if Path(path).is_dir() else Path(path) for path in paths]
    return [(file, load(file)) for file in files]


def model_name(file: Path) -> str:
    """What a page calls a model: its run folder, or a name of its own.

    >>> model_name(Path("runs/cat/model.safetensors")), model_name(Path("runs/cat/softer.safetensors"))
    ('cat', 'softer')
    """
    run = RunFolder.of_model(file)
    return run.path.name if run is not None and run.path.name else file.stem


def grid_models(opened: Sequence[Opened]) -> list[Model]:
    """The models of one page; they must represent signals of one kind and size."""
    models: list[Model] = []
    for file, field in opened:
        kind = field.signal.get("kind") or "nothing yet"
        if kind not in LAYOUTS:
            known = ", ".join(layout.noun for layout in LAYOUTS.values())
            todo = f"'alfilter export {file} map.html' writes a page" if kind == "points" else f"give one of {known}"
            raise UserError(f"{file} represents {kind}, which has no page of planes; {todo}")
        if kind != opened[0][1].signal.get("kind"):
            raise UserError(f"models beside each other represent one kind of signal, {file} is {kind}; show it alone")
        check_same_size(file, field, opened[0][1])
        name = _unique(model_name(file), [model.name for model in models])
        run = RunFolder.of_model(file)
        snapshots = list_snapshots(run.path) if run is not None else {}  # a model saved beside a run is not it
        models.append(Model(name, file, field, snapshots, field, levels=level_names(field)))
    return models


def open_reference(path: str | None, models: Sequence[Model]) -> tuple[str, GridSignal] | None:
    """What was fitted, and its name: the given file, or the picture in the first run folder that has one."""
    shape, channels = models[0].shape, models[0].original.out_dim
    if path is None:
        copies = [file for model in models if (file := RunFolder(model.file.parent).picture("reference")).is_file()]
        for copy in copies:
            signal = open_signal(str(copy))
            if isinstance(signal, GridSignal) and (signal.shape, signal.out_dim) == (shape, channels):
                return copy.name, signal
        return None
    return read_reference(path, models[0].original, models[0].layout.noun)


def read_reference(path: str, field: Field, noun: str) -> tuple[str, GridSignal]:
    """The fitted signal in a file; another one is refused by its size."""
    signal, shape = open_signal(path), tuple(field.signal["shape"])
    if not isinstance(signal, GridSignal) or signal.shape != shape or signal.out_dim != field.out_dim:
        size = f"{'x'.join(map(str, reversed(shape)))} with {field.out_dim} channels"
        raise UserError(f"the reference must be the fitted {noun}, {size}; {path} is another")
    return Path(path).name, signal


def _unique(name: str, taken: Sequence[str]) -> str:
    """A label no other model has.

    >>> _unique("photo", ["photo", "photo 2"])
    'photo 3'
    """
    number = 2
    label = name
    while label in taken:
        label, number = f"{name} {number}", number + 1
    return label
