"""Settings of all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from tests.support.compiling import compiled_once

# the first example of a property may compile a kernel, and a busy machine is no failure: no deadline;
# the same examples every time, so that a red run is red for everybody
settings.register_profile("alfilter", deadline=None, derandomize=True)
settings.load_profile("alfilter")

# no test depends on which code is the fastest here; those of the choice itself take this away
os.environ.setdefault("ALFILTER_KERNELS", "blocks")


@pytest.fixture(scope="session", autouse=True)
def kernels() -> Iterator[None]:
    """Those that the cache lacks are compiled apart."""
    with compiled_once():
        yield
