"""The package's face: cheap to import, complete, of one version."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import alfilter

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "numpy", "numba", "matplotlib", "skimage", "PIL", "safetensors", "rich")


def loaded_by(statement: str) -> set[str]:
    """The top-level modules a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    path = [str(Path(alfilter.__file__).parents[1])]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert not loaded_by("import alfilter; alfilter.__version__; dir(alfilter)") & set(HEAVY)


def test_the_command_line_starts_without_anything_heavy() -> None:
    assert not loaded_by("import alfilter.cli") & set(HEAVY)


def test_options_and_errors_need_no_torch() -> None:
    assert not loaded_by("from alfilter import Training, UserError; Training(steps=3)") & set(HEAVY)


def test_a_fit_imports_no_plotting() -> None:
    assert not loaded_by("from alfilter import build, fit, load, save") & {"matplotlib", "skimage"}


@pytest.mark.parametrize("name", alfilter.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(alfilter, name) is not None
    assert name in dir(alfilter)


def test_public_names_are_sorted_and_unique() -> None:
    assert len(set(alfilter.__all__)) == len(alfilter.__all__)
    assert dir(alfilter) == sorted(alfilter.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'alfilter' has no attribute 'biuld'"):
        alfilter.biuld  # noqa: B018


def test_version_is_that_of_the_project_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert alfilter.__version__ == project["version"]


def test_types_are_shipped() -> None:
    assert (Path(alfilter.__file__).parent / "py.typed").is_file()
