"""The training loop: what it minimises, when it ends, what it says, and how it fails."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from alfilter.config import Training
from alfilter.errors import UserError
from alfilter.methods import Field, build, training
from alfilter.signals import GridSignal
from alfilter.tasks import ImageTask
from alfilter.training import NotFinite, Progress, fit, load, save
from alfilter.training.loop import make_optimiser


def task(height: int = 6, width: int = 7, channels: int = 3) -> ImageTask:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, channels), dtype=np.uint8)
    return ImageTask(GridSignal(pixels))


def field(name: str = "al-sine", out_dim: int = 3, **options: Any) -> Field:
    sizes = {"width": 8, "depth": 1} | ({"levels": 2, "grid": 4} if name.startswith("al-") else {})
    return build(name, in_dim=2, out_dim=out_dim, **{**sizes, **options})


def test_two_steps_by_hand() -> None:
    """Plain Adam on the mean squared error of all pixels, the α grid at its own rate, the rate falling after a step."""
    mine, theirs = field(), field()
    job = task()
    fit(mine, job, training=Training(steps=3, every=2, decay=0.5))
    theirs.set_range(torch.zeros(3), torch.ones(3))
    optimiser = torch.optim.Adam(
        [{"params": theirs.network.parameters(), "lr": 1e-3}, {"params": theirs.encoding.parameters(), "lr": 3e-3}]
    )
    for step in range(3):
        for group, rate in zip(optimiser.param_groups, (1e-3, 3e-3), strict=True):
            group["lr"] = rate * 0.5 ** (step // 2)
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(theirs(job.signal.coords()), job.signal.values()).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-6)


def test_history_and_progress() -> None:
    seen: list[Progress] = []
    lines: list[dict[str, Any]] = []
    started: list[int] = []
    result = fit(field(), task(), steps=125, on_progress=seen.append, on_log=lines.append, on_start=started.append)
    assert (result.steps, result.finished, started) == (125, True, [0])
    assert result.history == lines
    assert [line["step"] for line in lines] == [*range(1, 101), 110, 120, 125]
    assert [p.step for p in seen] == list(range(1, 126))
    assert seen[-1].done == 1.0
    assert seen[-1].left == 0.0
    assert all(p.rate > 0 and p.left >= 0 and p.quality == pytest.approx(-10 * math.log10(p.loss)) for p in seen)
    assert lines[-1]["psnr"] > lines[0]["psnr"]
    assert set(lines[0]) == {"step", "loss", "psnr", "lr", "seconds"}


def test_without_a_setting_the_preset_of_the_field_is_used() -> None:
    job = task()
    default = fit(build("siren", in_dim=2, out_dim=3, preset="default", width=8, depth=1), job, steps=2, seed=1)
    paper = fit(build("siren", in_dim=2, out_dim=3, preset="paper", width=8, depth=1), job, steps=2, seed=1)
    assert default.history[0]["lr"] != paper.history[0]["lr"]


def test_a_model_read_back_keeps_its_preset(tmp_path: Path) -> None:
    save(build("siren", in_dim=2, out_dim=3, preset="default", width=8, depth=1), tmp_path / "m")
    assert load(tmp_path / "m").spec["preset"] == "default"


def test_a_budget_ends_with_the_step_that_passes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def tick(progress: Progress) -> None:
        clock[0] += 0.25

    result = fit(field(), task(), budget=2.0, on_progress=tick)
    assert result.finished
    assert 2.0 <= result.seconds <= 2.0 + 0.25
    assert result.steps == 9


def test_the_clock_of_the_cores_ignores_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, cores = [0.0], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: wall[0])
    monkeypatch.setattr(time, "process_time", lambda: cores[0])
    monkeypatch.setattr(
        "alfilter.runtime.fork_pool._worker_seconds", 0.0
    )  # of fits before, whose fractions would round
    monkeypatch.setattr("alfilter.training.loop.workers", lambda: 2)

    def tick(progress: Progress) -> None:
        wall[0] += 5.0  # another program has the cores most of the time
        cores[0] += 0.5

    result = fit(field(), task(), budget=2.0, clock="cpu", on_progress=tick)
    assert result.finished
    assert result.steps == 9
    assert 2.0 <= result.seconds <= 2.25


def test_a_request_to_stop_is_heard() -> None:
    result = fit(field(), task(), steps=50, should_stop=lambda: True)
    assert (result.steps, result.finished) == (0, False)


@pytest.mark.parametrize("steps", [1, 2, 60])
def test_a_huge_rate_keeps_the_last_good_field(steps: int, tmp_path: Path) -> None:
    model = field("pe-mlp", depth=3)
    file = tmp_path / "checkpoint"
    with pytest.raises(NotFinite, match=r"NaN or infinite at step \d+; a smaller learning rate.*lr=1e\+37"):
        fit(model, task(), steps=steps, lr=1e37, checkpoint=file, checkpoint_every=0)
    assert torch.isfinite(model(torch.rand(50, 2))).all()
    save(model, tmp_path / "m")
    load(tmp_path / "m")
    if file.exists():  # a checkpoint is only ever written of a state whose loss was finite
        again = field("pe-mlp", depth=3)
        with pytest.raises(NotFinite):
            fit(again, task(), steps=steps, lr=1e37, checkpoint=file)
        assert torch.isfinite(again(torch.rand(50, 2))).all()


def test_nan_in_the_signal_is_named() -> None:
    values = np.random.default_rng(0).random((5, 5, 1)).astype("float32")
    values[2, 2] = np.nan
    with pytest.raises(NotFinite, match=r"at step 1, before anything was learned; remove NaN from the signal"):
        fit(field(out_dim=1), ImageTask(GridSignal(values)), steps=5)


def test_sizes_that_do_not_match() -> None:
    with pytest.raises(UserError, match=r"maps 2 → 3 numbers, the signal 2 → 1; build it with in_dim=2, out_dim=1"):
        fit(field(), task(channels=1), steps=1)
    with pytest.raises(UserError, match="training has no option 'stepps'; did you mean 'steps'"):
        fit(field(), task(), stepps=1)


def test_what_is_no_field_or_no_task_is_named() -> None:
    with pytest.raises(UserError, match=r"fit takes a task, got ndarray; alfilter.ImageTask.from_file"):
        fit(field(), np.zeros((4, 4)))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"fit takes a task, got str; "):
        fit(field(), "photo.png")  # type: ignore[arg-type]
    with pytest.raises(UserError, match=r"fit takes a field, got str; alfilter.build"):
        fit("siren", task())  # type: ignore[arg-type]


def test_the_optimiser_has_a_group_for_each_part() -> None:
    optimiser = make_optimiser(field(), Training(weight_decay=0.1))
    assert [(g.lr, g.weight_decay) for g in optimiser.groups] == [(1e-3, 0.1), (3e-3, 0.0)]
    assert (optimiser.beta1, optimiser.beta2, optimiser.epsilon) == (0.9, 0.999, 1e-8)
    assert make_optimiser(field("siren"), Training()).groups[1].params == []


def test_alpha_stays_in_its_bounds() -> None:
    model = field(bandwidth=2.0)
    fit(model, task(), steps=20, lr_encoding=100.0, lr=0.0)
    alpha = model.state_dict()["encoding.alpha.values"]
    assert float(alpha.min()) >= -1.0
    assert float(alpha.max()) <= 8 - 1 + 1.0


def test_a_larger_network_takes_smaller_steps_where_its_preset_says_so() -> None:
    """A preset's rate is for its own size; a rate that the user names is taken as it is."""
    small, large = (build("siren", in_dim=3, out_dim=1, width=width, depth=depth) for width, depth in ((8, 2), (16, 4)))
    setting = Training(lr=1e-2, neurons=16)
    assert [make_optimiser(field, setting).groups[0].lr for field in (small, large)] == [1e-2, 0.25e-2]
    assert make_optimiser(large, Training(lr=1e-2)).groups[0].lr == 1e-2
    assert training("siren", "default-shape").neurons == 480
    assert training("siren", "default-shape", lr=1e-3).neurons is None
    assert training("siren", "default-shape", lr=1e-3, neurons=9).neurons == 9


def test_a_budget_does_not_count_the_filling(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the gaps take: all of the budget is for steps, and the first has the whole learning rate."""
    pixels = np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)
    job = ImageTask(GridSignal(pixels), observe="every:2")
    ticks = iter(range(10_000))  # seconds: one at every look at the clock
    filled = job.filling_of

    def slow(rows: torch.Tensor) -> Any:
        for _ in range(100):
            next(ticks)
        return filled(rows)

    monkeypatch.setattr(job, "filling_of", slow)
    monkeypatch.setattr("alfilter.training.loop.clock", lambda setting: lambda: float(next(ticks)))
    setting = Training(budget=8.0, fill=1.0, schedule="cosine")
    first, *_, last = fit(field(), job, training=setting).history
    assert (last["step"], first["lr"]["network"]) == (8, setting.lr)
