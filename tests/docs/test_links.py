"""Links, anchors, paths and names in the documents lead somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.documents import DOCS, PAGES, ROOT, anchors, code_spans, links, name_of

import alfilter

SOURCE = Path(alfilter.__file__).parent
API = DOCS / "reference" / "api"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_and_anchors_exist(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{name_of(page)}: no file {path}"
        if anchor and file.parent == API:
            assert home(anchor), f"{name_of(page)}: {anchor} is not defined there"
            assert f"::: alfilter.{file.stem}\n" in file.read_text(encoding="utf-8"), target
            assert anchor.startswith(f"alfilter.{file.stem}"), target
        elif anchor:
            assert anchor in anchors(file), f"{name_of(page)}: {name_of(file)} has no #{anchor}"


def resolve(name: str) -> Any:
    """The module, or the attribute of one, behind a dotted name; None if there is none."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            target: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            target = getattr(target, part, None)
        return target
    return None


def home(name: str) -> bool:
    """Whether a dotted name is a module, or stands where it is defined: the API pages have no other anchors."""
    target = resolve(name)
    where = getattr(target, "__module__", name)
    return target is not None and name.startswith(where)


def test_a_wrong_name_does_not_resolve() -> None:
    assert home("alfilter.core.fourier.dyadic_encoding")
    assert not home("alfilter.core.fourier.triadic_encoding")
    assert resolve("alfilter.core.fourier.Tensor")
    assert not home("alfilter.core.fourier.Tensor")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_source_files_and_names_in_the_text_exist(page: Path) -> None:
    for span in code_spans(page):
        if re.fullmatch(r"[\w/]+/\w+\.py", span):
            assert (ROOT / span).is_file() or (SOURCE / span).is_file(), f"{name_of(page)}: no file {span}"
        elif re.fullmatch(r"alfilter(\.\w+)+", span):
            assert resolve(span) is not None, f"{name_of(page)}: there is no {span}"


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    missing = [page for page in DOCS.rglob("*.md") if f" {page.relative_to(DOCS).as_posix()}\n" not in navigation]
    assert not missing


def test_every_package_has_an_api_page() -> None:
    described = {
        name for page in API.glob("*.md") for name in re.findall(r"^::: alfilter\.(\w+)$", page.read_text(), re.M)
    }
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"commands"}
    assert packages <= described
