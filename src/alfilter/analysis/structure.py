"""Local structure of a picture, and whether a map like α follows it more than chance would."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from alfilter.analysis.spectrum import ranks
from alfilter.errors import UserError


def block_means(values: Tensor, block: int) -> Tensor:
    """The mean over squares of `block` pixels; a ragged rim is dropped. (H, W) → (H//b, W//b).

    >>> block_means(torch.arange(16.0).view(4, 4), 2).tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    if min(values.shape) < block:
        raise UserError(f"blocks of {block} do not fit into a map of {tuple(values.shape)}; take smaller ones")
    return F.avg_pool2d(values.double()[None, None], block)[0, 0]


def gradient_energy(image: Tensor) -> Tensor:
    """|∇I|² by differences to the next pixel down and to the right; the last row and column repeat. (H, W) → (H, W).

    Differences to the next pixel, not central ones: I[i+1] - I[i-1] is blind to stripes of one pixel, the finest detail
    there is. They stand half a pixel beside the place they are counted for, which a mean over a block does not notice.

    >>> gradient_energy(torch.tensor([[0.0, 1.0, 0.0, 1.0]])).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """
    energy = torch.zeros_like(image, dtype=torch.float64)
    for axis in (0, 1):
        step = image.double().diff(dim=axis)
        if step.shape[axis]:
            energy += torch.cat((step, step.narrow(axis, step.shape[axis] - 1, 1)), axis).square()
    return energy


def busiest_square(image: Tensor, side: int) -> tuple[int, int]:
    """Top and left of the square with the most gradient energy; (0, 0) when the picture (H, W) is not larger."""
    height, width = image.shape
    if max(height, width) <= side:
        return 0, 0
    high, wide = min(side, height), min(side, width)
    total = F.pad(gradient_energy(image), (1, 0, 1, 0)).cumsum(0).cumsum(1)
    sums = total[high:, wide:] - total[:-high, wide:] - total[high:, :-wide] + total[:-high, :-wide]
    place = int(sums.argmax())
    return place // sums.shape[1], place % sums.shape[1]


def local_band(image: Tensor, block: int, octaves: int = 3) -> Tensor:
    """How much detail every block has: the log error of the picture's pyramid. (H, W) → (H//b, W//b).

    Mean over k = 1, …, octaves of log(ε + MSE of the picture against its means over 2^k × 2^k pixels), block by block.
    """
    pixels = image.double()[: image.shape[0] // block * block, : image.shape[1] // block * block]
    logs = []
    for octave in range(1, octaves + 1):
        side = 1 << octave
        coarse = F.interpolate(F.avg_pool2d(pixels[None, None], side), scale_factor=side, mode="nearest")[0, 0]
        logs.append((block_means((pixels - coarse).square(), block) + 1e-8).log())
    return torch.stack(logs).mean(0)


def spectral_centroid(image: Tensor, block: int, window: int | None = None) -> Tensor:
    """Σ|f||Î(f)|² / Σ|Î(f)|², f in cycles per pixel, of the Hann-windowed square around every block. → (H//b, W//b).

    window: side of the square, twice the block unless given; its mean is subtracted first, and the picture is reflected
    at its rim. Zero where nothing varies.

    >>> stripes = torch.cos(torch.pi / 2 * torch.arange(32)).expand(32, 32)  # a quarter cycle per pixel
    >>> round(float(spectral_centroid(stripes, 8)[1, 1]), 2)
    0.25
    """
    side = window or 2 * block
    rim = (side - block) // 2
    pixels = image.double()[: image.shape[0] // block * block, : image.shape[1] // block * block]
    padded = F.pad(pixels[None, None], (rim, side - block - rim) * 2, mode="reflect")[0, 0]
    patches = padded.unfold(0, side, block).unfold(1, side, block)  # (h, w, side, side)
    hann = torch.hann_window(side + 2, periodic=False, dtype=torch.float64)[1:-1]
    taper = hann.unsqueeze(-1) * hann
    mean = (patches * taper).sum((-2, -1), keepdim=True) / taper.sum()  # so that the window leaves no constant
    power = torch.fft.fft2((patches - mean) * taper).abs().square()
    radius = torch.hypot(*torch.meshgrid(*(torch.fft.fftfreq(side, dtype=torch.float64),) * 2, indexing="ij"))
    total = power.sum((-2, -1))
    centroid: Tensor = torch.where(total > 1e-20, (radius * power).sum((-2, -1)) / total.clamp(min=1e-300), 0.0)
    return centroid


def shift_test(a: Tensor, b: Tensor) -> tuple[float, float, Tensor]:
    """Spearman's correlation of two maps (h, w), the chance of as much by accident, and what accident gives.

    The correlation of (a, b), its two-sided p, and the correlations of b with `a` moved around the torus by every whole
    shift: (h, w), the first being that of (a, b). Shifts keep the smoothness of both maps, which a plain shuffle would
    destroy: two smooth maps are related by accident far more often than two rough ones. p ≥ 1/(h w). All shifts at
    once by Fourier's theorem, since a shift does not change ranks. NaN when a map is constant.

    >>> ramp = torch.arange(20.0).expand(4, 20).square()
    >>> value, p, _ = shift_test(ramp, ramp)
    >>> round(value, 6), p  # the four shifts down change nothing: p is not smaller than 4/80
    (1.0, 0.05)
    """
    if a.shape != b.shape or a.dim() != 2:
        raise UserError(f"two maps of one shape (h, w) are compared, got {tuple(a.shape)} and {tuple(b.shape)}")
    left, right = (_unit(ranks(each)).view(each.shape) for each in (a, b))
    product = torch.fft.fft2(left).conj() * torch.fft.fft2(right)
    correlations: Tensor = torch.fft.ifft2(product).real  # at (i, j): Σ left.roll((i, j)) right
    value = correlations[0, 0]
    return float(value), float((correlations.abs() >= value.abs() - 1e-9).double().mean()), correlations


def _unit(values: Tensor) -> Tensor:
    """Without its mean, of length one."""
    centred: Tensor = values - values.mean()
    length: Tensor = torch.linalg.vector_norm(centred)
    return centred / length
