"""One registry of figures, whose names are studies."""

from __future__ import annotations

from pathlib import Path

import pytest

from alfilter.experiments import STUDIES
from alfilter.report.figures.registry import FIGURES, write_figure


def test_every_figure_belongs_to_a_study() -> None:
    assert set(FIGURES) <= set(STUDIES)


def test_a_figure_is_called_like_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIGURES, "crops", lambda lines: b"drawn")
    monkeypatch.setitem(FIGURES, "sparse", lambda lines: b"drawn")
    monkeypatch.setitem(FIGURES, "shape-views", lambda lines: b"")
    cases = {
        ("crops", "image-fitting"): "image-fitting-figure-crops.png",
        ("crops", "image-fitting-paper"): "image-fitting-paper-figure-crops.png",
        ("sparse", "sparse"): "sparse.png",
        ("sparse", "sparse-paper"): "sparse-paper.png",
        ("crops", "crops-half"): "crops-half.png",
    }
    for (name, study), file in cases.items():
        path = write_figure(name, study, [], tmp_path)
        assert path == tmp_path / file
        assert path.read_bytes() == b"drawn"
    assert write_figure("shape-views", "shape-views", [], tmp_path) is None
    assert write_figure("methods-table", "methods-table", [], tmp_path) is None
