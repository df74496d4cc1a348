"""The page of a sound: amplitudes as the library gives them, the original beside them, drawn and played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.chromium import wait_until
from tests.viewer.conftest import Client
from tests.viewer.test_planes import opened, served

from alfilter.analysis import filtered_encoding_of
from alfilter.errors import UserError
from alfilter.methods import build
from alfilter.signals import write_audio
from alfilter.tasks import AudioTask
from alfilter.training import fit, load, save
from alfilter.viewer.open import open_viewer

COUNT, RATE = 900, 8000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sound")
    tone = 0.5 * np.sin(2 * np.pi * 440 * np.arange(COUNT) / RATE)
    write_audio(home / "tone.wav", tone[:, None], RATE, 16, is_float=False)
    task = AudioTask.from_file(home / "tone.wav")
    field = build("al-grid", in_dim=1, out_dim=1, samples=task.samples, width=16)
    field.signal = task.describe()
    fit(field, task, steps=30, lr=1e-2)
    save(field, home / "model.safetensors")
    return home


def numbers(client: Client, words: str) -> np.ndarray:
    answer = client.ask(f"/api/samples?{words}")
    assert answer.status == 200, answer.body
    return np.frombuffer(answer.body, "<f4")


def test_amplitudes_and_the_cut_off_are_the_librarys(home: Path) -> None:
    field = load(home / "model.safetensors")
    encoding = filtered_encoding_of(field)
    assert encoding is not None
    with served(home / "model.safetensors", reference=home / "tone.wav") as server:
        client = Client(server)
        about = client.ask("/api/about").json()
        assert (about["samples"], about["rate"], about["channels"]) == (COUNT, RATE, 1)
        places = 100 + 0.25 * np.arange(50)
        x = torch.from_numpy(2 * places / (COUNT - 1) - 1).float()[:, None]
        with torch.inference_mode():
            expected, cut = 2 * field(x)[:, 0].numpy() - 1, encoding.local_frequency(x).numpy() / (COUNT - 1)
        assert np.allclose(numbers(client, "first=100&step=0.25&count=50"), expected, atol=1e-5)
        assert np.allclose(numbers(client, "layer=cut&first=100&step=0.25&count=50"), cut, rtol=1e-5)
        tone = np.sin(2 * np.pi * 440 * np.arange(COUNT) / RATE)
        assert np.allclose(numbers(client, f"layer=reference&first=0&step=1&count={COUNT}"), tone, atol=2e-3)
        place = client.ask("/api/at?x=100.25").json()
        assert place["value"] == pytest.approx([float(expected[1])], abs=1e-5)
        assert place["frequency"] == pytest.approx(float(cut[1]), rel=1e-4)
        for wrong in ("count=0", "count=99999999", "first=-5&count=3", "first=890&step=9&count=9", "layer=x&count=1"):
            assert client.ask(f"/api/samples?{wrong}").status == 400
        assert client.ask("/api/at?x=901").status == 400


def test_a_sound_is_shown_alone(home: Path) -> None:
    model = str(home / "model.safetensors")
    with pytest.raises(UserError, match="is a sound and is shown alone"):
        open_viewer([model, model])


def test_the_page_draws_and_plays(home: Path, browser: Any) -> None:
    with served(home / "model.safetensors", reference=home / "tone.wav") as server:
        page = opened(browser, server)
        assert "900 samples at 8,000 Hz, 0.11 s" in page.inner_text("#facts")
        wait_until(page, "document.getElementById('screen').textContent.includes('dB')")
        drawn = (
            "new Set(new Uint32Array({0}.getContext('2d').getImageData(0, 0, {0}.width, {0}.height).data.buffer)).size"
        )
        assert page.evaluate(drawn.format("view.stage.wave")) > 1
        assert page.evaluate(drawn.format("view.stage.spectrogram")) > 20
        page.evaluate("() => view.stage.setView(100, 140)")
        wait_until(page, "document.getElementById('scale').textContent === '0.005 s'")
        wait_until(page, "view.stage.fine && view.stage.fine.values !== null")
        page.get_by_label("Difference").check(force=True)
        page.evaluate("() => view.settled()")
        assert page.evaluate("Math.abs(view.stage.amplitude(7, 0))") < 1
        page.click("#fit")
        page.click("#play")
        wait_until(page, "view.stage.player === null && view.stage.audio !== undefined")
        assert page.problems == []
