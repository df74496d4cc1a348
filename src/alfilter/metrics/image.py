"""How close two images (H, W, c) in [0, 1] are: PSNR, SSIM, LPIPS."""

from __future__ import annotations

import os
from functools import lru_cache
from math import inf, log10
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from alfilter.errors import UserError
from alfilter.runtime.thread_pool import parallel_map

_BLOCK = 1 << 21  # numbers compared at once in float64
STRIP = 64  # rows of SSIM computed at once: a strip of a wide image stays in cache
REACH = 5  # rows and columns that SSIM's window looks to each side


def mse(pred: Tensor, target: Tensor) -> float:
    """Mean squared error, summed in float64; values are taken as they are.

    >>> mse(torch.zeros(2, 2, 1), torch.full((2, 2, 1), 0.5))
    0.25
    """
    _check(pred, target)
    return _squared(pred, target, clip=False)


def psnr(pred: Tensor, target: Tensor) -> float:
    """Peak signal-to-noise ratio -10 log10(mse) in dB of values clipped to [0, 1]; infinite for equal images.

    >>> round(psnr(torch.zeros(2, 2, 1), torch.full((2, 2, 1), 0.1)), 3)
    20.0
    """
    _check(pred, target)
    return psnr_of(_squared(pred, target, clip=True))


def psnr_of(error: float) -> float:
    """A mean squared error of values in [0, 1] in dB.

    >>> psnr_of(0.01), psnr_of(0.0)
    (20.0, inf)
    """
    return inf if error == 0 else -10 * log10(error)


def _check(pred: Tensor, target: Tensor) -> None:
    if pred.shape != target.shape or pred.dim() != 3 or pred.numel() == 0:
        raise ValueError(f"expected two images (H, W, c) of one shape, got {(*pred.shape,)} and {(*target.shape,)}")


def _squared(pred: Tensor, target: Tensor, *, clip: bool) -> float:
    """The mean squared difference, block by block."""
    total, flat = 0.0, [image.detach().reshape(-1) for image in (pred, target)]
    for start in range(0, pred.numel(), _BLOCK):
        a, b = (x[start : start + _BLOCK].double() for x in flat)
        a, b = (a.clamp(0, 1), b.clamp(0, 1)) if clip else (a, b)
        total += float((a - b).square().sum())
    return total / pred.numel()


@torch.no_grad()
def ssim(pred: Tensor, target: Tensor) -> float:
    """Structural similarity: gaussian 11×11 window with σ = 1.5, K1 = 0.01, K2 = 0.03, range 1, mean over all.

    Borders are reflected so that every pixel has a full window, channels are averaged, values are clipped to [0, 1].
    An axis of fewer than 11 pixels takes the largest odd window that fits, of the same σ.

    >>> ssim(torch.eye(16)[..., None], torch.eye(16)[..., None])
    1.0
    """
    _check(pred, target)
    height = pred.shape[0]
    strips = [(start, min(start + STRIP, height)) for start in range(0, height, STRIP)]
    return sum(parallel_map(lambda strip: ssim_strip(pred, target, *strip), strips)) / pred.numel()


def ssim_strip(
    pred: Tensor, target: Tensor, start: int, stop: int, *, first: int = 0, height: int | None = None
) -> float:
    """The sum of the similarity over the rows [start, stop) of images of which only a part may be here.

    pred, target: the rows from `first` on, with `REACH` rows around the strip where the image, `height` rows high, has
    them.
    """
    return float(ssim_map(pred, target, start, stop, first=first, height=height).sum())


def ssim_map(
    pred: Tensor, target: Tensor, start: int, stop: int, *, first: int = 0, height: int | None = None
) -> Tensor:
    """The similarity of every pixel and channel of a strip: (stop - start, W, c). The arguments are `ssim_strip`'s."""
    height = pred.shape[0] if height is None else height
    down, across = (_window(n).to(pred.device) for n in (height, pred.shape[1]))
    rows = _reflected(start, stop, len(down) // 2, height).to(pred.device) - first
    columns = _reflected(0, pred.shape[1], len(across) // 2, pred.shape[1]).to(pred.device)
    x, y = (image[rows][:, columns].double().clamp(0, 1) for image in (pred, target))  # (h + 2p, W + 2q, c)
    mx, my, squares, product = (_blur(z, down, across) for z in (x, y, x * x + y * y, x * y))  # (h, W, c) each
    means, cross = mx * mx + my * my, mx * my
    c1, c2 = 0.01**2, 0.03**2
    return (2 * cross + c1) * (2 * (product - cross) + c2) / ((means + c1) * (squares - means + c2))


def _window(size: int) -> Tensor:
    """Gaussian weights over 11 samples, or the largest odd number that fits in `size`, with sum 1."""
    radius = (min(11, size) - 1) // 2
    weights = torch.exp(-torch.arange(-radius, radius + 1, dtype=torch.float64).square() / (2 * 1.5**2))
    return weights / weights.sum()


def _reflected(start: int, stop: int, radius: int, size: int) -> Tensor:
    """Indices from start - radius to stop + radius, mirrored at the first and last sample."""
    index = torch.arange(start - radius, stop + radius).abs()
    return torch.where(index < size, index, 2 * (size - 1) - index)


def _blur(z: Tensor, down: Tensor, across: Tensor) -> Tensor:
    """Separable correlation over rows and columns without padding: (h + 2p, W + 2q, c) → (h, W, c)."""
    for axis, weights in enumerate((down, across)):
        length = z.shape[axis] - len(weights) + 1
        parts = [z.narrow(axis, k, length) for k in range(len(weights))]
        z = parts[0] * weights[0]
        for part, weight in zip(parts[1:], weights[1:].tolist(), strict=True):
            z.add_(part, alpha=weight)
    return z


# AlexNet's five convolutions: weight shape, stride, padding, and whether a 3/2 max-pool comes before
_LAYERS = (
    ((64, 3, 11, 11), 4, 2, False),
    ((192, 64, 5, 5), 1, 2, True),
    ((384, 192, 3, 3), 1, 1, True),
    ((256, 384, 3, 3), 1, 1, False),
    ((256, 256, 3, 3), 1, 1, False),
)
_SMALLEST = 31  # pixels per side, below which a pooled map would be empty
_SHIFT = (-0.030, -0.088, -0.188)
_SCALE = (0.458, 0.448, 0.450)


@torch.no_grad()
def lpips(pred: Tensor, target: Tensor, weights: str | Path | None = None) -> float:
    """Learned perceptual distance, AlexNet v0.1: Σ_i mean_xy Σ_c w_ic (f̂_ic(pred) - f̂_ic(target))², inputs in [-1, 1].

    Gray is repeated to three channels, alpha is dropped, values are clipped to [0, 1] first. `weights` is the npz file
    of the network; without it the environment variable ALFILTER_LPIPS names it.
    """
    _check(pred, target)
    if min(pred.shape[:2]) < _SMALLEST:
        size = f"{pred.shape[1]}x{pred.shape[0]}"
        raise UserError(f"LPIPS needs images of at least {_SMALLEST}x{_SMALLEST} pixels, got {size}; leave it out")
    layers = _load(_weights_file(weights))
    x, y = _network_input(pred), _network_input(target)  # (1, 3, H, W)
    total = 0.0
    for (kernel, bias, head), (_, stride, padding, pooled) in zip(layers, _LAYERS, strict=True):
        kernel, bias, head = (w.to(x.device) for w in (kernel, bias, head))
        if pooled:
            x, y = F.max_pool2d(x, 3, 2), F.max_pool2d(y, 3, 2)
        x, y = (F.conv2d(z, kernel, bias, stride, padding).relu_() for z in (x, y))
        total += float(F.conv2d((_unit(x) - _unit(y)).square_(), head).double().mean())
    return total


def _network_input(image: Tensor) -> Tensor:
    """(H, W, c) in [0, 1] → (1, 3, H, W) as the network was trained: [-1, 1], shifted and scaled per channel."""
    colour = image[..., :1].expand(-1, -1, 3) if image.shape[-1] < 3 else image[..., :3]
    scaled = (2 * colour.float().clamp(0, 1) - 1 - colour.new_tensor(_SHIFT).float()) / colour.new_tensor(
        _SCALE
    ).float()
    return scaled.movedim(-1, 0)[None].contiguous()


def _unit(features: Tensor) -> Tensor:
    """Features of length one over the channels; the small term keeps an all-zero pixel at zero."""
    return features / (features.square().sum(1, keepdim=True).sqrt() + 1e-10)


def _weights_file(weights: str | Path | None) -> Path:
    named = weights if weights is not None else os.environ.get("ALFILTER_LPIPS", "")
    file = Path(named)
    if named and file.is_file():
        return file
    got = f"no such file {named}" if named else "none"
    arrays = "conv{i}.weight, conv{i}.bias and lin{i}.weight for i = 0..4"
    source = f"an npz file with {arrays}, the AlexNet v0.1 weights published by the LPIPS authors"
    raise UserError(
        f"LPIPS needs {source}, got {got}; give that file, or its path as ALFILTER_LPIPS", arguments=["lpips"]
    )


def _load(file: Path) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(kernel, bias, head) of the five layers, read again only when the file has changed."""
    return _load_version(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _load_version(file: Path, version: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    try:
        with file.open("rb") as handle:
            is_archive = handle.read(2) == b"PK"
        if not is_archive:  # whatever else it is, NumPy would take it for a pickle
            raise UserError(
                f"cannot read {file} as LPIPS weights: it is no npz file; give the AlexNet v0.1 npz file",
                arguments=["lpips"],
            )
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            return [_layer(file, stored, i) for i in range(len(_LAYERS))]
    except UserError:
        raise
    except (OSError, ValueError, TypeError, AttributeError, EOFError, BadZipFile) as error:
        reason = "it holds Python objects" if "pickle" in str(error) else " ".join(str(error).split())
        raise UserError(f"cannot read {file} as LPIPS weights: {reason}; give the AlexNet v0.1 npz file") from error


def _layer(file: Path, stored: np.lib.npyio.NpzFile, i: int) -> tuple[Tensor, Tensor, Tensor]:
    shape = _LAYERS[i][0]
    wanted = {f"conv{i}.weight": shape, f"conv{i}.bias": shape[:1], f"lin{i}.weight": (1, shape[0], 1, 1)}
    arrays = []
    for name, size in wanted.items():
        array = stored.get(name)
        if array is None or array.shape != size or array.dtype.kind != "f":
            got = "nothing" if array is None else f"{array.dtype} {array.shape}"
            raise UserError(f"expected floats {size} as {name} in {file}, got {got}; give the AlexNet v0.1 npz file")
        arrays.append(torch.from_numpy(array.astype(np.float32)))
    return arrays[0], arrays[1], arrays[2]
