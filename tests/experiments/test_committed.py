"""Result lines kept with the code: small, whole otherwise, the last of a repeated run."""

from __future__ import annotations

import json
from pathlib import Path

from alfilter.experiments.committed import committed_lines, compact, keep, read_lines
from alfilter.experiments.paper.image_fitting import psnr_at


def line(name: str, psnr: float) -> dict[str, object]:
    curve = [[step, psnr] for step in range(1, 41)]
    return {"name": name, "metrics": {"psnr": psnr}, "curve": curve, "pictures": {"reference": "…"}}


def write(folder: Path, *lines: dict[str, object]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "mine.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return folder


def test_pictures_go_and_a_curve_keeps_a_few_points_and_its_end() -> None:
    small = compact(line("a", 1.0))
    assert "pictures" not in small
    assert [step for step, _ in small["curve"]] == [1, 2, 5, 10, 20, 30, 40]


def test_a_curve_keeps_the_last_points_not_after_some_steps() -> None:
    """So that its value at step 500 is not that of step 100."""
    sparse = [[step, float(step)] for step in (1, 90, 99, 100, 150, 398, 447, 497, 546, 992, 1041)]
    curve = compact({"curve": sparse})["curve"]
    assert [step for step, _ in curve] == [1, 100, 150, 497, 992, 1041]
    assert psnr_at({"curve": curve}, 500) == 497.0
    assert compact({"curve": []})["curve"] == []


def test_a_repeated_run_replaces_what_was_kept(tmp_path: Path) -> None:
    store = write(tmp_path / "store", line("a", 1.0), line("b", 2.0))
    source = write(tmp_path / "source", line("b", 3.0), line("b", 4.0), line("c", 5.0))
    path = keep(source, "mine", store)
    assert path == store / "mine.jsonl"
    assert {each["name"]: each["metrics"]["psnr"] for each in read_lines(store)["mine"]} == {"a": 1, "b": 4, "c": 5}


def test_what_is_no_result_line_is_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path, {"name": "a"}, {"metrics": {}}, line("b", 1.0))
    with (folder / "mine.jsonl").open("a") as file:
        file.write('{"name": "cut')
    assert [each["name"] for each in read_lines(folder)["mine"]] == ["b"]


def test_the_committed_lines_are_small() -> None:
    for lines in committed_lines().values():
        assert all(len(json.dumps(each)) < 50_000 for each in lines)
