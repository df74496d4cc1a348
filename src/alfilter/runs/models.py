"""The model that a user means: a model file, or a run folder."""

from __future__ import annotations

from pathlib import Path

from alfilter.errors import UserError
from alfilter.methods import Field
from alfilter.runs.folder import RunFolder
from alfilter.signals.file_checks import head, looks_like
from alfilter.training import load as load_file


def load(path: str | Path) -> Field:
    """Read a field back from a model file, or from the one in a run folder."""
    return load_file(model_path(path))


def _check_is_model(file: Path) -> None:
    """Name what a file is that was given in place of a model; what is damaged is left to the reader."""
    try:
        what = looks_like(head(file))
    except UserError:
        return
    if what.startswith("a") and what != "a model file":
        raise UserError(f"expected a model or a run folder, {file} is {what}; give the model.safetensors of a run")


def model_path(path: str | Path) -> Path:
    """The model file that is meant: the file itself, or that of a run folder.

    >>> model_path("photo.safetensors").name
    'photo.safetensors'
    """
    file = Path(path).expanduser()
    if not file.is_dir():
        _check_is_model(file)
        return file
    model = RunFolder(file).model
    if model.is_file():
        return model
    raise UserError(f"a model or a run folder was expected, the folder {file} holds no {model.name}; give another one")
