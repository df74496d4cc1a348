"""A few rounds of the long campaign: nothing stays open."""

from __future__ import annotations

from pathlib import Path

from benchmarks.campaigns.originals import make_originals
from benchmarks.campaigns.soak import FITS, children, one_round, open_files


def test_files_and_processes_are_given_back(tmp_path: Path) -> None:
    make_originals(tmp_path)
    one_round(tmp_path)  # every kind of signal once
    fits = tuple(fit for fit in FITS if fit[1] == "al-sine")
    files, processes = open_files(), children()
    one_round(tmp_path, fits)
    assert open_files() <= files
    assert children() <= processes
