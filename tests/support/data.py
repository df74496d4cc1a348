"""Real files that some tests read, where there are any."""

from __future__ import annotations

from pathlib import Path

import pytest

from alfilter.experiments.data import data_folder

FOLDERS = (Path(data_folder()), Path(__file__).resolve().parents[3] / "shared" / "data")  # the latter: by the checkout


def shared_data(*parts: str) -> Path:
    """A file of the data folder, or a skip that says which one is missing."""
    for folder in FOLDERS:
        if folder.joinpath(*parts).exists():
            return folder.joinpath(*parts)
    pytest.skip(f"needs the data file {'/'.join(parts)}")
