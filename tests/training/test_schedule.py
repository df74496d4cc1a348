"""How the learning rates fall."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alfilter.config import Training
from alfilter.methods import METHODS, training
from alfilter.training.schedule import rate_factor


@pytest.mark.parametrize(
    ("step", "factor"),
    [(0, 1.0), (1249, 1.0), (1250, 0.6), (2499, 0.6), (2500, 0.6**2), (3750, 0.6**3), (4999, 0.6**3), (5000, 0.6**4)],
)
def test_the_papers_steps(step: int, factor: float) -> None:
    assert rate_factor(training("al-sine", "paper"), step, step / 5000) == factor


@pytest.mark.parametrize("name", ["al-sine", "al-relu", "pe-mlp", "fourier-features"])
def test_the_papers_recipe(name: str) -> None:
    """Adam (no weight decay, the usual memory), 1e-3 and 3e-3, 0.6 every 1,250 of 5,000, all samples, plain MSE."""
    assert training(name, "paper") == Training(
        steps=5000, budget=None, clock="wall", batch=None, lr=1e-3, lr_encoding=3e-3, schedule="step", decay=0.6,
        every=1250, weight_decay=0.0, beta2=0.999, tv=0.0,
    )  # fmt: skip


def test_every_method_has_a_default_and_all_but_our_own_the_papers() -> None:
    assert all("default" in row.presets for row in METHODS.values())
    assert [name for name, row in METHODS.items() if "paper" not in row.presets] == ["al-grid"]


@given(st.floats(0, 1))
def test_cosine_ends_at_its_decay(decay: float) -> None:
    setting = Training(schedule="cosine", decay=decay)
    assert rate_factor(setting, 0, 0.0) == pytest.approx(1)
    assert rate_factor(setting, 1, 0.5) == pytest.approx((1 + decay) / 2)
    assert rate_factor(setting, 9, 1.0) == pytest.approx(decay)


@given(
    st.sampled_from(["step", "cosine", "constant"]),
    st.floats(0, 1),
    st.integers(1, 2000),
    st.integers(1, 10_000),
    st.data(),
)
def test_bounds_and_fall(schedule: str, decay: float, every: int, steps: int, data: st.DataObject) -> None:
    setting = Training(steps=steps, schedule=schedule, decay=decay, every=every)
    first, second = sorted(data.draw(st.tuples(st.integers(0, steps), st.integers(0, steps))))
    early, late = (rate_factor(setting, step, step / steps) for step in (first, second))
    assert 0 <= early <= 1 + 1e-12
    assert 0 <= late <= 1 + 1e-12
    assert late <= early + 1e-12
