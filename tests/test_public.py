"""The package's face: cheap to import, complete, of one version."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import picture
from tests.support.examples import load_module

import alfilter

ROOT = Path(__file__).resolve().parents[1]
USER_SCRIPT = ROOT / "tests" / "support" / "user_script.py"
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


def project_file() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_has_one_home() -> None:
    """The package's own line: the project file reads it, the citation and the installed metadata follow."""
    project = project_file()
    assert "version" not in project["project"]
    assert ROOT / project["tool"]["hatch"]["version"]["path"] == ROOT / "src" / "alfilter" / "__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", alfilter.__version__)
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_changelog_opens_with_the_version_or_what_comes_next() -> None:
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert alfilter.__version__ in [name for name in headings if name != "Unreleased"][:1]


def test_supported_pythons_are_the_tested_ones() -> None:
    project = project_file()["project"]
    head = "Programming Language :: Python :: 3."
    listed = [f"3.{name.removeprefix(head)}" for name in project["classifiers"] if name.startswith(head)]
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    assert json.loads(re.search(r"python: (\[.*\])", workflow)[1]) == listed  # type: ignore[index]
    assert project["requires-python"] == f">={listed[0]}"


def test_the_demo_installs_what_runs_and_the_tests_the_rest() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo: \$\(RUNTIME\)$", makefile, re.MULTILINE)
    assert re.search(r"^\$\(RUNTIME\):.*\n.*\n\t\$\(INSTALL\) -e \.$", makefile, re.MULTILINE)
    runtime = {re.split(r"[<>=\[]", line)[0] for line in project_file()["project"]["dependencies"]}
    assert not runtime & {"ray", "playwright", "mypy", "onnx", "pytest", "scikit-learn", "pyarrow", "libigl"}


def test_the_constraints_hold_for_what_is_declared() -> None:
    """Every pinned version is one that the project file allows."""
    from packaging.requirements import Requirement  # comes with pytest

    project = project_file()["project"]
    pins = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split())
    declared = [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]
    for requirement in map(Requirement, declared):
        if requirement.name in pins:
            assert requirement.specifier.contains(pins[requirement.name]), f"{requirement} and {pins[requirement.name]}"
    assert {Requirement(line).name for line in project["dependencies"]} <= set(pins)


def test_types_are_shipped() -> None:
    assert (Path(alfilter.__file__).parent / "py.typed").is_file()


def test_what_a_type_checker_sees_is_what_loads() -> None:
    tree = ast.parse(Path(alfilter.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert seen == {name: f"alfilter.{home}" for name, home in alfilter._HOME.items()}


def test_a_users_script_runs(tmp_path: Path) -> None:
    script = load_module(USER_SCRIPT)
    try:
        assert script.main(picture(tmp_path / "photo.png"), tmp_path) > 0
    finally:
        alfilter.METHODS.unregister("user-method")


def test_a_users_script_is_type_checked() -> None:
    """`mypy --strict` over the public surface: what is right passes, what is wrong is noticed."""
    run = subprocess.run(
        [sys.executable, "-m", "mypy", str(USER_SCRIPT)],
        cwd=ROOT,  # the settings of `make lint`, strict among them, and its cache
        env={**os.environ, "MYPYPATH": "src"},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "Success: no issues found in 1 source file\n", run.stdout + run.stderr
