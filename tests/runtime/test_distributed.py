"""Several processes fit as one: the same curve, the same decisions, one message, one writer."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.support.commands import TINY, alfilter, picture, without_figures
from tests.support.waiting import wait_for

from alfilter.cli import main
from alfilter.errors import UserError
from alfilter.runtime.distributed import Processes, current, local_device, process_group

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port"]
STEPS = ("--steps", "12", "--quiet", *TINY)
SMALL_PIECES = ("--train", "micro=16")  # several pieces a process


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def launch(target: Callable[..., None], *arguments: Any, count: int = 2) -> list[ForkServerProcess]:
    """`target(*given)` in processes with the environment that torchrun makes; from a server that has imported all."""
    context = multiprocessing.get_context("forkserver")
    heavy = ["alfilter.runs.run", "alfilter.report.figures.run", "alfilter.kernels.activations", "torch._dynamo"]
    context.set_forkserver_preload(["tests.support.commands", "tests.training.test_processes", *heavy])
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port(), "WORLD_SIZE": str(count)}
    members = []
    for rank in range(count):
        member = {**place, "RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(count)}
        members.append(context.Process(target=_member, args=(member, target, arguments)))
        members[-1].start()
    return members


def _member(environment: dict[str, str], target: Callable[..., None], arguments: Sequence[Any]) -> None:
    os.environ.update(environment)
    torch.set_num_threads(1)
    target(*arguments)


def codes(members: list[ForkServerProcess], seconds: float = 120.0) -> list[int | None]:
    for member in members:
        member.join(seconds)
    return [member.exitcode for member in members]


def command(words: Sequence[str], log: str) -> None:
    """A command as one of several processes; what it prints goes to a file of its rank."""
    handle = os.open(f"{log}-{os.environ['RANK']}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    with pytest.MonkeyPatch.context() as patch:
        without_figures(patch)
        sys.exit(main(list(words)))


def message(log: Path) -> list[str]:
    """What a process printed, but for the line of a machine without compiled kernels."""
    return [line for line in log.read_text().splitlines() if "compiling kernels for this processor" not in line]


def losses(folder: Path) -> list[float]:
    return [json.loads(line)["loss"] for line in (folder / "history.jsonl").read_text().splitlines()]


@pytest.fixture
def photo(tmp_path: Path) -> str:
    return str(picture(tmp_path / "photo.png", 16, 12))


@pytest.mark.parametrize("training", ["batch=none", "batch=50", "tv=0.001"])
def test_two_processes_give_the_curve_of_one(tmp_path: Path, photo: str, training: str) -> None:
    words = ["fit", photo, *STEPS, *SMALL_PIECES, "--train", training]
    one, threads, two = (tmp_path / name for name in ("one", "threads", "two"))
    members = launch(command, [*words, "--out", str(two), "--json"], str(tmp_path / "log"))
    assert alfilter(*words, "--out", threads, "--threads", "2").code == 0
    assert alfilter(*words, "--out", one).code == 0
    assert codes(members) == [0, 0], (tmp_path / "log-0").read_text()
    assert losses(two) == losses(threads)  # the same sums in the same order: to the bit
    # at a flat start the variation's subgradient is the sign of a rounding error: one order of sums is not another
    assert losses(two) == pytest.approx(losses(one), rel=1e-3 if training.startswith("tv") else 1e-6)
    assert len(losses(two)) == 12
    first, *_ = message(tmp_path / "log-0")
    assert json.loads(first)["metrics"] == json.loads((threads / "metrics.json").read_text())["metrics"]
    assert message(tmp_path / "log-1") == []


def test_a_signal_to_one_process_stops_all_and_the_run_resumes(tmp_path: Path, photo: str) -> None:
    words = ["fit", photo, "--quiet", *TINY, *SMALL_PIECES, "--steps", "250", "--train", "batch=64", "--out"]
    whole, cut, log = tmp_path / "whole", tmp_path / "cut", str(tmp_path / "log")
    assert codes(launch(command, [*words, str(whole)], log)) == [0, 0]
    members = launch(command, [*words, str(cut)], log)
    wait_for(lambda: (cut / "history.jsonl").exists() and len((cut / "history.jsonl").read_text().splitlines()) > 20)
    os.kill(members[1].pid or 0, signal.SIGTERM)  # not the one that writes
    assert codes(members) == [130, 143]
    assert "--resume continues" in Path(f"{log}-0").read_text()
    assert 20 < json.loads((cut / "metrics.json").read_text())["steps"] < 250
    assert codes(launch(command, [*words, str(cut), "--resume"], log)) == [0, 0]
    assert losses(cut) == losses(whole)  # to the bit
    assert (cut / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_budget_is_the_first_ones_clock(tmp_path: Path, photo: str) -> None:
    words = ["fit", photo, "--quiet", *TINY, "--budget", "0.5s", "--train", "clock=cpu", "--out", str(tmp_path / "two")]
    assert codes(launch(command, [*words, "--json"], str(tmp_path / "log"))) == [0, 0]
    line = json.loads((tmp_path / "log-0").read_text().splitlines()[0])
    assert line["seconds"] >= 0.5
    assert line["steps"] >= 1


def test_a_mistake_is_told_once(tmp_path: Path, photo: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").touch()
    for words, reason in (
        (["fit", photo, *TINY, "--out", str(tmp_path / "full")], "holds files but no run"),
        (["fit", photo, *TINY, "--out", str(tmp_path / "new"), "--preset", "reconstuct"], "did you mean 'reconstruct'"),
    ):
        log = tmp_path / f"log-{reason[:5]}"
        assert codes(launch(command, words, str(log))) == [2, 2]
        message = Path(f"{log}-0").read_text()
        assert message.startswith("alfilter: ")
        assert reason in message
        assert message.count("\n") == 1
        assert Path(f"{log}-1").read_text() == ""


def test_torchrun_itself(tmp_path: Path, photo: str) -> None:
    words = ["fit", photo, *STEPS, *SMALL_PIECES, "--out", str(tmp_path / "two"), "--json"]
    run = [*TORCHRUN, free_port(), "-m", "alfilter.cli", *words]
    done = subprocess.run(run, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 12
    assert len(losses(tmp_path / "two")) == 12


def disagree(folder: str) -> None:
    """Processes with different numbers, and one that fails alone."""
    with process_group() as processes:
        rank = processes.rank
        notes = {"total": processes.all_reduce([rank + 0.25, 1.0]), "first": processes.from_main(rank + 7.0)}
        notes |= {
            "any": processes.any(rank == 1),
            "none": processes.any(False),
            "slots": processes.worker_range(rank + 2),
        }
        weight, unused = torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(1))
        if rank == 1:
            weight.grad = torch.tensor([1.0, 2.0])
        processes.all_reduce_gradients([weight, unused])
        notes |= {"grad": weight.grad.tolist() if weight.grad is not None else None, "unused": unused.grad is None}
        for name, work in (
            ("agreed", lambda: processes.run_on_all(lambda: refuse(rank))),
            ("same", lambda: processes.check_same([float(rank)], "states")),
        ):
            try:
                notes[name] = work()
            except UserError as error:
                notes[name] = str(error)
        Path(folder, f"notes-{rank}").write_text(json.dumps(notes))


def refuse(rank: int) -> int:
    if rank == 1:
        raise UserError("process one cannot, Größe")
    return rank


def test_what_is_agreed_on(tmp_path: Path) -> None:
    assert codes(launch(disagree, str(tmp_path))) == [0, 0]
    first, second = (json.loads((tmp_path / f"notes-{rank}").read_text()) for rank in range(2))
    assert first["slots"] == [0, 5]
    assert second["slots"] == [2, 5]
    for notes in (first, second):
        assert notes["total"] == [1.5, 2.0]
        assert notes["first"] == 7.0
        assert (notes["any"], notes["none"], notes["unused"]) == (True, False, True)
        assert notes["grad"] == [1.0, 2.0]
        assert notes["agreed"] == "process one cannot, Größe"
        assert "start from different states" in notes["same"]


def leave(folder: str) -> None:
    """One process goes away without a word."""
    with process_group() as processes:
        if processes.rank == 1:
            os._exit(9)
        try:
            processes.all_reduce([1.0])
        except UserError as error:
            Path(folder, "told").write_text(str(error))


def test_a_process_that_is_gone_is_noticed(tmp_path: Path) -> None:
    together_codes = codes(launch(leave, str(tmp_path)))
    assert together_codes[1] == 9
    assert "another process of this fit is gone" in (tmp_path / "told").read_text()


def test_alone_nothing_is_shared() -> None:
    with process_group() as processes:
        assert processes == current() == Processes()
    assert processes.run_on_all(lambda: 3) == 3
    assert processes.worker_range(4) == (0, 4)
    with pytest.raises(UserError, match="no"):
        processes.run_on_all(_refuse_plainly)


def _refuse_plainly() -> None:
    raise UserError("no")


def test_devices_must_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    two = Processes(rank=1, size=2)
    assert local_device(torch.device("cpu"), two).type == "cpu"
    assert local_device(torch.device("mps"), Processes()).type == "mps"
    with pytest.raises(UserError, match="mps serves one process, torchrun started 2; choose the device cpu"):
        local_device(torch.device("mps"), two)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UserError, match=r"2 processes on a machine with 1 CUDA devices; start 1 per node, or"):
        local_device(torch.device("cuda"), two)
