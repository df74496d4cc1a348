"""The order of the image table: its runs and its table."""

from __future__ import annotations

from alfilter.experiments.paper.order import IMAGES, METHODS, runs, summarise


def test_every_method_on_every_picture_once() -> None:
    declared = runs()
    assert {(run.method, run.image) for run in declared} == {(m, i) for m in METHODS for i in IMAGES}
    assert len({run.name for run in declared}) == len(declared) == len(METHODS) * len(IMAGES)
    assert {run.preset for run in declared} == {"paper"}


def test_the_table_by_hand() -> None:
    lines = [
        {"group": "siren", "metrics": {"psnr": psnr, "ssim": 0.5}, "params": 100, "seed": 0} for psnr in (20.0, 30.0)
    ]
    table = summarise(lines)
    assert table.splitlines()[0] == "| setting | runs | PSNR, dB | SSIM | parameters |"
    assert "| siren | 2 | 25.00 (± " in table
