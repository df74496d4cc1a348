"""A run folder under every ill treatment: killed, stopped, resumed, repeated, pointed at the wrong thing."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.support.commands import TINY, alfilter, complaint, picture, start, without_figures
from tests.support.waiting import wait_for

from alfilter.errors import UserError
from alfilter.methods import training
from alfilter.runs import FitRequest, run
from alfilter.runs.folder import read_history
from alfilter.runtime.fork_pool import can_fork
from alfilter.training import load
from alfilter.training.modelfile import read_tensors

forks = pytest.mark.skipif(not can_fork(), reason="workers are threads on this machine")
FULL, MINI = ("--train", "batch=none"), ("--train", "batch=17")


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return picture(tmp_path / "photo.png")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)


def fit_words(photo: Path, folder: Path, steps: int = 20, *more: str) -> list[str]:
    return [
        "fit",
        str(photo),
        "--method",
        "al-sine",
        "--out",
        str(folder),
        "--steps",
        str(steps),
        "--json",
        *TINY,
        *more,
    ]


def model_bytes(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.usefixtures("quick")
def test_same_seed_same_file(photo: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert alfilter(*fit_words(photo, tmp_path / name, 20, "--seed", seed)).code == 0
    assert model_bytes(tmp_path / "a") == model_bytes(tmp_path / "b") != model_bytes(tmp_path / "c")


# ── killed, stopped, resumed ─────────────────────────────────────────────────────────────────────────────────────────

STEPS = 400


def logged(folder: Path) -> int:
    try:
        return (folder / "history.jsonl").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def finish(words: list[str], log: Path) -> None:
    process = start(words, log)
    process.join(90)
    assert process.exitcode == 0, log.read_text()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    """What full-batch and mini-batch runs give when nothing happens to them: signal and folder."""
    home = tmp_path_factory.mktemp("undisturbed")
    photo = picture(home / "photo.png")
    for name, batch in (("full", FULL), ("mini", MINI)):
        finish(fit_words(photo, home / name, STEPS, *batch), home / "log")
    return {"full": (photo, home / "full"), "mini": (photo, home / "mini")}


@pytest.mark.parametrize(("name", "batch"), [("full", FULL), ("mini", MINI)])
def test_killed_at_any_moment(
    name: str, batch: tuple[str, ...], undisturbed: dict[str, tuple[Path, Path]], tmp_path: Path
) -> None:
    photo, reference = undisturbed[name]
    folder, log = tmp_path / "out", tmp_path / "log"
    words = [*fit_words(photo, folder, STEPS, *batch), "--resume", "--checkpoint-every", "0"]
    chance = random.Random(name)
    early, late = sorted(chance.sample(range(1, 125), 2))
    last = "model.safetensors" if name == "full" else "metrics.json"
    moments: list[Callable[[], bool]] = [
        lambda: folder.exists(),
        lambda: logged(folder) >= early,
        lambda: logged(folder) >= late,
        lambda: (folder / last).exists(),
    ]
    for moment in moments:
        process = start(words, log)
        wait_for(lambda moment=moment, process=process: moment() or not process.is_alive())
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.join()
    finish(words, log)
    assert model_bytes(folder) == model_bytes(reference)
    scores, expected = (json.loads((f / "metrics.json").read_text()) for f in (folder, reference))
    assert scores["metrics"] == expected["metrics"]
    assert [line["step"] for line in read_history(folder / "history.jsonl")] == [
        line["step"] for line in read_history(reference / "history.jsonl")
    ]
    assert {f.name for f in folder.iterdir()} == {f.name for f in reference.iterdir()}
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal(number: int, code: int, undisturbed: dict[str, tuple[Path, Path]], tmp_path: Path) -> None:
    photo, reference = undisturbed["mini"]
    folder, log = tmp_path / "out", tmp_path / "log"
    words = fit_words(photo, folder, STEPS, *MINI)
    process = start(words, log)
    wait_for(lambda: logged(folder) >= 30 or not process.is_alive())
    assert process.pid is not None
    os.kill(process.pid, number)
    process.join(60)
    assert process.exitcode == code
    log_text = log.read_text()
    assert "stopped at step" in log_text
    assert "Traceback" not in log_text
    result = json.loads(next(line for line in log_text.splitlines() if line.startswith("{")))
    assert 30 <= result["steps"] < STEPS
    assert load(folder / "model.safetensors")(torch.zeros(1, 2)).shape == (1, 3)
    assert (folder / "report.html").exists()
    finish([*words, "--resume"], log)
    assert model_bytes(folder) == model_bytes(reference)


# the second thread is a worker process, which it is not where a step is one compiled call
TWO = ("--threads", "2", "--train", "micro=16", "--train", "kernels=layers")


@pytest.fixture(scope="module")
def on_two_threads(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp("two")
    photo = picture(home / "photo.png")
    finish(fit_words(photo, home / "out", STEPS, *TWO), home / "log")
    return photo, home / "out"


def workers_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@forks
def test_a_signal_to_the_whole_group_stops_in_good_order(on_two_threads: tuple[Path, Path], tmp_path: Path) -> None:
    photo, reference = on_two_threads
    folder, log = tmp_path / "out", tmp_path / "log"
    words = fit_words(photo, folder, STEPS, *TWO)
    process = start(words, log, group=True)
    wait_for(lambda: logged(folder) >= 30 or not process.is_alive())
    assert process.pid is not None
    helpers = workers_of(process.pid)
    assert len(helpers) == 1
    os.killpg(process.pid, signal.SIGTERM)
    process.join(60)
    assert process.exitcode == 143, log.read_text()
    assert "stopped at step" in log.read_text()
    assert not any(Path(f"/proc/{helper}").exists() for helper in helpers)
    finish([*words, "--resume"], log)
    assert model_bytes(folder) == model_bytes(reference)


@forks
def test_a_killed_worker_leaves_a_checkpoint(on_two_threads: tuple[Path, Path], tmp_path: Path) -> None:
    photo, reference = on_two_threads
    folder, log = tmp_path / "out", tmp_path / "log"
    words = fit_words(photo, folder, STEPS, *TWO, "--quiet")
    process = start(words, log)
    wait_for(lambda: logged(folder) >= 30 or not process.is_alive())
    assert process.pid is not None
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    process.join(60)
    assert process.exitcode == 2, log.read_text()
    message, printed = log.read_text().splitlines()  # one line for people, one object for scripts
    assert message.startswith("alfilter: a worker process of this fit ended unexpectedly")
    assert json.loads(printed)["error"].startswith("a worker process of this fit ended unexpectedly")
    assert int(read_tensors(folder / "checkpoint.safetensors")[0]["step"]) >= 29
    finish([*words, "--resume"], log)
    assert model_bytes(folder) == model_bytes(reference)


def test_a_second_run_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    photo, folder, log = picture(tmp_path / "photo.png"), tmp_path / "out", tmp_path / "log"
    process = start(fit_words(photo, folder, 100_000), log)
    wait_for(lambda: logged(folder) >= 3 or not process.is_alive())
    for how in ("--overwrite", "--resume"):
        message = complaint(*fit_words(photo, folder, 100_000), how)
        assert message == (
            f"{folder} is in use by process {process.pid}; wait until it has ended, stop it, or give another folder "
            "(--out)"
        )
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    process.join(60)
    assert process.exitcode == 143
    assert alfilter(*fit_words(photo, folder, 2), "--overwrite").code == 0


@pytest.mark.usefixtures("quick")
def test_resuming_elsewhere_is_said(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    (folder / "model.safetensors").unlink()  # something is left to do
    config = json.loads((folder / "config.json").read_text())
    assert config["machine"]["threads"] == 1
    config["machine"].update(threads=3, processor="Swift 9")
    (folder / "config.json").write_text(json.dumps(config))
    message = alfilter(*fit_words(photo, folder), "--resume").err
    assert "started with threads 3, now 1: sums are taken in another order, so its last digits may differ" in message
    assert "started with processor Swift 9, now " in message
    assert "started with" not in alfilter(*fit_words(photo, folder), "--resume").err


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("when", "missing"), [("scoring", ["scores", "pictures", "report"]), ("drawing", ["pictures", "report"])]
)
def test_stopped_after_the_training(
    when: str, missing: list[str], photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first signal is obeyed there and then; the model is saved, and resuming makes what is missing."""
    folder = tmp_path / "out"
    words = fit_words(photo, folder)
    target = "alfilter.tasks.grid.GridTask.estimate" if when == "scoring" else "alfilter.render.run.finish.draw"
    with monkeypatch.context() as patch:
        patch.setattr(target, lambda *arguments: (os.kill(os.getpid(), signal.SIGTERM), pytest.fail("went on")))
        code, out, err = alfilter(*words)
    assert code == 143
    assert f"stopped at step 20; the model is saved, {', '.join(missing)} are missing; the same command" in err
    line = json.loads(out)
    assert (line["metrics"] is None) == ("scores" in missing)
    before = model_bytes(folder)
    resumed = alfilter(*words, "--resume")
    assert resumed.code == 0, resumed.err
    assert json.loads(resumed.out)["metrics"]["psnr"] > 0
    assert (folder / "report.html").exists()
    assert not (folder / "checkpoint.safetensors").exists()
    assert model_bytes(folder) == before


@pytest.mark.usefixtures("quick")
def test_stopped_between_the_last_step_and_the_scores(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["alfilter.runs.run"]  # the package has a function of that name
    save = vars(module)["save"]
    folder = tmp_path / "out"
    words = fit_words(photo, folder)
    with monkeypatch.context() as patch:
        patch.setattr(module, "save", lambda *given: (os.kill(os.getpid(), signal.SIGINT), save(*given)))
        code, _, err = alfilter(*words)
    assert code == 130
    assert "stopped at step 20; the model is saved, scores, pictures, report are missing" in err
    assert alfilter(*words, "--resume").code == 0
    assert (folder / "report.html").exists()


@pytest.mark.usefixtures("quick")
def test_stopped_in_the_training_the_rest_is_announced(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alfilter.commands.progress.Display.update", lambda *given: os.kill(os.getpid(), signal.SIGINT))
    code, _, err = alfilter(*fit_words(photo, tmp_path / "out"))
    assert code == 130
    assert "stopping at step 1; scores and pictures of this state follow, Ctrl-C leaves them out" in err


@pytest.mark.usefixtures("quick")
def test_stopped_while_the_signal_is_read(photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alfilter.signals.pixels.decode", lambda *arguments: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr("alfilter.signals.image.decode", lambda *arguments: os.kill(os.getpid(), signal.SIGINT))
    code, out, err = alfilter(*fit_words(photo, tmp_path / "out"))
    assert (code, json.loads(out)) == (130, {"error": "stopped before the training began"})
    assert err == "alfilter: stopped before the training began\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("quick")
def test_a_line_before_the_training_says_what_comes_after(photo: Path, tmp_path: Path) -> None:
    err = alfilter(*fit_words(photo, tmp_path / "out", 3)).err
    assert "training takes 3 steps; then come scores on 120 samples, pictures and the report" in err


@pytest.mark.usefixtures("quick")
def test_a_large_signal_is_scored_on_a_stated_sample(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("estimated", "streaming"):
        monkeypatch.setattr(f"alfilter.evaluate.{module}.WHOLE", 100)
    monkeypatch.setattr("alfilter.tasks.grid.WHOLE", 100)
    monkeypatch.setattr("alfilter.evaluate.estimated.SAMPLES", 60)
    folder = tmp_path / "out"
    done = alfilter(*fit_words(photo, folder))
    assert "then come scores from a sample of its 120 samples" in done.err
    line = json.loads(done.out)
    assert (line["estimate"]["samples"], line["estimate"]["of"]) == (60, 120)
    assert set(line["estimate"]["standard_error"]) == {"psnr", "ssim"}
    exact = json.loads(alfilter("eval", folder / "model.safetensors", photo, "--json").out)
    assert exact["estimate"] is None
    assert line["metrics"]["psnr"] == pytest.approx(exact["metrics"]["psnr"], abs=1.5)
    words = [word for word in fit_words(photo, folder) if word != "--json"]
    assert "60 of 120 samples (psnr ±" in alfilter(*words, "--resume").out


# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("quick")
def test_an_existing_folder_is_refused(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = fit_words(photo, folder)
    assert alfilter(*words).code == 0
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert complaint(*words) == (
        f"{folder} holds a run already; resume or overwrite it, or give another folder (--resume, --overwrite, --out)"
    )
    assert "exclude each other" in complaint(*words, "--resume", "--overwrite")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.usefixtures("quick")
def test_a_finished_run_resumed_does_nothing(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    first = alfilter(*fit_words(photo, folder))
    before = {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.iterdir()}
    again = alfilter(*fit_words(photo, folder), "--resume")
    assert (again.code, again.out) == (0, first.out)
    assert "finished already" in again.err
    assert {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in folder.iterdir()} == before


@pytest.mark.usefixtures("quick")
def test_overwrite_removes_only_files_of_a_run(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    (folder / "notes.txt").write_text("mine")
    (folder / ".notes.png.abcdefgh.png").write_text("mine too")
    (folder / ".error.png.abcdefgh.png").write_text("left by a kill")
    words = ("--method", "siren", "--out", str(folder), "--steps", "2", "--overwrite", "--set", "width=8")
    assert alfilter("fit", str(photo), *words).code == 0
    held = {file.name for file in folder.iterdir()}
    assert {"notes.txt", ".notes.png.abcdefgh.png", "model.safetensors"} <= held
    assert not held & {"alpha.png", ".error.png.abcdefgh.png"}
    assert load(folder / "model.safetensors").spec["method"] == "siren"


CHANGES = [
    (("--steps", "15"), "steps and budget count from its start, give more than that"),
    (("--train", "lr=0.5"), f"training lr={training('al-sine').lr:g}, this one lr=0.5"),
    (("--set", "levels=4"), "options levels=3, this one levels=4"),
    (("--seed", "1"), "seed 0, this one 1"),
    (("--method", "al-relu"), "method al-sine, this one al-relu"),
    (("--observe", "every:2", "--preset", "default"), "signal observe=all, this one observe=every:2"),
]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[" ".join(change) for change, _ in CHANGES])
def test_resuming_another_run_is_refused(change: tuple[str, ...], message: str, photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    assert message in complaint(*fit_words(photo, folder), *change, "--resume")


@pytest.mark.usefixtures("quick")
def test_resuming_with_another_picture_is_refused_and_a_moved_one_is_not(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    assert "signal sha256=" in complaint(*fit_words(picture(tmp_path / "b.png", seed=9), folder), "--resume")
    moved = photo.rename(tmp_path / "moved.png")
    assert alfilter(*fit_words(moved, folder), "--resume").code == 0


@pytest.mark.usefixtures("quick")
def test_a_folder_that_holds_no_run(photo: Path, tmp_path: Path) -> None:
    (tmp_path / "album").mkdir()
    (tmp_path / "album" / "error.png").write_text("a photo of mine")
    assert "no run to resume" in complaint(*fit_words(photo, tmp_path / "album"), "--resume")
    assert "they are not written over" in complaint(*fit_words(photo, tmp_path / "album"), "--overwrite")
    assert (tmp_path / "album" / "error.png").read_text() == "a photo of mine"
    assert alfilter(*fit_words(photo, tmp_path / "fresh"), "--resume").code == 0


@pytest.mark.usefixtures("quick")
def test_a_run_never_eats_its_own_signal(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    message = complaint(*fit_words(folder / "reference.png", folder), "--overwrite")
    assert "would be written over" in message
    assert (folder / "reference.png").exists()
    assert (folder / "model.safetensors").exists()


@pytest.mark.parametrize("name", ["config.json", "metrics.json", "checkpoint.safetensors"])
@pytest.mark.usefixtures("quick")
def test_a_damaged_folder_is_named(name: str, photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    if name == "checkpoint.safetensors":
        (folder / "metrics.json").unlink()
    for damage in ("{", "[]"):
        (folder / name).write_text(damage)
        assert str(folder / name) in complaint(*fit_words(photo, folder), "--resume", "--quiet")


# ── what goes wrong on the way ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("steps", [1, 3, 200])
@pytest.mark.usefixtures("quick")
def test_a_loss_that_is_not_finite(steps: int, photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    words = ("--method", "pe-mlp", "--steps", str(steps), "--train", "lr=1e37", "--set", "depth=3", "--quiet")
    code, out, err = alfilter("fit", photo, "--out", folder, "--threads", "1", "--set", "width=16", *words)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "became NaN or infinite at step " in err
    assert "lr=1e+37" in err
    assert torch.isfinite(load(folder / "model.safetensors")(torch.rand(20, 2))).all()
    again = alfilter("fit", photo, "--out", folder, "--threads", "1", "--set", "width=16", *words, "--resume")
    assert again.err == err
    assert torch.isfinite(load(folder / "model.safetensors")(torch.rand(20, 2))).all()


def no_space(*arguments: object, **named: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.usefixtures("quick")
def test_a_disk_that_fills_up(photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first file: nothing is left. Later: the run can be resumed once there is space, and ends the same."""
    words = fit_words(photo, tmp_path / "out")
    with monkeypatch.context() as context:
        context.setattr(Path, "replace", no_space)
        assert "No space left on device" in complaint(*words)
    assert not (tmp_path / "out").exists()
    with monkeypatch.context() as context:
        context.setattr(Path, "write_bytes", no_space)
        code, out, err = alfilter(*words)
        assert code == 2
        assert "No space left on device" in json.loads(out)["error"]
        assert "Traceback" not in err
    assert not [file.name for file in (tmp_path / "out").iterdir() if file.name.startswith(".")]
    assert alfilter(*words, "--resume").code == 0
    assert alfilter(*fit_words(photo, tmp_path / "whole")).code == 0
    assert model_bytes(tmp_path / "out") == model_bytes(tmp_path / "whole")


def test_a_full_file_system(photo: Path, tmp_path: Path) -> None:
    """A real one, where the test may mount it."""
    import subprocess

    place = tmp_path / "small"
    place.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(place)], capture_output=True, check=False
    )
    if mount.returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    try:
        code, out, err = alfilter(*fit_words(photo, place / "out", 20), "--quiet", "--checkpoint-every", "0")
    finally:
        subprocess.run(["umount", str(place)], check=True)
    assert code == 2
    assert "Traceback" not in err
    assert err.count("\n") == 1
    assert "No space left" in json.loads(out)["error"]


@pytest.mark.usefixtures("quick")
def test_run_without_the_command_line(photo: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    request = FitRequest(
        str(photo),
        method="siren",
        out=str(tmp_path / "out"),
        options={"width": 8, "depth": 1},
        training={"steps": 3},
        checkpoint_every=0,
    )
    line = run(request, say=messages.append)
    assert line["finished"] is True
    assert line["steps"] == 3
    assert len(messages) == 2  # what is fitted, and what will come
    run(replace(request, out=str(tmp_path / "mistyped"), resume=True), say=messages.append)
    assert messages[2] == f"there is no run in {tmp_path / 'mistyped'} to resume; a new one begins"


def test_the_device_is_chosen_or_refused_in_one_line() -> None:
    import torch

    from alfilter.runs.run import choose_device

    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
    with pytest.raises(UserError, match="there is no device 'cdua'; did you mean 'cuda'"):
        choose_device("cdua")
    for name, there in (("cuda", torch.cuda.is_available()), ("mps", torch.backends.mps.is_available())):
        if not there:
            with pytest.raises(UserError, match=f"no {name} device"):
                choose_device(name)


@pytest.mark.usefixtures("quick")
def test_a_run_of_before_an_option_was_removed_is_resumed(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert alfilter(*fit_words(photo, folder)).code == 0
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "training": {**config["training"], "bend": 0.0}}))
    again = alfilter(*fit_words(photo, folder), "--resume")
    assert again.code == 0
    assert "finished already" in again.err
