"""Tables on the command line: fit, predict, eval, and every mistake in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import TINY, alfilter, complaint, picture, without_figures

from alfilter.signals.tables import read_columns, write_columns


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing: drawing takes most of the time of a tiny run."""
    without_figures(monkeypatch)
    monkeypatch.setattr("alfilter.render.run.points.draw_points", lambda *arguments: None)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with measurements in all formats and one model of them."""
    folder = tmp_path_factory.mktemp("points")
    rng = np.random.default_rng(0)
    lon, lat = rng.uniform(5, 15, 300), rng.uniform(45, 55, 300)
    columns = {"lon": lon, "lat": lat, "temp": 280 + lon - lat / 2, "hum": lat, "w": rng.uniform(0, 1, 300)}
    for suffix in (".csv", ".npz", ".parquet"):
        write_columns(folder / f"p{suffix}", columns)
    gaps = {**columns, "temp": np.where(np.arange(300) < 7, np.nan, columns["temp"])}
    write_columns(folder / "gaps.csv", {name: np.append(column, column[-1]) for name, column in gaps.items()})
    write_columns(folder / "q.csv", {"id": np.arange(3), "lat": np.array([50, 50, 80]), "lon": np.array([10, 8, 10])})
    roles = ("--coords", "lon,lat", "--values", "temp,hum", "--weight", "w", "--observe", "random:0.8")
    words = (*roles, "--steps", "60", "--json", *TINY, "--out", folder / "run")
    code, out, err = alfilter("fit", folder / "p.csv", *words)
    assert code == 0, err
    (folder / "line.json").write_text(out)
    return folder


def test_a_fit_leaves_a_whole_run(home: Path) -> None:
    line = json.loads((home / "line.json").read_text())
    names = {"psnr", "r2", "rmse_temp", "mae_temp", "rmse_hum", "mae_hum"}
    assert set(line["metrics"]) == set(line["heldout"]) == names
    for name in ("model.safetensors", "report.html", "map.png", "parity.png", "alpha.png", "convergence.png"):
        assert (home / "run" / name).is_file()
    page = (home / "run" / "report.html").read_text()
    assert "Predicted against measured" in page


@pytest.mark.usefixtures("quick")
def test_formats_agree(home: Path, tmp_path: Path) -> None:
    words = ("--coords", "lon,lat", "--values", "temp", "--steps", "3", *TINY, "--out")
    for suffix in ("csv", "npz", "parquet"):
        assert alfilter("fit", home / f"p.{suffix}", *words, tmp_path / suffix).code == 0
    models = [(tmp_path / suffix / "model.safetensors").read_bytes() for suffix in ("csv", "npz", "parquet")]
    assert models[0] == models[1] == models[2]


@pytest.mark.usefixtures("quick")
def test_gaps_and_repeats_are_said(home: Path, tmp_path: Path) -> None:
    words = ("--coords", "lon,lat", "--values", "temp", "--steps", "2", *TINY, "--out", tmp_path / "run")
    code, _, err = alfilter("fit", home / "gaps.csv", *words)
    assert code == 0
    assert "7 of 301 rows lack a value and were dropped" in err
    assert "1 rows repeat a place" in err


@pytest.mark.usefixtures("quick")
def test_standard_deviations_choose_the_preset_and_are_in_the_model(home: Path, tmp_path: Path) -> None:
    words = ("--coords", "lon,lat", "--values", "temp", "--noise", "w", "--steps", "2", "--out", tmp_path / "run")
    code, _, err = alfilter("fit", home / "p.csv", *words)
    assert code == 0, err
    assert "samples are uncertain: preset noisy" in err
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["preset"], config["signal"]["noise"]) == ("noisy", "w")
    assert alfilter("fit", tmp_path / "run", "--steps", "3").code == 0, "a longer run reads the column again"
    assert alfilter("eval", tmp_path / "run" / "model.safetensors", home / "p.csv").code == 0
    code, _, err = alfilter("fit", home / "p.csv", *words, "--weight", "w")
    assert (code, "name one" in err) == (2, True)


@pytest.mark.parametrize("dims", [1, 3])
def test_other_dimensions(dims: int, tmp_path: Path) -> None:
    names = ["a", "b", "c"][:dims]
    rng = np.random.default_rng(0)
    columns = {name: rng.uniform(size=50) for name in names}
    write_columns(tmp_path / "p.csv", {**columns, "y": sum(columns.values())})  # type: ignore[dict-item]
    words = ("fit", tmp_path / "p.csv", "--coords", ",".join(names), "--values", "y", "--steps", "2")
    assert alfilter(*words, *TINY, "--out", tmp_path / "run").code == 0
    assert (tmp_path / "run" / "map.png").is_file()


def test_predict_to_stdout_and_to_a_file(home: Path, tmp_path: Path) -> None:
    model = home / "run" / "model.safetensors"
    code, out, err = alfilter("predict", model, home / "q.csv")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "lon,lat,temp,hum,outside"
    assert [line.split(",")[-1] for line in lines[1:]] == ["0", "0", "1"]
    assert "1 of 3 points lie outside the fitted region" in err
    for suffix in ("csv", "npz", "parquet"):
        assert alfilter("predict", model, home / "q.csv", "--out", tmp_path / f"o.{suffix}").code == 0
        back = read_columns(tmp_path / f"o.{suffix}", ["lon", "temp", "outside"])
        assert back["lon"].tolist() == [10, 8, 10]
        assert back["temp"].tolist() == [float(line.split(",")[2]) for line in lines[1:]]


def test_eval_repeats_the_scores_of_the_fit(home: Path) -> None:
    code, out, _ = alfilter("eval", home / "run" / "model.safetensors", home / "p.csv", "--json")
    assert code == 0
    again, line = json.loads(out), json.loads((home / "line.json").read_text())
    assert again["heldout"] == pytest.approx(line["heldout"])
    assert again["metrics"] == pytest.approx(line["metrics"])


@pytest.mark.usefixtures("quick")
def test_mistakes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    picture(tmp_path / "photo.png")
    assert alfilter("fit", tmp_path / "photo.png", "--steps", "1", *TINY, "--out", tmp_path / "image").code == 0
    (tmp_path / "text.csv").write_text("lon,lat\n1,warm\n")
    image, model = tmp_path / "image" / "model.safetensors", home / "run" / "model.safetensors"
    here = ("--out", str(tmp_path / "none"))
    cases = [
        (("fit", "p.csv", *here), "is a table with the columns lon, lat, temp, hum, w; name them"),
        (
            ("fit", "p.csv", "--coords", "lon,lat", *here),
            "name them: coords say where, values are fitted (--coords, --values)",
        ),
        (("fit", "p.csv", "--coords", "lon,latt", "--values", "temp", *here), "did you mean 'lat'?"),
        (("fit", "none.csv", "--coords", "a", "--values", "b", *here), "no such file"),
        (
            ("fit", tmp_path / "photo.png", "--coords", "a", "--values", "b", *here),
            "is a PNG picture, which has no columns",
        ),
        (("fit", "p.csv", "--coords", "lon,lat", "--values", "temp", "--observe", "every:2", *here), "random:FRACTION"),
        (("predict", model, "p.npz", "--out", "o.xls"), "rename the output"),
        (("predict", model, tmp_path / "text.csv"), "expected a number in column 'lat', data row 1"),
        (("predict", image, "q.csv"), "the model represents image, not scattered points"),
        (("predict", model, "line.json"), "has no column 'lon'"),
        (("render", model, "out.png"), "the model represents points, not a picture"),
        (("eval", model, "q.csv"), "has no column 'temp'"),
    ]
    for words, message in cases:
        assert message in complaint(*words), words
    assert not (tmp_path / "none").exists()


def test_everything_observed_is_refused(tmp_path: Path) -> None:
    photo = picture(tmp_path / "photo.png")
    message = complaint("fit", photo, "--observe", "random:1", "--out", tmp_path / "run")
    assert "nothing is held out; say all" in message
