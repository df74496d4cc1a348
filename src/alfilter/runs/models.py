"""The model that a user means: a model file, or a run folder."""

from __future__ import annotations

from pathlib import Path

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.runs.folder import RunFolder
from alfilter.training import load as load_file


def load(path: str | Path) -> Field:
    """Read a field back from a model file, or from the one in a run folder."""
    return load_file(model_path(path))


def model_path(path: str | Path) -> Path:
    """The model file that is meant: the file itself, or that of a run folder.

    >>> model_path("photo.safetensors").name
    'photo.safetensors'
    """
    file = Path(path).expanduser()
    if not file.is_dir():
        return file
    model = RunFolder(file).model
    if model.is_file():
        return model
    raise UserError(f"a model or a run folder was expected, the folder {file} holds no {model.name}; give another one")
