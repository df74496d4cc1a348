"""Studies over many workers: whatever dies, every result is there once and is the serial one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.commands import alfilter
from tests.support.waiting import is_alive, wait_for

from alfilter import __version__
from alfilter.errors import UserError
from alfilter.experiments import Run, Study, read_study, run_study
from alfilter.signals import write_image

# a study as a user writes it; the file "armed" makes one run die half way, once
STUDY = """
import os, signal
from dataclasses import replace
from pathlib import Path

from alfilter.experiments import Run, Study, table
from alfilter.experiments import execute as usual

ARMED = Path(__file__).with_name("armed")
TINY = {"width": 8, "depth": 1, "levels": 2, "grid": 4}


def runs():
    return [Run("row", "a.png", size=8, observe="every:2", seed=s, settings=TINY, training={"steps": 4})
            for s in range(3)]


def execute(run, data, threads):
    if run.seed == 1 and ARMED.exists():
        usual(replace(run, training={"steps": 2}), data, threads)
        ARMED.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(run, data, threads)


STUDY = Study("mine", runs, lambda lines: table(lines, {"n": lambda line: 1.0}), execute)
"""

# runs that need no training: what happens around them is looked at
QUICK = """
import os, signal, time
from pathlib import Path

from alfilter.experiments import Study, Run

def execute(run, data, threads):
    if run.group == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if run.group == "waits":
        Path(data, f"pid-{{run.seed}}").write_text(str(os.getpid()))
        time.sleep(120)
    if run.group == "wrong":
        raise KeyError("no such thing")
    return {{"metrics": {{"value": float(run.seed)}}}}

STUDY = Study("quick", lambda: [Run(g, "-", seed=s) for s, g in enumerate({groups})],
                   lambda lines: str(len(lines)), execute)
"""


def declared(folder: Path, text: str) -> str:
    (folder / "mine.py").write_text(text, encoding="utf-8")
    return str(folder / "mine.py")


def quick(folder: Path, *groups: str) -> str:
    return declared(folder, QUICK.format(groups=groups))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in path.read_text().splitlines()]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_image(tmp_path / "a.png", np.random.default_rng(0).random((12, 14, 3)))
    return tmp_path


@pytest.fixture
def serial(data: Path) -> dict[str, Any]:
    """The metrics of every run of the study, one after the other with one thread."""
    words = ("--data", data, "--out", data / "serial", "--workers", "1", "--threads", "1", "--json")
    code, out, err = alfilter("experiment", declared(data, STUDY), *words)
    assert code == 0, err
    return {line["name"]: line["metrics"] for line in json.loads(out)["lines"]}


def check_complete(path: Path, serial: dict[str, Any]) -> None:
    """Every run exactly once in the file, with the very numbers of the serial study."""
    lines = lines_of(path)
    assert len(lines) == len(serial)
    assert {line["name"]: line["metrics"] for line in lines} == serial


def test_a_killed_process_costs_nothing_but_time(data: Path, serial: dict[str, Any]) -> None:
    (data / "armed").touch()
    messages: list[str] = []
    run_study(read_study(str(data / "mine.py")), str(data), str(data / "pool"), 2, messages.append)
    assert not (data / "armed").exists()
    assert sum("killed by signal 9" in line for line in messages) == 1
    check_complete(data / "pool" / "mine.jsonl", serial)


@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
def test_a_killed_ray_worker_costs_nothing_but_time(data: Path, serial: dict[str, Any]) -> None:
    (data / "armed").touch()
    words = ["experiment", data / "mine.py", "--data", data, "--out", data / "ray", "--ray", "local", "--workers", "2"]
    done = subprocess.run([sys.executable, "-m", "alfilter.cli", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (data / "armed").exists()
    assert sum("worker ray was lost" in line for line in done.stderr.splitlines()) == 1, done.stderr
    check_complete(data / "ray" / "mine.jsonl", serial)


def test_a_line_says_all_about_its_run(data: Path, serial: dict[str, Any]) -> None:
    line = lines_of(data / "serial" / "mine.jsonl")[1]
    assert (line["seed"], line["method"], line["version"], line["threads"]) == (1, "al-sine", __version__, 1)
    assert line["settings"]["width"] == 8
    assert line["training"] == {"steps": 4}
    assert line["seconds"] > 0
    assert 1 << 24 < line["peak_memory"] < 1 << 36
    assert set(line["metrics"]) == {"psnr", "ssim"}


def test_a_run_that_always_dies_is_given_up_and_the_others_are_kept(data: Path) -> None:
    messages: list[str] = []
    with pytest.raises(UserError, match=r"1 of 3 runs failed, the first: its worker was lost 3 times \(killed by"):
        run_study(read_study(quick(data, "a", "dies", "b")), str(data), str(data / "out"), 2, messages.append)
    assert [line["metrics"] for line in lines_of(data / "out" / "quick.jsonl")] == [{"value": 0.0}, {"value": 2.0}]
    assert sum("is restarted" in line for line in messages) == 2


def test_an_error_ends_its_run_only_and_the_command_repeats_it(data: Path) -> None:
    words = ("--data", data, "--out", data / "out", "--workers", "1")
    code, _, err = alfilter("experiment", quick(data, "wrong", "b"), *words)
    assert code == 2
    assert "1 of 2 runs failed, the first: KeyError: 'no such thing'" in err.splitlines()[-1]
    again = quick(data, "mended", "b")
    code, out, err = alfilter("experiment", again, *words)
    assert (code, out.strip()) == (0, "2")
    assert "1 finished already" in err


def test_a_killed_study_leaves_no_worker_behind(data: Path) -> None:
    words = ["experiment", quick(data, "waits", "waits"), "--data", data, "--out", data / "out", "--workers", "2"]
    study = subprocess.Popen([sys.executable, "-m", "alfilter.cli", *map(str, words)], stderr=subprocess.DEVNULL)
    wait_for(lambda: all((data / f"pid-{s}").exists() and (data / f"pid-{s}").read_text() for s in range(2)))
    workers = [int((data / f"pid-{s}").read_text()) for s in range(2)]
    study.send_signal(signal.SIGKILL)
    study.wait()
    wait_for(lambda: not any(is_alive(worker) for worker in workers))
    assert lines_of(data / "out" / "quick.jsonl") == []


def test_a_function_that_cannot_travel_is_refused(data: Path) -> None:
    study = Study("lambda", lambda: [Run("a", "-")], str, lambda run, data, threads: {"metrics": {}})
    with pytest.raises(UserError, match="must be a function at the top of its file"):
        run_study(study, str(data), str(data / "out"), 2, lambda line: None)
    assert run_study(study, str(data), str(data / "out"), 1, lambda line: None)[0]["metrics"] == {}


def test_without_ray_the_extra_is_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'alfilter\[ray\]'"):
        run_study(read_study(quick(data, "a")), str(data), str(data / "o"), 1, lambda line: None, ray="local")


@pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")
def test_an_address_where_nobody_listens_is_refused_at_once(data: Path) -> None:
    words = ("--data", data, "--out", data / "o", "--ray", "127.0.0.1:1")
    code, _, err = alfilter("experiment", quick(data, "a"), *words)
    assert code == 2
    assert "no Ray cluster answers at 127.0.0.1:1" in err.splitlines()[-1]


def test_workers_and_threads_are_counts(data: Path) -> None:
    with pytest.raises(UserError, match="must be at least 1, got 0"):
        run_study(read_study(quick(data, "a")), str(data), str(data / "o"), 0, lambda line: None)


def test_a_study_may_fix_the_threads_of_its_runs(tmp_path: Path) -> None:
    def execute(run: Run, data: str, threads: int) -> dict[str, Any]:
        return {"metrics": {"threads": threads}}

    study = Study("fixed", lambda: [Run("a", "none")], lambda lines: "", execute, threads=1)
    lines = run_study(study, str(tmp_path), str(tmp_path), workers=1, threads=2)
    assert [line["threads"] for line in lines] == [line["metrics"]["threads"] for line in lines] == [1]
