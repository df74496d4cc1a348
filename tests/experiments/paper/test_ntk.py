"""The NTK figure, tiny."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alfilter.analysis import ntk_facts
from alfilter.experiments.paper import ntk as tangent
from alfilter.experiments.verdicts import FAILS, HOLDS, UNDECIDED
from alfilter.report.figures.registry import FIGURES
from alfilter.signals import write_image

TINY: dict[str, Any] = {"width": 8, "depth": 1}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "div2k").mkdir()
    for name in tangent.IMAGES:
        write_image(tmp_path / name, rng.random((24, 24, 3)))
    return tmp_path


def test_ntk(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent, "POINTS", 64)
    monkeypatch.setattr(ntk_facts, "LINE", 64)
    runs = [replace(run, size=16, settings={**run.settings, **TINY}) for run in tangent.runs() if run.seed < 2]
    lines = [tangent.execute(run, str(data)) for run in runs]
    assert len(lines) == 2 * len(tangent.ROWS)
    without = next(line for line in lines if line["group"] == "al-sine without filter")
    assert without["spectra"]["both"] == without["spectra"]["network"]  # an open filter has no slope in α
    text = tangent.summarise(lines)
    for pair in ("| al-relu | pe-mlp |", "| al-sine | pe-mlp |", "| al-sine | al-sine without filter |"):
        assert pair in text
    assert text.count("the tail does not grow") == 3
    assert text.count("at the start; n = 2 | `alfilter experiment ntk`") == 9
    assert FIGURES["ntk"](lines).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("scales", "firsts", "verdicts"),
    [
        ((2.0, 2.1), (0.1, 0.12), [HOLDS, HOLDS, HOLDS]),
        ((0.5, 0.6), (0.4, 0.42), [FAILS, FAILS, FAILS]),
        ((0.9, 1.2), (0.1, 0.4), [UNDECIDED, UNDECIDED, UNDECIDED]),  # on both sides of the network without a filter
        ((1.02, 1.03), (0.296, 0.297), [UNDECIDED, UNDECIDED, UNDECIDED]),  # the same to the eye
        ((1.02, 1.03), (0.318, 0.32), [UNDECIDED, UNDECIDED, UNDECIDED]),  # 6 % more
        ((2.0,), (0.1,), [UNDECIDED, UNDECIDED, UNDECIDED]),  # one seed
    ],
)
def test_verdicts_follow_the_seeds(scales: tuple[float, ...], firsts: tuple[float, ...], verdicts: list[str]) -> None:
    """A spectrum whose middle is scaled, the tail left as it was, against one that is not."""
    ranks = 256
    lines: list[dict[str, Any]] = []
    for seed, (scale, first) in enumerate(zip(scales, firsts, strict=True)):
        plain = [1.0] + [0.5] * (ranks - 1)
        middle = [1.0] + [0.5 * scale if ranks // 64 <= k < ranks // 2 else 0.5 for k in range(1, ranks)]
        for group, spectrum, share in (("al-relu", middle, first), ("pe-mlp", plain, 0.3)):
            spectra = {"both": spectrum, "network": spectrum}
            lines.append({"group": group, "seed": seed, "spectra": spectra, "metrics": {"first": share}})
    judged = tangent._verdicts(lines)
    assert [each.verdict for each in judged] == verdicts
    assert all(each.claim.startswith("al-relu against pe-mlp: ") for each in judged)
