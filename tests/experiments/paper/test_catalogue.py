"""The paper's tables and figures: declared at two scales, drawn, and judged by their lines."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import alfilter, complaint, picture
from tests.support.result_lines import fitting_lines, line, scene, written

from alfilter.errors import UserError
from alfilter.experiments import EXPERIMENTS, PAPER, Experiment, Run, run_experiment
from alfilter.experiments.artifacts import busiest, png, structure
from alfilter.experiments.data import FILES, fetch_missing
from alfilter.experiments.paper import image_fitting as fitting
from alfilter.experiments.paper import method_traits as traits
from alfilter.experiments.paper import sparse as gaps
from alfilter.experiments.paper.claims import CLAIMS, FAILS, HOLDS, MISSING, judged
from alfilter.experiments.paper.printed import IMAGE_FITTING, SHAPES, TRAITS, beside
from alfilter.report.figures.paper import write_plates
from alfilter.signals import write_image

TINY = {"width": 8, "depth": 1, "levels": 2}


def test_printed_values_are_the_papers() -> None:
    assert IMAGE_FITTING.values["al-sine"] == {"psnr": 46.27, "ssim": 0.9938, "lpips": 2.41e-3}
    assert SHAPES.values["al-sine"]["chamfer"] == pytest.approx(1.73e-6, abs=5e-9)
    assert [round(SHAPES.values[row]["iou"], 3) for row in ("pe-mlp", "siren", "bacon", "al-sine")] == [
        *(0.977, 0.980, 0.976, 0.983)
    ]
    assert TRAITS["finer"] == ("partial", "no", "partial")


def test_the_full_protocol_is_the_papers(tmp_path: Path) -> None:
    for number in (0, 31):
        picture(_made(tmp_path / "div2k") / f"{number:02d}.png")
    study = PAPER["image-fitting"].at("paper", str(tmp_path))
    runs = study.runs()
    assert study.name == "image-fitting-paper"
    assert [run.image for run in runs[::6]] == ["div2k/00.png", "div2k/31.png"]  # those that are there
    assert all(
        (run.preset, run.size, dict(run.settings), dict(run.training)) == ("paper", None, {}, {}) for run in runs
    )
    assert len(fitting.full_runs()) == 32 * 6


def test_the_twin_of_every_item_says_what_it_shrinks() -> None:
    for item in PAPER.values():
        assert item.full is None or "shrinks" in item.shrinks
        assert item.at("cpu", "nowhere").name in EXPERIMENTS


def test_mistakes_about_scale_and_data(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of the 32 files of the paper's protocol"):
        PAPER["crops"].at("paper", str(tmp_path))
    with pytest.raises(UserError, match="one scale only"):
        PAPER["methods"].at("paper", str(tmp_path))
    assert "no table or figure of the paper" in complaint("experiment", "wallclock", "--scale", "paper")


def test_a_tiny_twin_from_declaration_to_figure(tmp_path: Path) -> None:
    write_image(_made(tmp_path / "div2k") / "a.png", scene())
    rows = [
        Run(row, "div2k/a.png", method=method, size=20, settings=TINY, training={"steps": 3})
        for row, method in (("al-sine", "al-sine"), ("pe-mlp", "pe-mlp"))
    ]
    study = replace(fitting.STUDY, runs=lambda: rows)
    lines = run_experiment(study, str(tmp_path), str(tmp_path), 1, lambda text: None)
    assert [len(each["curve"]) for each in lines] == [3, 3]
    assert set(lines[0]["pictures"]) == {"reference", "reconstruction", "alpha"}
    assert lines[0]["alpha"]["channels"] == 8
    assert "| al-sine | 1 |" in study.summarise(lines)
    for item in ("convergence", "crops", "alpha-maps"):
        (path,) = write_plates(item, study.name, lines, tmp_path)
        assert path.name == f"image-fitting-figure-{item}.png"
        assert path.read_bytes().startswith(b"\x89PNG")


def test_a_tiny_picture_with_gaps(tmp_path: Path) -> None:
    write_image(_made(tmp_path / "div2k") / "a.png", scene())
    rows = [
        Run(
            gaps.PAPER, "div2k/a.png", size=20, observe="random:0.35", settings=TINY, training={"steps": 2, "tv": 1e-3}
        ),
        Run(gaps.LINEAR, "div2k/a.png", method=gaps.LINEAR, size=20, observe="random:0.35"),
    ]
    study = Experiment("sparse", "?", lambda: rows, gaps.summarise, gaps.execute)
    lines = run_experiment(study, str(tmp_path), str(tmp_path), 1, lambda text: None)
    assert "observed" in lines[0]["pictures"]
    assert lines[1]["heldout"]["psnr"] > 15
    assert "alpha" not in lines[1]
    (path,) = write_plates("sparse", "sparse", lines, tmp_path)
    assert path.stat().st_size > 1000


def test_local_parameters_are_found_where_they_are() -> None:
    made = {name: traits.execute(Run(name, "", method=name, size=16), "", 1)["metrics"] for name in ("siren", "diner")}
    assert made["siren"]["local_share"] == 0
    assert made["siren"]["median_reach"] > 0.9


def test_views_draw_and_claims_speak_from_finished_lines(tmp_path: Path) -> None:
    written(tmp_path / "image-fitting.jsonl", fitting_lines())
    told = alfilter("experiment", "claims", "--out", tmp_path)
    assert told.code == 0
    rows = {row.split(" | ")[0].strip("| "): row for row in told.out.splitlines()[2:]}
    assert "**holds**" in rows["Ours-Sine is best in PSNR, SSIM and LPIPS"]
    assert f"**{MISSING}**" in rows["Ours-Sine has the best average Chamfer and IoU"]
    assert "no result lines in" in complaint("experiment", "claims", "--out", tmp_path / "none")


def verdict(claim: str, **lines: list[dict[str, object]]) -> str:
    found = {name.replace("_", "-"): rows for name, rows in lines.items()}
    return next(v.verdict for v in judged(found) if v.claim.startswith(claim))


def test_verdicts_follow_the_numbers() -> None:
    lines = fitting_lines()
    assert verdict("Both variants reach", image_fitting=lines) == HOLDS
    for each in lines:
        if each["group"] == "diner":
            each["metrics"] = {"psnr": 36.0, "ssim": 0.99, "lpips": 0.2}
    assert verdict("Both variants reach", image_fitting=lines) == "holds only for al-sine"
    assert verdict("Ours-Sine is best", image_fitting=lines) == "holds only for some of the measures"
    assert verdict("Ours-ReLU is competitive", image_fitting=lines) == "holds only against siren, mfn"
    assert verdict("Ours-ReLU outperforms", image_fitting=[e for e in lines if e["group"] != "al-relu"]) == MISSING


def test_verdicts_about_gaps() -> None:
    values = {gaps.PAPER: 12.0, gaps.LOW: 21.0, gaps.PLAIN: 11.0, gaps.LINEAR: 21.2}
    lines = [
        line(row, observe=observe, heldout={"psnr": value}, alpha=row == gaps.PAPER)
        for observe in gaps.OBSERVED
        for row, value in values.items()
    ]
    assert verdict("At 5 %", sparse=lines) == "holds only if α starts low"
    assert verdict("Total variation", sparse=lines) == HOLDS
    assert verdict("From sparse pixels", sparse=lines) == HOLDS  # α is high exactly where the scene has stripes
    values[gaps.LOW] = 15.0
    worse = [{**each, "heldout": {"psnr": values[str(each["group"])]}} for each in lines]
    assert verdict("At 5 %", sparse=worse) == FAILS


def test_every_claim_names_a_command_that_exists() -> None:
    assert all(claim.item in PAPER and claim.study in EXPERIMENTS for claim in CLAIMS)


def test_the_full_scale_speaks_before_the_twin() -> None:
    low = [{**each, "metrics": {"psnr": 1.0, "ssim": 0.1, "lpips": 0.9}} for each in fitting_lines()]
    found = judged({"image-fitting": low, "image-fitting-paper": fitting_lines()})
    best = next(v for v in found if v.claim.startswith("Ours-Sine is best"))
    assert (best.verdict, best.command) == (HOLDS, "alfilter experiment image-fitting --scale paper")


def test_alpha_structure_by_hand() -> None:
    target = scene()
    below = np.zeros(target.shape[:2])
    below[len(below) // 2 :] = 1.0
    assert structure(below, target) > 0.7
    assert structure(-below, target) < -0.7
    assert structure(np.ones_like(below), target) == 0.0


def test_the_busiest_square() -> None:
    target = np.zeros((20, 30, 3))
    target[12:18:2, 20:26] = 1.0
    top, left = busiest(target, 8)
    assert 8 <= top <= 12
    assert 17 <= left <= 22
    assert busiest(target, 40) == (0, 0)


def test_a_kept_picture_is_a_png() -> None:
    assert png(np.zeros((3, 4))).startswith("iVBORw0KGgo")


def test_the_printed_value_stands_beside_ours() -> None:
    rows = beside(fitting_lines(), {"psnr": ("PSNR, dB", 2)}, IMAGE_FITTING).splitlines()
    assert rows[-1] == "| al-sine | 2 | 40.50 ± 0.71 | 46.27 |"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A real server on this machine that hands out a folder."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *given: object) -> None:
            del given

    folder = _made(tmp_path / "served")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_address[1]}", folder
        made.shutdown()


def test_missing_data_is_fetched_and_checked(server: tuple[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("pooch")
    address, folder = server
    (folder / "a.png").write_bytes(b"picture")
    digest = hashlib.sha256(b"picture").hexdigest()
    data = tmp_path / "data"
    assert fetch_missing(str(data), {"div2k/a.png": (f"{address}/a.png", digest)}) == [data / "div2k" / "a.png"]
    assert (data / "div2k" / "a.png").read_bytes() == b"picture"
    assert fetch_missing(str(data), {"div2k/a.png": ("http://no.example", digest)}) == []  # it is there
    with pytest.raises(UserError, match=r"cannot fetch b\.png .*; put the file into"):
        fetch_missing(str(data), {"b.png": (f"{address}/a.png", "0" * 64)})
    assert not (data / "b.png").exists()
    assert len(FILES) == 16


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
