"""`until`: the running mean, the closer look, and when it is taken again."""

from __future__ import annotations

import numpy as np
import pytest

import alfilter as al
from alfilter.config import Training
from alfilter.training.checkpoint import Position
from alfilter.training.stopping import measured_quality, record_quality, seems_reached, update_running_loss

SETTING = Training(until=30.0, micro=16)


def task() -> al.ImageTask:
    return al.ImageTask.from_array(np.random.default_rng(0).random((8, 8)))


def test_the_mean_is_plain_at_first_and_then_forgets() -> None:
    position = Position()
    losses = [4.0, 2.0, 0.0, 6.0]
    for loss in losses:
        position.step += 1
        update_running_loss(position, loss)
    assert position.smoothed == pytest.approx(np.mean(losses))
    position.step = 1000
    update_running_loss(position, 23.0)
    assert position.smoothed == pytest.approx(3.0 + (23.0 - 3.0) / 20)


def test_one_lucky_batch_does_not_end_a_run() -> None:
    position = Position(step=100, smoothed=1e-2)
    update_running_loss(position, 1e-9)
    assert not seems_reached(position, task(), SETTING)


def test_a_look_that_disappoints_is_not_repeated_at_once() -> None:
    position = Position(step=100, smoothed=1e-4)
    assert seems_reached(position, task(), SETTING)
    record_quality(position, 29.9, SETTING)
    assert (position.reached, position.look_at) == (False, 120)
    assert not seems_reached(position, task(), SETTING)
    position.step = 120
    assert seems_reached(position, task(), SETTING)
    record_quality(position, 30.0, SETTING)
    assert position.reached


def test_without_a_goal_nothing_is_looked_at() -> None:
    assert not seems_reached(Position(step=9, smoothed=0.0), task(), Training())


def test_the_measured_quality_is_the_psnr_of_the_seen_samples() -> None:
    image = task()
    field = al.build("siren", in_dim=2, out_dim=1, width=8, depth=1)
    error = (field(image.signal.coords()) - image.signal.values()).square().mean().item()
    assert measured_quality(field, image, SETTING, 0) == pytest.approx(-10 * np.log10(error), rel=1e-5)
