"""Studies skip what is finished, survive a cut line, and give the same numbers serially and side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import complaint, picture

from alfilter.errors import UserError
from alfilter.experiments import STUDIES, Run, Study, images, run_study, table
from alfilter.experiments.data import MissingData
from alfilter.experiments.paper.image_fitting import full_runs
from alfilter.signals import write_image

TINY = {"width": 8, "depth": 1, "levels": 2, "grid": 4}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    write_image(tmp_path / "a.png", rng.random((12, 14, 3)))
    return tmp_path


def study(count: int = 3) -> Study:
    def runs() -> list[Run]:
        return [
            Run("row", "a.png", size=8, observe="every:2", seed=s, settings=TINY, training={"steps": 3})
            for s in range(count)
        ]

    return Study("tiny", runs, lambda lines: table(lines, {"dB": lambda line: line["metrics"]["psnr"]}))


def quiet(line: str) -> None:
    del line


def test_finished_runs_are_not_repeated(data: Path) -> None:
    messages: list[str] = []
    first = run_study(study(2), str(data), str(data / "out"), 1, quiet)
    again = run_study(study(3), str(data), str(data / "out"), 1, messages.append)
    assert again[:2] == first
    assert "2 finished already" in messages[0]
    assert len((data / "out" / "tiny.jsonl").read_text().splitlines()) == 3


def test_a_line_cut_by_a_crash_is_computed_again(data: Path) -> None:
    first = run_study(study(2), str(data), str(data / "out"), 1, quiet)
    path = data / "out" / "tiny.jsonl"
    path.write_text(path.read_text()[:-40] + "\n")
    again = run_study(study(2), str(data), str(data / "out"), 1, quiet)
    assert [line["metrics"] for line in again] == [line["metrics"] for line in first]


def test_side_by_side_equals_serial(data: Path) -> None:
    import torch

    threads = torch.get_num_threads()
    serial = run_study(study(2), str(data), str(data / "one"), 1, quiet)
    torch.set_num_threads(threads)
    parallel = run_study(study(2), str(data), str(data / "two"), 2, quiet)
    assert [line["metrics"]["psnr"] for line in parallel] == pytest.approx([line["metrics"]["psnr"] for line in serial])


def test_the_table_shows_mean_and_spread() -> None:
    values = (("a", "x", 1.0), ("a", "x", 3.0), ("a", "y", 6.0), ("a", "y", 8.0), ("b", "x", 5.0))
    lines = [{"group": group, "image": image, "v": v} for group, image, v in values]
    rows = table(lines, {"value": lambda line: line["v"]}).splitlines()
    assert rows[2:] == ["| a | 4 | 4.50 ± 3.54 (± 1.41) |", "| b | 1 | 5.00 |"]


def test_the_data_folder_must_be_there() -> None:
    with pytest.raises(MissingData, match=r"^the data folder /no/such/folder lacks a\.png$"):
        run_study(study(), "/no/such/folder", None, 1, quiet)


def test_a_table_writes_equal_counts_as_counts() -> None:
    lines = [{"group": "a", "image": str(x), "n": 1234.0, "x": x} for x in (1.0, 2.0)]
    text = table(lines, {"n": lambda line: line["n"], "x": lambda line: line["x"]})
    assert "| a | 2 | 1,234 | 1.50 ± 0.71 |" in text


def test_every_run_is_checked_before_the_first_starts(data: Path) -> None:
    def late(**wrong: object) -> Study:
        runs = [Run("fine", "a.png", settings=TINY), Run("wrong", "a.png", **wrong)]  # type: ignore[arg-type]
        return Study("late", lambda: runs, str)

    for wrong, message in (
        ({"method": "sirne"}, "did you mean 'siren'"),
        ({"preset": "papr"}, "no preset 'papr'"),
        ({"settings": {"widht": 8}}, "did you mean 'width'"),
        ({"training": {"stps": 8}}, "did you mean 'steps'"),
    ):
        with pytest.raises(UserError, match=message):
            run_study(late(**wrong), str(data), str(data / "out"), 1, quiet)
    assert not (data / "out").exists()


def test_runs_may_ask_for_the_data_folder(data: Path) -> None:
    def runs(folder: str) -> list[Run]:
        return [Run("row", name, size=8, settings=TINY, training={"steps": 2}) for name in images(folder)]

    lines = run_study(Study("all", runs, str), str(data), str(data / "out"), 1, quiet)
    assert [line["image"] for line in lines] == ["a.png"]


def test_the_full_protocol_is_the_papers(tmp_path: Path) -> None:
    (tmp_path / "div2k").mkdir()
    for number in (0, 31):
        picture(tmp_path / "div2k" / f"{number:02d}.png")
    paper = STUDIES["image-fitting"].at_scale("paper", str(tmp_path))
    runs = paper.runs_in(str(tmp_path))
    assert paper.name == "image-fitting-paper"
    assert [run.image for run in runs[::6]] == ["div2k/00.png", "div2k/31.png"]  # those that are there
    assert all(
        (run.preset, run.size, dict(run.settings), dict(run.training)) == ("paper", None, {}, {}) for run in runs
    )
    assert len(full_runs()) == 32 * 6


def test_half_halves_everything_that_counts_samples(tmp_path: Path) -> None:
    (tmp_path / "div2k").mkdir()
    for number in range(6):
        picture(tmp_path / "div2k" / f"{number:02d}.png")
    half = STUDIES["crops"].at_scale("half", str(tmp_path))
    runs = half.runs_in(str(tmp_path))
    assert (half.name, len(runs)) == ("image-fitting-half", 4 * 7)  # six methods, and al-sine without its filter
    own = {run.group: dict(run.settings) for run in runs[:7]}
    assert all((run.size, run.settings["width"], dict(run.training)) == (256, 128, {}) for run in runs)
    assert (own["siren"]["omega"], own["mfn"]["scale"], own["pe-mlp"]["levels"]) == (15, 128, 7)
    assert (own["al-sine"]["levels"], own["al-sine"]["bandwidth"]) == (7, 17.5)
    assert "omega" not in own["al-sine"]  # it multiplies channels, and there are as many


@pytest.mark.parametrize("name", [name for name, study in STUDIES.declared.items() if study.paper])
def test_every_twin_says_what_it_shrinks(name: str) -> None:
    declared = STUDIES[name]
    assert declared.full is None or declared.shrinks.startswith("shrinks")
    assert declared.at_scale("cpu", "nowhere").name == declared.name
    assert declared.full is None or declared.needs


def test_mistakes_about_scale_and_data(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"lacks div2k/00\.png and 31 more files"):
        STUDIES["crops"].at_scale("paper", str(tmp_path))
    with pytest.raises(UserError, match="methods has no scale paper; expected cpu"):
        STUDIES["methods"].at_scale("paper", str(tmp_path))
    assert "tuning has no scale paper" in complaint("experiment", "tuning", "--scale", "paper")
