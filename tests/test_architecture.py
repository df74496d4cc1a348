"""Imports point one way, modules stay small: read from the sources, not from running them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import alfilter
from alfilter.runs.folder import PICTURES

SOURCE = Path(alfilter.__file__).parent
LONGEST = 400  # lines of a module

# A part imports from rows above its own. After an arrow stands all that it imports of them, and of its own row before
# it, beside BASE, which is everybody's; a dotted name is that module alone. Without an arrow every row above is open.
# `runs` stands on everything, and what builds on `runs` may use all that it stands on.
TABLE = """
0  errors    config    files    core
1  kernels
2  ops → core, kernels    runtime
3  encodings, networks → ops, core    geometry    metrics → geometry    signals → geometry    inpainting
4  methods → encodings, networks, config
5  evaluate → signals, metrics, geometry
6  tasks → signals, metrics, geometry, inpainting, evaluate    analysis → evaluate, encodings
7  training → tasks.base, methods, runtime
8  runs → all above
9  experiments, estimator, testing → runs
10 report → result lines
10 render, export, viewer
11 commands
11 cli
"""
BASE = {"errors", "config", "files", "core", "runtime"}
# What reads result lines and run folders, and the one definition of what is measured in them.
RESULT_LINES = {"runs.folder", "metrics.summary", "evaluate.streaming", "analysis.structure"}


def read_table(text: str) -> dict[str, set[str]]:
    r"""What every part may import.

    >>> read_table("0  core\n1  ops → core    signals")["signals"]
    {'core'}
    """
    table: dict[str, set[str]] = {}
    for line in text.strip().splitlines():
        above = set(table)
        for entry in re.split(r"\s{2,}", line.lstrip("0123456789 ")):
            names, arrow, imports = entry.partition(" → ")
            allowed = _imported(imports, names, table) if arrow else above
            table |= dict.fromkeys(names.split(", "), allowed)
    return table


def _imported(imports: str, names: str, table: dict[str, set[str]]) -> set[str]:
    """What an arrow points to, as names of parts and modules."""
    if imports == "all above":
        return set(table)
    allowed = RESULT_LINES if imports == "result lines" else set(imports.split(", "))
    assert {name.split(".")[0] for name in allowed} <= set(table), f"{names} may not import from below itself"
    return allowed | (BASE & set(table)) | (table["runs"] if "runs" in allowed else set())


ALLOWED = read_table(TABLE)
DOORS = {SOURCE / "__init__.py", SOURCE / "__main__.py"}  # of the library and of the command line
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path not in DOORS)


def part_named(name: str) -> str:
    """The part that a dotted name inside the package belongs to: the longest one of the table, else its first word."""
    rows = [part for part in ALLOWED if name == part or name.startswith(f"{part}.")]
    return max(rows, key=len, default=name.split(".")[0])


def part_of(path: Path) -> str:
    return part_named(".".join(path.relative_to(SOURCE).with_suffix("").parts))


def imports_of(path: Path) -> set[str]:
    """Dotted names inside the package that a module imports anywhere, lazily too: `core.grid`, `tasks.base`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(SOURCE)}: imports are written in full, not relative"
            assert node.module is not None
            names |= {f"{node.module}.{a.name}" if node.module == "alfilter" else node.module for a in node.names}
    inside = {name.removeprefix("alfilter.") for name in names if name.startswith("alfilter.")}
    return inside - {"__version__"}


def may_import(part: str, name: str) -> bool:
    inside = part_named(name) == part
    return inside or any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED[part] | {"errors"})


def named(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(path)
    assert part in ALLOWED, f"{named(path)} has no row: put {part!r} in the table"
    wrong = sorted(name for name in imports_of(path) if not may_import(part, name))
    assert not wrong, f"{named(path)} imports {wrong}; {part} may import {sorted(ALLOWED[part])}"


def test_the_table_itself_points_up() -> None:
    with pytest.raises(AssertionError, match="ops may not import from below itself"):
        read_table("0  core\n1  ops → kernels    kernels")


def test_nothing_imports_the_command_line() -> None:
    assert not [named(path) for path in MODULES if any(n.split(".")[0] == "cli" for n in imports_of(path))]


def test_encodings_and_networks_do_not_know_each_other() -> None:
    for one, other in (("encodings", "networks"), ("networks", "encodings")):
        assert not [named(p) for p in MODULES if part_of(p) == one and any(n.startswith(other) for n in imports_of(p))]


def test_tasks_never_name_a_method() -> None:
    assert not [named(p) for p in MODULES if part_of(p) == "tasks" and "methods" in imports_of(p)]


def command_line_flags() -> set[str]:
    """Every `--flag` of the command line."""
    source = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "commands").glob("*.py"))
    return set(re.findall(r'"(--[a-z][a-z-]+)"', source))


def test_flags_are_named_only_in_commands() -> None:
    """The library speaks of arguments: its callers may not sit at a command line."""
    flags = command_line_flags()
    assert {"--observe", "--preset", "--out"} <= flags
    for path in (p for p in MODULES if part_of(p) not in ("commands", "cli")):
        words = set(re.findall(r"--[a-z][a-z-]+", path.read_text(encoding="utf-8")))
        assert not words & flags, f"{named(path)} names {sorted(words & flags)}"


# Threads and processes are started by `runtime`, and where each of these has a reason of its own.
STARTERS = {
    "experiments/runner/local.py": "the runs of a study, which may die",
    "geometry/distance_worker.py": "libigl holds the GIL",
    "kernels/compile.py": "compilers, each a fresh interpreter",
    "tasks/sdf.py": "the next block of samples, measured beside the training",
}


def test_threads_and_processes_are_started_in_few_places() -> None:
    pools = re.compile(r"\b(Thread|ThreadPoolExecutor|ProcessPoolExecutor|Popen|fork|get_context)\(")
    starting = {named(p) for p in MODULES if pools.search(p.read_text(encoding="utf-8"))}
    assert {name for name in starting if not name.startswith("runtime/")} == set(STARTERS)


RUN_FILES = {"model.safetensors", "config.json", "metrics.json", "history.jsonl", "checkpoint.safetensors"}


def test_the_run_folder_has_one_owner() -> None:
    """File names of a run stand in `runs/folder.py` alone: others go through `RunFolder`."""
    names = RUN_FILES | {f"{name}.png" for name in PICTURES}
    for path in (p for p in MODULES if named(p) != "runs/folder.py" and part_of(p) != "testing"):
        code = ast.parse(path.read_text(encoding="utf-8"))
        words = {n.value for n in ast.walk(code) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        assert not words & names, f"{named(path)} names {sorted(words & names)}"


@pytest.mark.parametrize(
    "part",
    ["core", "ops", "encodings", "networks", "methods", "inpainting", "evaluate", "tasks", "analysis", "estimator"],
)
def test_equations_fields_and_measures_know_no_files(part: str) -> None:
    for path in (p for p in MODULES if part_of(p) == part):
        code = ast.parse(path.read_text(encoding="utf-8"))
        called = {n.func.id for n in ast.walk(code) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not called & {"Path", "open"}, named(path)


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{named(path)} has {lines} lines, more than {LONGEST}: split it by idea"


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_say_what_they_are(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{named(path)} has no docstring"


TESTS = Path(__file__).parent
# Kernels that one op calls are compared with the plain equations in the tests of that op; the last three are compiled
# into other kernels and run nowhere else.
TESTED_THROUGH_OPS = {
    **{name: name for name in ("filter_bank", "gabor", "grid_lookup", "grid_mlp", "multiplicative", "polynomial")},
    "fourier_mlp": "fourier_mlp",
    "level_filter": "grid_lookup",
    "mlp_step": "fourier_mlp",
    "jit": "mlp",
    "llvm": "matmul",
    "rowwise": "mlp",
}


@pytest.mark.parametrize("path", [p for p in MODULES if p.name != "__init__.py"], ids=named)
def test_every_module_has_its_test(path: Path) -> None:
    """`src/alfilter/A/B.py` is tested by `tests/A/test_B.py`."""
    place = path.relative_to(SOURCE)
    if place.parts[0] == "kernels" and place.stem in TESTED_THROUGH_OPS:
        place = Path("ops") / f"{TESTED_THROUGH_OPS[place.stem]}.py"
    test = TESTS / place.parent / f"test_{place.name}"
    assert test.is_file(), f"{named(path)} has no test: expected {test.relative_to(TESTS.parent)}"


def test_the_rules_catch_what_they_should(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("from alfilter import cli\ndef f():\n    import alfilter.networks.mlp\n    import torch\n")
    assert imports_of(module) == {"cli", "networks.mlp"}
    assert not may_import("encodings", "networks.mlp")
    assert not may_import("training", "tasks.fit")
    assert may_import("training", "tasks.base")
    assert may_import("core", "core.grid")
    assert may_import("render", "report.figures.canvas")
    assert not may_import("report", "render.run.audio")
    assert may_import("report", "runs.folder")
    assert not may_import("report", "runs.fitting")
    assert may_import("experiments", "analysis.ntk")
    assert not may_import("runs", "experiments.study")
