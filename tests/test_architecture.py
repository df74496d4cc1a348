"""Imports point one way, modules stay small: read from the sources, not from running them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import alfilter

SOURCE = Path(alfilter.__file__).parent
LONGEST = 400  # lines of a module

# The parts of the package, row by row. A part imports from rows above its own, and of those only what it names here;
# `errors`, `files` and `extras` are everybody's. A dotted name allows that module alone.
BASE = {"core", "kernels", "ops", "runtime", "config"}
FIELDS = BASE | {"encodings", "networks", "geometry", "metrics", "signals", "inpainting", "methods", "evaluate"}
LEARNING = FIELDS | {"tasks", "analysis", "training"}
ROWS: list[dict[str, set[str]]] = [
    {"errors": set(), "files": set(), "extras": set(), "config": set(), "core": set()},
    {"kernels": set(), "runtime": set()},
    {"ops": {"core", "kernels", "runtime"}},
    {"encodings": {"core", "ops"}, "networks": {"core", "ops"}, "geometry": set()},
    {"metrics": {"geometry"}, "signals": {"geometry", "kernels"}, "inpainting": {"core", "ops", "kernels", "runtime"}},
    {"methods": {"encodings", "networks", "config"}},
    {"evaluate": {"signals", "metrics", "geometry", "runtime"}},
    {"tasks": {"core", "signals", "metrics", "geometry", "inpainting", "evaluate", "runtime", "config"}},
    {"analysis": {"core", "ops", "encodings", "methods", "evaluate"}},
    {"training": {"tasks.base", "encodings.base", "methods", "config", "runtime", "ops"}},
    {"runs": LEARNING},
    {"experiments": LEARNING | {"runs"}, "estimator": LEARNING | {"runs"}, "testing": FIELDS | {"tasks", "training"}},
    {"report": LEARNING | {"runs"}, "render": LEARNING | {"runs"}, "export": LEARNING},
    {"viewer": LEARNING | {"render", "runs"}},
    {"commands": LEARNING | {"runs", "experiments", "report", "render", "export", "viewer"}, "cli": {"commands"}},
]
ALLOWED = {part: named | {"errors", "files", "extras"} for row in ROWS for part, named in row.items()}
DOORS = {SOURCE / "__init__.py", SOURCE / "__main__.py"}  # of the library and of the command line
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path not in DOORS)


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """Dotted names inside the package that a module imports anywhere, lazily too: `core.grid`, `tasks.base`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(SOURCE)}: imports are written in full, not relative"
            assert node.module is not None
            found |= {f"{node.module}.{a.name}" if node.module == "alfilter" else node.module for a in node.names}
    inside = {name.removeprefix("alfilter.") for name in found if name.startswith("alfilter.")}
    return inside - {"__version__"}


def may_import(part: str, name: str) -> bool:
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED[part] | {part})


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in ALLOWED, f"{named(path)} has no row: put {part!r} in the table"
    wrong = sorted(name for name in imports_of(path) if not may_import(part, name))
    assert not wrong, f"{named(path)} imports {wrong}; {part} may import {sorted(ALLOWED[part])}"


def test_the_table_itself_points_up() -> None:
    row_of = {part: number for number, row in enumerate(ROWS) for part in row}
    for part, names in ALLOWED.items():
        above = {name.split(".")[0] for name in names} - {"errors", "files", "extras"}
        beside = {("cli", "commands")}
        assert all(row_of[name] < row_of[part] or (part, name) in beside for name in above), part


def test_nothing_imports_the_command_line() -> None:
    assert not [named(path) for path in MODULES if any(n.split(".")[0] == "cli" for n in imports_of(path))]


def test_encodings_and_networks_do_not_know_each_other() -> None:
    for one, other in (("encodings", "networks"), ("networks", "encodings")):
        assert not [named(p) for p in MODULES if part_of(p) == one and any(n.startswith(other) for n in imports_of(p))]


def test_tasks_never_name_a_method() -> None:
    assert not [named(p) for p in MODULES if part_of(p) == "tasks" and "methods" in imports_of(p)]


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{named(path)} has {lines} lines, more than {LONGEST}: split it by idea"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_say_what_they_are(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{named(path)} has no docstring"


def test_the_rules_catch_what_they_should(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("from alfilter import cli\ndef f():\n    import alfilter.networks.mlp\n    import torch\n")
    monkey = imports_of(module)
    assert monkey == {"cli", "networks.mlp"}
    assert not may_import("encodings", "networks.mlp")
    assert not may_import("training", "tasks.fit")
    assert may_import("training", "tasks.base")
    assert may_import("core", "core.grid")
