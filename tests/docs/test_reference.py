"""The reference pages say what the code says."""

from __future__ import annotations

import argparse
import re
import runpy

import pytest
from tests.support.documents import DOCS, PAGES, ROOT, name_of

import alfilter
from alfilter.cli import parser

# what belongs to the making of the project, not to its readers
RESIDUE = re.compile(r"\.\./shared|\b20\d\d-\d\d-\d\d\b|\*\*(met|missed)|\(asked|\| asked|asked for:", re.I)


def test_the_options_page_is_up_to_date() -> None:
    script = runpy.run_path(str(DOCS / "options.py"))
    page = (DOCS / "reference" / "options.md").read_text(encoding="utf-8")
    assert page.endswith(script["START"] + script["tables"]()), "run: python docs/options.py"


def test_the_command_line_page_names_every_flag() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    top = next(action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    for command, sub in top.choices.items():
        assert f"`alfilter {command}" in page
        flags = {flag for flag in sub._option_string_actions if flag.startswith("--")} - {"--help"}
        assert {flag for flag in flags if not re.search(rf"{flag}\b", page)} == set(), command


def test_the_command_line_page_names_every_environment_variable() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    variables = {name for text in sources for name in re.findall(r"[\"'](ALFILTER_[A-Z]+)[\"']", text)}
    assert variables
    assert {name for name in variables if f"`{name}`" not in page} == set()


@pytest.mark.parametrize("script", ["options.py", "pictures.py", "screenshots.py"])
def test_the_scripts_of_the_documents_import_what_exists(script: str) -> None:
    assert runpy.run_path(str(DOCS / script), run_name="imported")["__doc__"]


def test_the_public_names_are_listed() -> None:
    page = (DOCS / "reference" / "api" / "public.md").read_text(encoding="utf-8")
    assert {name for name in alfilter.__all__ if f"`al.{name}`" not in page} == {"__version__"}


def test_the_documents_speak_to_strangers() -> None:
    for page in PAGES:
        assert not RESIDUE.search(page.read_text(encoding="utf-8")), name_of(page)


def test_every_equation_of_core_is_one_hop_away() -> None:
    """The page of equations names a function of every module of `core`, and nothing that does not exist."""
    page = (DOCS / "concepts" / "equations.md").read_text(encoding="utf-8")
    named = set(re.findall(r"#alfilter\.([\w.]+)\)", page))
    for name in named:
        module, _, attribute = name.rpartition(".")
        owner = module if module.split(".")[-1].islower() else module.rpartition(".")[0]
        assert re.search(
            rf"^\s*(def|class) {attribute}\b",
            (ROOT / "src" / "alfilter" / f"{owner.replace('.', '/')}.py").read_text("utf-8"),
            re.M,
        ), name
    modules = {path.stem for path in (ROOT / "src" / "alfilter" / "core").glob("*.py")} - {"__init__"}
    assert modules == {name.split(".")[1] for name in named if name.startswith("core.")}


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80
