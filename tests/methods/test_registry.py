"""A method of one's own under a name: registered by a program, or provided by an installed package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support.commands import picture
from tests.support.examples import EXAMPLES, load_module

import alfilter as al
from alfilter.errors import UserError
from alfilter.methods import METHODS, Method, Preset, method, parameter_count, registry, sized, training
from alfilter.methods.registry import Registry
from alfilter.networks import MLP
from alfilter.testing import check_encoding, check_method

PACKAGE = EXAMPLES / "03_your_own_method"
OWN = load_module(PACKAGE / "powers_field.py")
POWERS: Method = OWN.POWERS
SOURCE = Path(al.__file__).parents[1]


def relu(in_dim: int, width: int = 4) -> MLP:
    return MLP(in_dim, 1, width=width, depth=1, activation="relu")


@pytest.fixture
def powers() -> Iterator[str]:
    al.register("powers", POWERS)
    yield "powers"
    METHODS.unregister("powers")


# ── in one program ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_registered_method_keeps_the_contract(powers: str) -> None:
    check_encoding(lambda in_dim: OWN.Powers(in_dim, 3))
    check_method(powers, degree=3, width=8)


def test_a_registered_method_is_known_everywhere(powers: str) -> None:
    assert powers in METHODS
    assert list(METHODS)[-1] == powers
    assert len(METHODS) == len(list(METHODS))
    assert method(powers) is POWERS
    assert training(powers, "wide").lr == 1e-3
    options = sized(powers, 2000, in_dim=2, out_dim=3)
    built = al.build(powers, in_dim=2, out_dim=3, **options)
    assert parameter_count(built) == pytest.approx(2000, rel=0.05)
    with pytest.raises(UserError, match=r"there is no method 'power'; did you mean 'powers'\?"):
        al.build("power", in_dim=2, out_dim=3)
    with pytest.raises(UserError, match=r"powers has no option 'degre'; did you mean 'degree'\?"):
        al.build(powers, in_dim=2, out_dim=3, degre=2)


def test_registering_again_replaces(powers: str) -> None:
    al.register(powers, replace(POWERS, title="Another"))
    assert METHODS[powers].title == "Another"


@dataclass(frozen=True)
class NoDefault:
    width: int


@dataclass(frozen=True)
class Unsupported:
    sizes: list[int] = field(default_factory=list)


@pytest.mark.parametrize(
    ("name", "row", "text"),
    [
        ("siren", POWERS, "'siren' is a method of alfilter itself; register yours under another name"),
        ("two words", POWERS, "a method's name is made of letters, digits, '-', '_' and '.', got 'two words'"),
        ("mine", OWN.build, "method 'mine' must be an alfilter.methods.Method, got function"),
        ("mine", replace(POWERS, options=int), "the options of mine must be a dataclass, got <class 'int'>"),
        ("mine", replace(POWERS, options=NoDefault), "mine option 'width' must have a default"),
        ("mine", replace(POWERS, options=Unsupported), "mine option 'sizes' must be int, float, str, bool or tuple"),
        ("mine", replace(POWERS, build=None), "method 'mine': build must be a function, got NoneType"),
        (
            "mine",
            replace(POWERS, presets={"paper": Preset()}),
            "method 'mine' needs a preset named 'default', got paper",
        ),
        ("mine", replace(POWERS, presets={"default": {}}), "preset 'default' of mine must be a Preset, got dict"),
        (
            "mine",
            replace(POWERS, presets={"default": Preset({"degre": 2})}),
            "preset 'default' of mine: mine has no option 'degre'; did you mean 'degree'?",
        ),
        (
            "mine",
            replace(POWERS, presets={"default": Preset({}, {"lrs": 2})}),
            "preset 'default' of mine: training has no option 'lrs'; did you mean 'lr'?",
        ),
    ],
)
def test_what_cannot_work_is_refused_at_once(name: str, row: Any, text: str) -> None:
    with pytest.raises(UserError) as refusal:
        al.register(name, row)
    assert text in str(refusal.value)
    assert "mine" not in METHODS


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (lambda: OWN.Powers(2, 3), r"must build a pair \(Encoding, Network\), got Powers"),
        (lambda: (relu(2, 4), OWN.Powers(2, 3)), r"got \('MLP', 'Powers'\)"),
        (lambda: (OWN.Powers(2, 3), relu(5, 4)), "an encoding of 6 features into a network of 5"),
    ],
)
def test_what_a_method_builds_is_checked(powers: str, parts: Callable[[], Any], text: str) -> None:
    al.register(powers, replace(POWERS, build=lambda *_: parts()))
    with pytest.raises(UserError, match=text):
        al.build(powers, in_dim=2, out_dim=1)


# ── its model file ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_field_made_by_hand_is_saved_by_the_name_of_its_method(powers: str, tmp_path: Path) -> None:
    encoding = OWN.Powers(2, 3)
    by_hand = al.Field(encoding, relu(6, 8))
    with pytest.raises(UserError, match="made by hand; register its method"):
        al.save(by_hand, tmp_path / "m.safetensors")
    al.save(by_hand, tmp_path / "m.safetensors", method=powers, degree=3, width=8)
    x = torch.rand(5, 2)
    assert torch.equal(al.load(tmp_path / "m.safetensors")(x), by_hand(x))


def test_settings_of_another_field_are_refused(powers: str, tmp_path: Path) -> None:
    by_hand = al.Field(OWN.Powers(2, 3), relu(6, 8))
    with pytest.raises(
        UserError, match=r"powers builds another field .* has shape \(9, 6\), this field shape \(8, 6\)"
    ):
        al.save(by_hand, tmp_path / "m.safetensors", method=powers, degree=3, width=9)
    with pytest.raises(UserError, match="'degree' is a setting of a method; name it too"):
        al.save(by_hand, tmp_path / "m.safetensors", degree=3)


def test_a_model_file_names_the_module_that_registers_its_method(tmp_path: Path) -> None:
    al.register("passing", POWERS)
    al.save(al.build("passing", in_dim=2, out_dim=1), tmp_path / "m.safetensors")
    METHODS.unregister("passing")
    with pytest.raises(
        UserError, match="unknown method 'passing'; it was registered by the module powers_field; import"
    ):
        al.load(tmp_path / "m.safetensors")


def test_model_files_of_the_librarys_own_methods_name_nobody() -> None:
    assert "provider" not in al.build("siren", in_dim=2, out_dim=1).spec


# ── as an installed package ──────────────────────────────────────────────────────────────────────────────────────────


def install(folder: Path, entry: str, module: str, package: str) -> Path:
    """A package with one entry point and one module, laid out in a folder as an installer does."""
    information = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(f"[alfilter.methods]\n{entry}\n", encoding="utf-8")
    name = entry.partition("=")[2].strip().partition(":")[0]
    (folder / f"{name}.py").write_text(module, encoding="utf-8")
    return folder


def command(*words: str | Path, packages: Path) -> subprocess.CompletedProcess[str]:
    """`alfilter …` in a process of its own, with the packages in that folder installed."""
    paths = os.pathsep.join((str(packages), str(SOURCE)))
    return subprocess.run(
        [sys.executable, "-m", "alfilter", *map(str, words)],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's package, installed by pip."""
    folder = tmp_path_factory.mktemp("site")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", str(folder), str(PACKAGE)],
        check=True,
    )
    return folder


def test_a_package_brings_its_method_to_every_command(installed: Path, tmp_path: Path) -> None:
    photo, out = picture(tmp_path / "photo.png"), tmp_path / "run"
    fit = command("fit", photo, "--method", "powers", "--params", "300", "--steps", "30", "--preset", "wide", "--set",
                  "degree=3", "--out", out, "--json", packages=installed)  # fmt: skip
    assert fit.returncode == 0, fit.stderr
    result = json.loads(fit.stdout)
    assert (result["method"], result["steps"]) == ("powers", 30)
    assert result["params"] == pytest.approx(300, rel=0.05)
    scores = command("eval", out / "model.safetensors", photo, "--json", packages=installed)
    assert json.loads(scores.stdout)["metrics"]["psnr"] == pytest.approx(result["metrics"]["psnr"], abs=1e-3)
    without = command("eval", out / "model.safetensors", photo, packages=tmp_path / "nothing")
    assert without.returncode == 2
    assert without.stderr.count("\n") == 1
    assert "unknown method 'powers'; the file says that the package powers-field provides it" in without.stderr
    assert "if you trust that package, pip install powers-field" in without.stderr


STUDY = """
import alfilter as al
from alfilter.experiments import Run, Study, table

al.register("inline", al.METHODS["powers"])

def runs():
    few = {"training": {"steps": 4}, "settings": {"width": 8}}
    return [Run(name, "photo.png", method=name, preset="default", **few) for name in ("powers", "inline")]

STUDY = Study("own", runs, lambda lines: table(lines, {}))
"""


def test_own_methods_work_in_studies(installed: Path, tmp_path: Path) -> None:
    """One of an installed package, and one that the study's own file registers, which every worker reads."""
    picture(tmp_path / "photo.png")
    (tmp_path / "study.py").write_text(STUDY, encoding="utf-8")
    places = ("--data", tmp_path, "--out", tmp_path / "out")
    study = command("experiment", tmp_path / "study.py", *places, "--workers", "2", "--json", packages=installed)
    assert study.returncode == 0, study.stderr
    lines = json.loads(study.stdout)["lines"]
    assert sorted(line["method"] for line in lines) == ["inline", "powers"]
    assert lines[0]["metrics"] == lines[1]["metrics"]


BROKEN = {
    "raises": (
        "raises = raises_module:METHOD",
        "import not_there\n",
        "ModuleNotFoundError: No module named 'not_there'",
    ),
    "exits": ("exits = exits_module:METHOD", "raise SystemExit(3)\n", "SystemExit: 3"),
    "absent": ("absent = absent_module:METHOD", "", "has no attribute 'METHOD'"),
    "number": ("number = number_module:METHOD", "METHOD = 3\n", "must be an alfilter.methods.Method, got int"),
}
BUILDS_WRONGLY = """
from dataclasses import replace
from alfilter.methods import METHODS
METHOD = replace(METHODS["siren"], build=lambda *_: 1 / 0)
"""


@pytest.fixture(scope="module")
def with_broken(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example beside packages that fail, each in its own way."""
    folder = tmp_path_factory.mktemp("broken")
    for path in installed.iterdir():
        (folder / path.name).symlink_to(path)
    for name, (entry, module, _) in BROKEN.items():
        install(folder, entry, module, f"{name}-package")
    install(folder, "divides = divides_module:METHOD", BUILDS_WRONGLY, "divides-package")
    install(folder, "twice = first_module:METHOD", BUILDS_WRONGLY, "first-package")
    install(folder, "twice = second_module:METHOD", BUILDS_WRONGLY, "second-package")
    install(folder, "siren = taken_module:METHOD", "raise RuntimeError('never imported')", "taken-package")
    return folder


def test_broken_packages_are_one_line_each_and_break_nothing_else(with_broken: Path) -> None:
    listing = command("methods", "--json", packages=with_broken)
    assert listing.returncode == 0, listing.stderr
    names = [row["method"] for row in json.loads(listing.stdout)["methods"]]
    assert names == [*(name for name in METHODS if METHODS.provider(name) is None), "powers"]
    lines = listing.stderr.splitlines()
    assert len(lines) == len(BROKEN) + 2, listing.stderr
    for name, (_, _, reason) in BROKEN.items():
        (line,) = (line for line in lines if f"method {name!r}" in line)
        assert line.startswith(f"alfilter: method {name!r} of the package {name}-package cannot be used (")
        assert reason in line
    assert any("'twice' is provided by first-package and second-package; uninstall all but one" in x for x in lines)
    assert any("'divides' of the package divides-package cannot be built (ZeroDivisionError" in x for x in lines)


def test_a_broken_method_that_is_asked_for_says_why(with_broken: Path, tmp_path: Path) -> None:
    photo = picture(tmp_path / "photo.png")
    fit = command("fit", photo, "--method", "raises", "--out", tmp_path / "run", packages=with_broken)
    assert (fit.returncode, fit.stdout) == (2, "")
    assert fit.stderr.count("\n") == 1, fit.stderr
    assert BROKEN["raises"][2] in fit.stderr


def test_help_reads_no_entry_point(with_broken: Path) -> None:
    code = (
        "import sys, importlib.metadata as metadata\n"
        "metadata.entry_points = lambda **_: sys.exit('entry points were read')\n"
        "from alfilter.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "assert not {'torch', 'raises_module', 'powers_field', 'alfilter.methods'} & set(sys.modules)\n"
    )
    paths = os.pathsep.join((str(with_broken), str(SOURCE)))
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "COMMAND" in run.stdout


def test_entry_points_are_read_for_other_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: reads.append(group) or ())
    methods = Registry({"siren": METHODS["siren"]})
    methods.register("powers", POWERS)
    assert methods["siren"] is METHODS["siren"]
    assert methods["powers"] is POWERS
    assert methods.provider("siren") is None
    assert reads == []
    assert "others" not in methods
    assert list(methods) == ["siren", "powers"]
    assert reads == ["alfilter.methods"]


def test_a_program_is_named_by_its_file(tmp_path: Path) -> None:
    """What `__main__` registered can be imported later by the file's name."""
    main = tmp_path / "own_method.py"
    more = "import alfilter as al\nal.register('mine', POWERS)\nprint(al.build('mine', in_dim=2, out_dim=1).spec)\n"
    main.write_text((PACKAGE / "powers_field.py").read_text() + more)
    done = subprocess.run([sys.executable, main], capture_output=True, text=True, check=True)
    assert "'provider': 'module own_method'" in done.stdout
