"""Every Python block of the documents runs, and every command in them is one that the real parser accepts."""

from __future__ import annotations

import argparse
import re
import tomllib
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.support.documents import PAGES, ROOT, Block, blocks, code_spans, commands, name_of

from alfilter import build, save
from alfilter.cli import main, parser
from alfilter.commands import COMMANDS
from alfilter.config import Training, parse_options
from alfilter.methods import METHODS
from alfilter.runs.request import suited_method
from alfilter.signals import observed, sample
from alfilter.signals.observe import PARTS

SHELL = [block for page in PAGES for block in blocks(page, "sh")]
PYTHON = [page for page in PAGES if blocks(page, "python")]
ONNX = ROOT / "docs" / "guide" / "export.md"  # its block reads a graph


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working folder that holds the files which the blocks name, small enough to be fitted in a second.

    A method that a block registers is forgotten afterwards.
    """
    known = set(METHODS)
    face = Image.fromarray(sample("astronaut").data[100:116, 210:226].copy())
    face.save(tmp_path / "photo.png")
    (tmp_path / "photos").mkdir()
    face.save(tmp_path / "photos" / "one.png")
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes((np.sin(np.arange(800) / 9) * 9000).astype("<i2").tobytes())
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in set(METHODS) - known:
        METHODS.unregister(name)


@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_python_blocks_run(page: Path, folder: Path) -> None:
    if page == ONNX:
        save(build("al-sine", in_dim=2, out_dim=3, samples=(16, 16), width=16), "photo.safetensors")
        assert main(["export", "photo.safetensors", "photo.onnx"]) == 0
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        exec(compile(block.text, str(block), "exec"), namespace)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_shell_blocks_are_accepted(block: Block, studies: set[str]) -> None:
    for words in commands(block):
        program, *rest = words
        if program == "alfilter":
            check_command(rest, studies)
        elif "alfilter.cli" in words:
            check_command(words[words.index("alfilter.cli") + 1 :], studies)
        elif program == "make":
            assert re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M), words
        elif program in ("pip", "python"):
            check_install(rest) if program == "pip" else check_script(rest[0])
        else:
            assert program in ("ray", "source", ".venv/bin/pytest", ".venv/bin/ruff", ".venv/bin/mypy"), words


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_and_scripts_in_the_text_exist(page: Path, studies: set[str]) -> None:
    for span in code_spans(page):
        program, *words = span.split()
        if program == "alfilter" and words not in ([], ["--help"]) and "…" not in span:
            flags = known_flags(words[0])
            assert {word for word in words if word.startswith("--")} <= flags, span
            if words[0] == "experiment" and words[1:] and not words[1].startswith("-") and words[1] != "NAME":
                assert words[1] in studies or words[1].endswith(".py"), span
        elif program == "python" and words[:1] != ["-m"] and words:
            check_script(words[0])
        elif program == "pip":
            check_install([word.strip("'") for word in words])


def test_a_renamed_flag_would_fail() -> None:
    with pytest.raises(Exception, match="unrecognized arguments: --stepz"):
        check_command(["fit", "photo.png", "--stepz", "3"], set())
    with pytest.raises(Exception, match="no option 'levelz'"):
        check_command(["fit", "photo.png", "--set", "levelz=3"], set())


@pytest.fixture
def studies(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The names of the studies, as the command lists them."""
    assert main(["experiment", "--list"]) == 0
    return {line.split()[0] for line in capsys.readouterr().out.splitlines()}


def check_command(words: list[str], studies: set[str]) -> None:
    """The words parse, and the methods, presets, options, settings and studies they name exist."""
    if words == ["--help"] or words[1:] == ["--help"]:
        assert words[0] == "--help" or words[0] in COMMANDS
        return
    arguments = parser().parse_args(words)
    if words[0] == "experiment" and arguments.name:
        assert arguments.name in studies or arguments.name.endswith(".py"), words
    method = getattr(arguments, "method", None)
    if words[0] == "fit" and method is None:
        method = suited_method(arguments.preset)
    if method is None:
        return
    row = METHODS[method]
    parse_options(row.options, getattr(arguments, "options", []), method)
    parse_options(Training, getattr(arguments, "train", []), "training")
    assert getattr(arguments, "preset", None) in {None, *row.presets}, words
    observe = getattr(arguments, "observe", None) or "all"
    shape = (8,) * PARTS[kind][0] if (kind := observe.partition(":")[0]) in PARTS else (8, 8)
    assert kind == "mask" or observed(observe, shape).any(), words


def check_install(words: list[str]) -> None:
    """The extras that a pip command names exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {extra for word in words for group in re.findall(r"\[([\w,]+)\]", word) for extra in group.split(",")}
    assert extras <= set(project["optional-dependencies"]), words


def check_script(name: str) -> None:
    """A script of the repository, by its path."""
    assert (ROOT / name).is_file(), name


def known_flags(command: str) -> set[str]:
    """Every flag of one command."""
    top = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    assert command in top.choices, command
    return set(top.choices[command]._option_string_actions)
