"""What `--json` prints is what docs/reference/result.schema.json says, for every command and for mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import TINY, alfilter, picture, without_figures

from alfilter.cli import parser

jsonschema = pytest.importorskip("jsonschema")
SCHEMA: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs/reference/result.schema.json").read_text())


def check(out: str, name: str) -> dict[str, Any]:
    """The one object of an output, which must be of the named kind."""
    assert out.count("\n") == 1
    line: dict[str, Any] = json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    jsonschema.Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name}"}]}).validate(line)
    jsonschema.Draft202012Validator(SCHEMA).validate(line)
    return line


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("json")
    picture(home / "photo.png")
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        words = ("--steps", "3", "--until", "90", "--observe", "every:2", "--out", home / "run", "--json", *TINY)
        check(alfilter("fit", home / "photo.png", *words).out, "fit")
    return home


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("folder", ["run", "run/model.safetensors"])
def test_commands_that_read_a_model(folder: str, home: Path) -> None:
    """A run folder and its model file alike."""
    model = home / folder
    assert check(alfilter("eval", model, home / "photo.png", "--json").out, "eval")["heldout"] is not None
    assert check(alfilter("info", model, "--json").out, "info")["method"] == "al-grid"
    pytest.importorskip("onnx")
    check(alfilter("export", model, home / "a.onnx", "--json").out, "export")


def test_a_shape(home: Path) -> None:
    pytest.importorskip("trimesh")
    import trimesh

    import alfilter as al

    ball = trimesh.creation.icosphere(1)
    task = al.SdfTask.from_array(ball.vertices, ball.faces, block=2000)
    field = al.build("al-relu", in_dim=3, out_dim=1, width=16, depth=1, levels=2, grid=2)
    al.fit(field, task, steps=150, batch=400)
    al.save(field, home / "ball.safetensors")
    check(alfilter("mesh", home / "ball.safetensors", home / "a.ply", "--resolution", "16", "--json").out, "mesh")


def test_lists() -> None:
    assert len(check(alfilter("methods", "--json").out, "methods")["methods"]) > 10
    check(alfilter("methods", "siren", "--json").out, "options")
    assert "image-fitting" in check(alfilter("experiment", "--list", "--json").out, "studies")["studies"]


def test_a_study(tmp_path: Path) -> None:
    check(alfilter("experiment", "responses", "--out", tmp_path, "--workers", "1", "--json").out, "study")
    check(alfilter("experiment", "claims", "--out", tmp_path, "--json").out, "claims")


def test_the_kernel(home: Path, tmp_path: Path) -> None:
    words = ("--points", "16", "--out", tmp_path / "ntk", "--json")
    check(alfilter("ntk", home / "run", *words).out, "ntk")


def with_json() -> list[str]:
    """The commands that take `--json`."""
    commands = next(action for action in parser()._actions if action.dest == "==SUPPRESS==" or action.choices)
    assert commands.choices is not None
    return sorted(name for name, each in dict(commands.choices).items() if "--json" in each.options())  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", with_json())
def test_mistakes(command: str, tmp_path: Path) -> None:
    """An unknown option, a missing file: one object, one line on stderr, exit code 2."""
    for words in ((command, "--wrong", "--json"), (command, "not-there", "not-there.x", "--json")):
        code, out, err = alfilter(*words)
        assert (code, err.count("\n")) == (2, 1), err
        assert check(out, "error")["error"] == err.removeprefix("alfilter: ").rstrip("\n")


def test_a_number_that_is_none_is_null(home: Path, tmp_path: Path) -> None:
    flat = tmp_path / "flat.npy"
    np.save(flat, np.zeros((8, 8, 3), np.uint8))
    line = check(alfilter("eval", home / "run", flat, "--json").out, "eval")
    assert line["metrics"]["psnr"] is not None
