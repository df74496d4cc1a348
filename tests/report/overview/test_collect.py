"""What a report finds below the paths it is given."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import TINY, alfilter, picture, without_figures
from tests.support.result_lines import fitting_lines, line, written

from alfilter.errors import UserError
from alfilter.report.overview.collect import FOLDERS, collect
from alfilter.runs.folder import read_result_lines


def test_run_folders_and_studies_are_found_below_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    photo = picture(tmp_path / "photo.png")
    assert alfilter("fit", photo, "--steps", "2", *TINY, "--out", tmp_path / "runs" / "one", "--quiet").code == 0
    written(tmp_path / "runs" / "experiments" / "image-fitting.jsonl", fitting_lines())
    result = collect([tmp_path / "runs"]).studies()
    assert {name: len(entries) for name, entries in result.items()} == {"image-fitting": 12, FOLDERS: 1}
    entry = result[FOLDERS][0]
    assert (entry.group, entry.method, entry.signal, entry.steps) == ("one", "al-grid", "photo.png", 2)
    assert set(entry.pictures) == {"reference", "reconstruction"}
    assert len(entry.curve) == 2


def test_a_cut_line_is_left_out_and_doubles_count_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [line("x", psnr=1.0), line("x", psnr=2.0)])
    path.write_text(path.read_text() + '{"name": "cut", "metr')
    assert [each["metrics"]["psnr"] for each in read_result_lines(path)] == [2.0]
    assert len(collect([path, path]).entries) == 1


def test_figures_belong_to_the_study_with_the_longest_name(tmp_path: Path) -> None:
    for name in ("ntk", "ntk-deep"):
        written(tmp_path / f"{name}.jsonl", [line(name)])
    data = b"\x89PNG\r\n\x1a\n" + bytes(30)
    (tmp_path / "ntk-deep-spectrum.png").write_bytes(data)
    (tmp_path / "ntk.png").write_bytes(data)
    (tmp_path / "other.png").write_bytes(data)
    figures = collect([tmp_path]).figures
    assert {study: list(names) for study, names in figures.items()} == {
        "ntk": ["ntk"],
        "ntk-deep": ["ntk-deep-spectrum"],
    }


def test_a_damaged_run_folder_is_shown_with_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"seed": "x", "signal": 5, "method": []}')
    (tmp_path / "metrics.json").write_text('{"metrics": "x", "heldout": {"psnr": "x"}, "steps": [], "seconds": {}}')
    entry = collect([tmp_path]).entries[0]
    assert (entry.seed, entry.metrics, entry.heldout, entry.steps, entry.seconds) == (0, {}, {}, None, None)
    assert alfilter("report", tmp_path, "--format", "markdown").code == 0


def test_a_picture_that_is_none_is_left_out(tmp_path: Path) -> None:
    bad = line("x", pictures={"reference": "###", "reconstruction": 3, "alpha": "aGVsbG8="})
    assert collect([written(tmp_path / "a.jsonl", [bad])]).entries[0].pictures == {}


@pytest.mark.parametrize(
    "damage",
    [
        {"seed": "x"}, {"seed": float("nan")}, {"size": {}}, {"pictures": 5}, {"heldout": "x"}, {"alpha": {"low": "x"}},
        {"alpha": [1]}, {"steps": "many"}, {"seconds": []}, {"metrics": {"psnr": {}, "ssim": True}}, {"image": {}},
        {"curve": [[1, True], [float("inf"), 2], [1, 10**400]]}, {"params": 10**400}, {"detail": 3}, {"meaning": []},
        {"metrics": {"psnr": 1.7e308}}, {"heldout": {"psnr": -1e200}}, {"seconds": 1e308},
    ],
)  # fmt: skip
def test_what_is_not_of_its_type_is_missing(damage: dict[str, Any], tmp_path: Path) -> None:
    """Beside whole lines of a study that the paper's claims are judged by."""
    first, *others = fitting_lines()
    path = written(tmp_path / "image-fitting.jsonl", [{**first, **damage}, *others])
    for form in ("html", "markdown"):
        code, _, err = alfilter("report", path, "--format", form, "--by-signal", "--out", tmp_path / "out")
        assert code == 0, err


@pytest.mark.parametrize(("content", "message"), [(None, "there is no"), ("", "no finished run and no result line")])
def test_mistakes_are_told_in_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "folder"
    if content is not None:
        path.mkdir()
        (path / "note.jsonl").write_text(json.dumps({"no": "result"}))
    with pytest.raises(UserError, match=message):
        collect([path])
