"""The commands as a person meets them: what goes to stdout, what to stderr, what lands in the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import TINY, alfilter, picture, without_figures
from tests.support.examples import EXAMPLES

from alfilter.cli import parser
from alfilter.commands import COMMANDS
from alfilter.errors import UserError
from alfilter.methods import METHODS
from alfilter.signals import read_image, write_image


@pytest.mark.parametrize("observe", ["all", "every:2", "random:0.35", "mask"])
def test_eval_reproduces_the_run(observe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    source, folder = picture(tmp_path / "photo.png"), tmp_path / "out"
    if observe == "mask":
        observe = f"mask:{picture(tmp_path / 'mask.tif', channels=1, seed=2)}"
        pixels = read_image(tmp_path / "mask.tif").values().numpy().reshape(12, 10, 1)
        write_image(tmp_path / "mask.tif", (pixels > 0.5).astype("float32"))
    words = ("--steps", "8", "--seed", "5", "--observe", observe, "--out", folder, "--json", *TINY)
    fitted = json.loads(alfilter("fit", source, *words).out)
    mask = ("--observe", observe) if observe.startswith("mask:") else ()
    code, out, err = alfilter("eval", folder / "model.safetensors", source, "--json", *mask)
    assert (code, err) == (0, "")
    scored = json.loads(out)
    assert scored["metrics"] == pytest.approx(fitted["metrics"], abs=1e-6)
    assert (scored["heldout"] is None) == (fitted["heldout"] is None) == (observe == "all")
    if observe != "all":
        assert set(fitted["heldout"]) == ({"psnr", "psnr_between"} if observe == "every:2" else {"psnr"})
        assert scored["heldout"] == pytest.approx(fitted["heldout"], abs=1e-6)
        assert fitted["heldout"]["psnr"] != pytest.approx(fitted["metrics"]["psnr"], abs=1e-6)
        assert "held out psnr" in alfilter("eval", folder / "model.safetensors", source, *mask).out


def test_eval_opens_no_mask_that_a_model_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_figures(monkeypatch)
    source, mask = picture(tmp_path / "photo.png"), tmp_path / "mask.png"
    write_image(mask, np.eye(12, 10)[..., None])
    words = ("--steps", "2", "--observe", f"mask:{mask}", "--out", tmp_path / "out", *TINY)
    assert alfilter("fit", source, *words).code == 0
    code, out, err = alfilter("eval", tmp_path / "out" / "model.safetensors", source, "--json")
    assert (code, json.loads(out)["heldout"]) == (0, None)
    assert err == "alfilter: scored over all samples; --observe mask:FILE tells those the fit did not see\n"


def test_methods() -> None:
    rows = json.loads(alfilter("methods", "--json").out)["methods"]
    assert [row["method"] for row in rows] == list(METHODS)
    table = alfilter("methods").out.splitlines()
    assert len(table) == 1 + len(METHODS)
    options = json.loads(alfilter("methods", "al-sine", "--json").out)["options"]
    assert {"levels", "bandwidth", "kappa", "grid", "omega"} <= {row["option"] for row in options}


def test_help_is_cheap() -> None:
    code = (
        "import sys, alfilter\n"
        "from alfilter.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'numpy', 'PIL', 'matplotlib', 'skimage', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(command in done.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    from alfilter.cli import main

    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: alfilter {command}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from alfilter import __version__
    from alfilter.cli import main

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"alfilter {__version__}\n"


def test_the_package_is_a_command_too() -> None:
    words = [sys.executable, "-m", "alfilter", "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.startswith("alfilter ")


def test_output_that_cannot_be_written() -> None:
    """A full disk behind stdout is an error of one line; a reader that left is none."""
    words = [sys.executable, "-m", "alfilter.cli", "experiment", "--list"]
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    with full.open("w") as sink:
        done = subprocess.run(words, stdout=sink, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("alfilter: ")
    assert done.stderr.count("\n") == 1
    gone = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert gone.stdout is not None
    assert gone.stderr is not None
    gone.stdout.close()
    errors = gone.stderr.read()
    gone.stderr.close()
    assert (gone.wait(), errors) == (0, "")


def test_libraries_start_no_threads_of_their_own() -> None:
    """OpenBLAS interrupts the process where it cannot start its threads; a number that the user gave stays."""
    code = "import os; from alfilter.cli import main; main(['experiment', '--list']); "
    code += "print(os.environ['OPENBLAS_NUM_THREADS'])"
    for number, before in (("1", {}), ("3", {"OPENBLAS_NUM_THREADS": "3"})):
        bare = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        done = subprocess.run(
            [sys.executable, "-c", code], env={**bare, **before}, capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[-1] == number


def test_a_named_command_is_read_without_the_others() -> None:
    assert parser("info").parse_args(["info", "m"]).model == "m"
    with pytest.raises(UserError, match="invalid choice: 'methods'"):
        parser("info").parse_args(["methods"])
    assert parser().parse_args(["methods"]).method is None


def test_a_module_with_methods_of_ones_own_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    own = (EXAMPLES / "03_your_own_method" / "powers_field.py").read_text()
    Path("my_powers.py").write_text(own + "\nimport alfilter\nalfilter.register('my-powers', POWERS)\n")
    picture(Path("photo.png"))
    try:
        words = ["fit", "photo.png", "--method", "my-powers", "--steps", "1", "--out", "out", "--quiet"]
        assert "there is no method 'my-powers'" in alfilter(*words).err
        assert alfilter("--import", "my_powers", *words).code == 0
        assert sys.path[-1] == ""  # behind what is installed, for which no file here is taken
        assert "my-powers" in alfilter("info", "out", "--import=my_powers.py").out
        assert json.loads(Path("out/config.json").read_text())["command"][:3] == ["alfilter", "--import", "my_powers"]
    finally:
        METHODS.unregister("my-powers")
        sys.modules.pop("my_powers", None)
    said = alfilter("info", "out").err
    assert "registered by the module my_powers; import that first ('alfilter --import my_powers …')" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--import"], "--import expects the name of a Python module"),
        (["--import", "no_such_module", "methods"], "cannot import no_such_module (ModuleNotFoundError: No module"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(words: list[str], said: str) -> None:
    code, _, err = alfilter(*words)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_libraries_say_nothing_as_the_process_ends() -> None:
    """libigl's bindings report objects that are alive then, as those in a cycle are without a last collection."""
    pytest.importorskip("igl")
    code = "import igl, sys; kept = [igl.AABB()]; kept.append(kept); sys.argv = ['alfilter', 'methods']; "
    code += "from alfilter.cli import main; sys.exit(main())"
    code = "import atexit, gc; atexit.register(lambda: print('frozen', gc.get_freeze_count() > 0)); " + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.endswith("frozen True\n")  # nothing is freed one by one, so that the end is quick


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("Unable to allocate 3.2 TiB for an array"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory:\nyou tried"),
        RuntimeError("can't start new thread"),
    ],
)
def test_memory_and_threads_that_are_not_given_are_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise error

    monkeypatch.setattr("alfilter.runs.models.load", refuse)
    code, out, err = alfilter("info", "model.safetensors", "--json")
    assert code == 2
    assert err.startswith("alfilter: the system gave no more memory or threads (")
    assert err.count("\n") == 1
    assert set(json.loads(out)) == {"error"}


def test_a_mistake_of_the_program_is_no_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr("alfilter.runs.models.load", fail)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        alfilter("info", "model.safetensors")
