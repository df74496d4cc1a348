"""Scores as JSON holds them."""

from __future__ import annotations

import json
import math

from alfilter.evaluate.scores import Scores


def test_what_is_not_finite_becomes_null() -> None:
    scores = Scores({"psnr": math.inf, "ssim": 1.0}, {"psnr": 20.5, "rmse": math.nan})
    plain = {"metrics": {"psnr": None, "ssim": 1.0}, "heldout": {"psnr": 20.5, "rmse": None}, "estimate": None}
    assert json.loads(json.dumps(scores.plain(), allow_nan=False)) == plain
    assert Scores({}, None).plain() == {"metrics": {}, "heldout": None, "estimate": None}


def test_scores_compare_by_their_numbers() -> None:
    assert Scores({"psnr": 1.0}, None, samples=[1]) == Scores({"psnr": 1.0}, None, samples=[2])
    assert Scores({"psnr": 1.0}, None) != Scores({"psnr": 1.0}, {})
