"""A few damaged files of every kind, read by the command line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from benchmarks.campaigns.damaged import cases, fault
from benchmarks.campaigns.mutate import MUTATIONS, mutated
from benchmarks.campaigns.originals import kinds, make_originals
from benchmarks.campaigns.processes import Outcome
from tests.support.commands import alfilter, without_figures

for module in ("trimesh", "av", "pyarrow"):
    pytest.importorskip(module, reason=f"needs {module} for its kind of file")


def test_damaged_files_get_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    home, work = tmp_path / "originals", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    quick = [kind for kind in make_originals(home) if not kind.file.startswith(("run/", "ball", "ascii"))]
    for (kind, folder, _), words, _ in cases(quick, home, work, 2 * len(quick), random.Random(5)):
        monkeypatch.chdir(folder)
        wrong = fault(Outcome(*alfilter(*words), 0.0), folder, kind)
        assert wrong is None, (kind.name, wrong)


def test_what_a_fault_is(tmp_path: Path) -> None:
    kind = kinds()[0]
    assert fault(Outcome(0, "{}", "", 0.1), tmp_path, kind) is None
    assert fault(Outcome(2, "", "alfilter: no; try again\n", 0.1), tmp_path, kind) is None
    assert (
        fault(Outcome(2, "", "alfilter: no\nmore\n", 0.1), tmp_path, kind)
        == "2 lines on stderr, 0 characters on stdout"
    )
    assert fault(Outcome(0, "", "Traceback (most recent call last)\n", 0.1), tmp_path, kind) is not None
    assert fault(Outcome(-11, "", "", 0.1), tmp_path, kind) == "exit code -11"
    (tmp_path / ".out.png.12345678.png").write_bytes(b"half")
    assert fault(Outcome(0, "", "", 0.1), tmp_path, kind) == "left .out.png.12345678.png"


def test_damage_is_repeatable_and_real() -> None:
    data = bytes(range(256)) * 4
    first, again = (mutated(data, data, random.Random(3)) for _ in range(2))
    assert first == again
    assert sum(mutated(data, data, random.Random(seed)) != data for seed in range(50)) > 40
    for mutation in MUTATIONS:
        mutation(bytearray(b"7"), random.Random(0))  # the shortest file
