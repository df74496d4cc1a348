"""PSNR, SSIM and LPIPS against hand-worked cases, torchmetrics and the published values."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.data import shared_data
from torch import Tensor
from torchmetrics.functional.image import structural_similarity_index_measure

from alfilter.errors import UserError
from alfilter.metrics import image as module
from alfilter.metrics import lpips, mse, psnr, ssim
from alfilter.report.page.labels import METRICS
from alfilter.signals import read_image, sample


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def picture(name: str = "coffee") -> Tensor:
    signal = sample(name)
    return signal.values().reshape(*signal.shape, -1)


def reference_ssim(pred: Tensor, target: Tensor) -> float:
    x, y = (z.movedim(-1, 0)[None].contiguous() for z in (pred, target))
    return float(structural_similarity_index_measure(x, y, data_range=1.0))  # type: ignore[arg-type]


def test_psnr_by_hand() -> None:
    target = torch.zeros(2, 2, 1)
    assert psnr(target + 0.1, target) == pytest.approx(20, abs=1e-5)
    assert psnr(target, target) == math.inf
    assert psnr(target - 3, target) == math.inf  # below black is black
    assert psnr(target + 3, target) == 0
    assert mse(target + 3, target) == 9


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4), st.integers(0, 99))
def test_mse_and_psnr_in_blocks(h: int, w: int, c: int, seed: int) -> None:
    a, b = noise(h, w, c, seed=seed), noise(h, w, c, seed=seed + 100)
    expected = float(np.mean((a.double().numpy() - b.double().numpy()) ** 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", 5)
        assert mse(a, b) == pytest.approx(expected, rel=1e-12)
        assert psnr(a, b) == pytest.approx(-10 * math.log10(expected), rel=1e-12)


@pytest.mark.parametrize("shape", [(64, 64, 3), (11, 40, 1), (200, 11, 4), (129, 31, 2), (12, 13, 3)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ssim_agrees_with_torchmetrics(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    a = noise(*shape).to(dtype)
    b = (a + 0.2 * (noise(*shape, seed=1).to(dtype) - 0.5)).clamp(0, 1)
    assert ssim(b, a) == pytest.approx(reference_ssim(b, a), abs=1e-5 if dtype == torch.float32 else 1e-10)


@pytest.mark.parametrize("name", ["coffee", "camera", "logo"])
def test_ssim_agrees_with_torchmetrics_on_pictures(name: str) -> None:
    target = picture(name)[100:300, 120:400]
    pred = (target + 0.1 * torch.randn(target.shape, generator=torch.Generator().manual_seed(0))).clamp(0, 1)
    assert ssim(pred, target) == pytest.approx(reference_ssim(pred, target), abs=1e-5)
    assert ssim(pred.double(), target.double()) == pytest.approx(
        reference_ssim(pred.double(), target.double()), abs=1e-9
    )


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 3), st.integers(1, 9))
@settings(deadline=None)
def test_ssim_does_not_depend_on_the_strips(h: int, w: int, c: int, strip: int) -> None:
    a, b = noise(h, w, c), noise(h, w, c, seed=1)
    whole = ssim(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STRIP", strip)
        assert ssim(a, b) == pytest.approx(whole, abs=1e-12)
    assert ssim(b, a) == pytest.approx(whole, abs=1e-12)
    assert -1 <= whole <= 1
    assert ssim(a, a) == pytest.approx(1, abs=1e-12)


def test_ssim_of_small_images_by_hand() -> None:
    a, b = torch.tensor([[[0.25]]]), torch.tensor([[[0.5]]])
    luminance = (2 * 0.25 * 0.5 + 1e-4) / (0.25**2 + 0.5**2 + 1e-4)  # a window of one pixel has no variance
    assert ssim(a, b) == pytest.approx(luminance, abs=1e-12)
    # three pixels in a row: a window of three, mirrored at the ends
    x, y = np.array([0.1, 0.6, 0.3]), np.array([0.2, 0.5, 0.9])
    w = np.exp(-np.array([1.0, 0.0, 1.0]) / 4.5) / np.exp(-np.array([1.0, 0.0, 1.0]) / 4.5).sum()
    total = 0.0
    for rows in ([1, 0, 1], [0, 1, 2], [1, 2, 1]):
        p, q = x[rows], y[rows]
        mp, mq = w @ p, w @ q
        vp, vq, cov = w @ p**2 - mp**2, w @ q**2 - mq**2, w @ (p * q) - mp * mq
        total += (2 * mp * mq + 1e-4) * (2 * cov + 9e-4) / ((mp**2 + mq**2 + 1e-4) * (vp + vq + 9e-4))
    assert ssim(torch.tensor(x)[None, :, None], torch.tensor(y)[None, :, None]) == pytest.approx(total / 3, abs=1e-12)


@pytest.mark.parametrize("size", [(10, 40), (40, 10), (2, 2), (6, 7)])
def test_ssim_takes_the_largest_odd_window_that_fits(size: tuple[int, int]) -> None:
    for n in size:
        assert len(module._window(n)) == min(11, n if n % 2 else n - 1)
    assert ssim(noise(*size, 3), noise(*size, 3)) == pytest.approx(1)


@pytest.mark.parametrize("metric", [psnr, ssim, mse])
def test_shapes_must_agree(metric: Any) -> None:
    with pytest.raises(ValueError, match=r"got \(2, 2, 1\) and \(2, 2, 3\)"):
        metric(torch.zeros(2, 2, 1), torch.zeros(2, 2, 3))
    with pytest.raises(ValueError, match=r"two images \(H, W, c\)"):
        metric(torch.zeros(2, 2), torch.zeros(2, 2))


def weights() -> Path:
    return shared_data("lpips", "lpips_alex_v0.1.npz")


def example(name: str) -> Tensor:
    signal = read_image(shared_data("lpips", f"{name}.png"))
    return signal.values().reshape(*signal.shape, -1)


def test_lpips_published_values() -> None:
    reference = example("ex_ref")
    assert lpips(example("ex_p0"), reference, weights()) == pytest.approx(0.721881, abs=2e-6)
    assert lpips(example("ex_p1"), reference, weights()) == pytest.approx(0.137566, abs=2e-6)
    assert lpips(reference, reference, weights()) == 0


def test_lpips_of_half_precision_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFILTER_LPIPS", str(shared_data("lpips", "lpips_alex_v0.1_fp16.npz")))
    assert lpips(example("ex_p0"), example("ex_ref")) == pytest.approx(0.721881, abs=1e-3)


def test_lpips_of_gray_and_alpha() -> None:
    a, b = noise(40, 50, 1), noise(40, 50, 1, seed=1)
    expected = lpips(a.expand(-1, -1, 3), b.expand(-1, -1, 3), weights())
    assert lpips(a, b, weights()) == pytest.approx(expected, rel=1e-6)
    with_alpha = [torch.cat([x.expand(-1, -1, 3), noise(40, 50, 1, seed=s)], -1) for x, s in ((a, 2), (b, 3))]
    assert lpips(with_alpha[0], with_alpha[1], weights()) == pytest.approx(expected, rel=1e-6)
    assert lpips(a.double(), b.double(), weights()) == pytest.approx(expected, rel=1e-6)


def test_lpips_smallest_image() -> None:
    assert lpips(noise(31, 31, 3), noise(31, 31, 3, seed=1), weights()) > 0
    with pytest.raises(UserError, match="at least 31x31 pixels, got 40x30; leave it out"):
        lpips(noise(30, 40, 3), noise(30, 40, 3), weights())


def test_lpips_without_weights_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ALFILTER_LPIPS", raising=False)
    x = noise(32, 32, 3)
    with pytest.raises(UserError) as caught:
        lpips(x, x)
    for part in ("conv{i}.weight", "conv{i}.bias", "lin{i}.weight", "AlexNet v0.1", "LPIPS authors", "got none"):
        assert part in str(caught.value)
    assert str(caught.value).endswith("give that file, or its path as ALFILTER_LPIPS")
    monkeypatch.setenv("ALFILTER_LPIPS", str(tmp_path / "gone.npz"))
    with pytest.raises(UserError, match=r"got no such file .*gone\.npz"):
        lpips(x, x)


def test_lpips_refuses_other_content(tmp_path: Path) -> None:
    x, file = noise(32, 32, 3), tmp_path / "w.npz"
    contents: list[Any] = [b"", b"text", b"PK\x03\x04broken"]
    for content in contents:
        file.write_bytes(content)
        with pytest.raises(UserError, match=r"cannot read .* as LPIPS weights") as caught:
            lpips(x, x, file)
        assert "pickle" not in str(caught.value)
    np.savez(file, other=np.zeros(3))
    with pytest.raises(UserError, match=r"expected floats \(64, 3, 11, 11\) as conv0.weight in .*, got nothing"):
        lpips(x, x, file)
    wrong: dict[str, Any] = {"conv0.weight": np.zeros((2, 3))}
    np.savez(file, **wrong)
    with pytest.raises(UserError, match=r"got float64 \(2, 3\)"):
        lpips(x, x, file)
    wrong["conv0.weight"] = np.array([{}], dtype=object)
    np.savez(file, **wrong)  # a pickle is never opened
    with pytest.raises(UserError, match=r"cannot read .* as LPIPS weights: it holds Python objects"):
        lpips(x, x, file)
    np.save(tmp_path / "w.npy", np.zeros(3))
    with pytest.raises(UserError, match=r"cannot read .* as LPIPS weights"):
        lpips(x, x, tmp_path / "w.npy")


@pytest.mark.parametrize("metric", [psnr, ssim, lpips, mse])
def test_declared_direction_is_measured(metric: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """More noise is worse, in the direction that reports take for better."""
    if metric is lpips:
        monkeypatch.setenv("ALFILTER_LPIPS", str(weights()))
    target = picture("chelsea")
    grain = torch.randn(target.shape, generator=torch.Generator().manual_seed(0))
    scores = [metric((target + amount * grain).clamp(0, 1), target) for amount in (0.02, 0.05, 0.1, 0.2)]
    assert scores == sorted(scores, reverse=METRICS[metric.__name__].better > 0)


def test_the_unit_of_psnr_is_the_decibel() -> None:
    a, b = noise(9, 9, 3) * 0.1, torch.zeros(9, 9, 3)
    assert psnr(a * 0.1, b) == pytest.approx(psnr(a, b) + 20, abs=1e-4)  # a tenth of the error is 20 dB
