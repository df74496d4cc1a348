"""What a finished run shows: its files by the kind of its signal."""

from __future__ import annotations

from importlib import import_module

from alfilter.render.run.finish import PICTURES_OF
from alfilter.tasks.open import TASKS


def test_every_kind_has_a_function_that_draws_it() -> None:
    assert set(PICTURES_OF) == {*TASKS, "points"}
    for place in PICTURES_OF.values():
        module, _, name = place.partition(":")
        assert callable(getattr(import_module(module), name))
