"""A study of your own: a Python file that says `STUDY = Study(...)`."""

from __future__ import annotations

import sys
import traceback
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType

from alfilter.errors import UserError
from alfilter.experiments.study import Source, Study


def read_study(path: str) -> Study:
    """The study that a file declares; the file's text goes with it, so that workers elsewhere know its functions."""
    file = Path(path).expanduser()
    try:
        source = Source(str(file.resolve()), file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read the study {file}: {error}; check the path") from error
    study = getattr(load(source), "STUDY", None)
    if not isinstance(study, Study):
        got = "nothing of that name" if study is None else type(study).__name__
        raise UserError(f"expected STUDY = Study(...) in {file}, got {got}; see docs/guide/studies.md")
    if not study.name or not all(letter.isalnum() or letter in "-_." for letter in study.name):
        raise UserError(f"a study's name becomes a file's: letters, digits, - and _ were expected, got {study.name!r}")
    return replace(study, source=source)


def load(source: Source) -> ModuleType:
    """The module of a study's file, made once per process under a name that its text decides.

    Functions travel between processes by the name of their module: every process that has called `load` finds them.
    """
    digest = sha256(f"{source.path}\n{source.text}".encode()).hexdigest()
    name = f"alfilter_study_{digest[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = source.path
    folder = str(Path(source.path).parent)
    if folder not in sys.path:
        sys.path.append(folder)  # a study may import its neighbours
    sys.modules[name] = module
    try:
        exec(compile(source.text, source.path, "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception):
            raise
        raise UserError(f"the study {source.path} does not run: {_place(error, source.path)}") from error
    return module


def _place(error: Exception, path: str) -> str:
    """The error in one line, with the line of the study's file it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"
