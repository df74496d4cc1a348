"""What the paper prints, as data: the values of its tables and its claims' places, to stand beside ours."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Printed:
    """A table or figure of the paper.

    label: its name in the paper's source. title: its caption, shortened. values: row → column → printed number; a row
    is the group of our result lines, a column the name of our metric. better: column → whether more is better.
    """

    label: str
    title: str
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    better: Mapping[str, bool] = field(default_factory=dict)


IMAGE_FITTING = Printed(
    "2d_comparison",
    "Quantitative comparison of 2D image fitting",
    {
        "pe-mlp": {"psnr": 31.45, "ssim": 0.8706, "lpips": 2.54e-1},
        "siren": {"psnr": 36.97, "ssim": 0.9739, "lpips": 5.07e-2},
        "mfn": {"psnr": 31.23, "ssim": 0.9398, "lpips": 6.87e-3},
        "diner": {"psnr": 38.67, "ssim": 0.9635, "lpips": 1.56e-2},
        "al-relu": {"psnr": 40.09, "ssim": 0.9719, "lpips": 5.14e-2},
        "al-sine": {"psnr": 46.27, "ssim": 0.9938, "lpips": 2.41e-3},
    },
    {"psnr": True, "ssim": True, "lpips": False},
)
# Chamfer and IoU of the four shapes; the paper states neither the number of points nor the scale of its Chamfer
SHAPE_VALUES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "pe-mlp": ((1.71e-6, 1.24e-6, 2.18e-6, 2.93e-6), (0.968, 0.992, 0.985, 0.964)),
    "siren": ((1.26e-6, 1.40e-6, 1.73e-6, 2.82e-6), (0.987, 0.982, 0.976, 0.976)),
    "bacon": ((1.08e-6, 1.61e-6, 2.16e-6, 2.88e-6), (0.988, 0.978, 0.978, 0.961)),
    "al-sine": ((1.08e-6, 1.24e-6, 1.69e-6, 2.90e-6), (0.991, 0.994, 0.987, 0.961)),
}
SHAPES = Printed(
    "sdf_comparison",
    "Quantitative comparison of signed distance field representations",
    {
        method: {"chamfer": statistics.fmean(chamfer), "iou": statistics.fmean(iou)}
        for method, (chamfer, iou) in SHAPE_VALUES.items()
    },
    {"chamfer": False, "iou": True},
)
# (spatially adaptive, explicit local frequency control, position-dependent)
TRAITS: dict[str, tuple[str, str, str]] = {
    "siren": ("no", "no", "no"),
    "wire": ("no", "no", "no"),
    "finer": ("partial", "no", "partial"),
    "mfn-gabor": ("no", "partial", "no"),
    "bacon": ("no", "yes", "no"),
    "hash-grid": ("yes", "no", "yes"),
    "diner": ("yes", "no", "yes"),
    "al-sine": ("yes", "yes", "yes"),
}
# by study and scale; the twin of `shapes` has other networks, sizes and steps, so nothing stands beside it
PRINTED: dict[str, Printed] = {
    **dict.fromkeys(("image-fitting", "image-fitting-half", "image-fitting-paper"), IMAGE_FITTING),
    **dict.fromkeys(("shapes-half", "shapes-paper"), SHAPES),
}


def printed_for(study: str) -> Printed | None:
    """What the paper prints for a study's table at its scale.

    >>> [printed_for(f"image-fitting-{scale}").values["siren"]["psnr"] for scale in ("paper", "half")]
    [36.97, 36.97]
    """
    return PRINTED.get(study)


def beside(lines: list[dict[str, Any]], columns: Mapping[str, tuple[str, int]], printed: Printed) -> str:
    """A Markdown table, one row per group: mean ± spread of each metric, and the value the paper prints.

    columns: metric → (what is shown, decimals).
    """
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(line["group"], []).append(line["metrics"])
    heads = [word for shown, _ in columns.values() for word in (shown, "printed")]
    rows = [["setting", "runs", *heads], ["---"] * (2 + len(heads))]
    for group, members in groups.items():
        cells: list[str] = []
        for metric, (_, digits) in columns.items():
            cells.append(spread([m[metric] for m in members if m.get(metric) is not None], digits))
            value = printed.values.get(group, {}).get(metric)
            cells.append("–" if value is None else f"{value:.{digits}f}")
        rows.append([group, str(len(members)), *cells])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def spread(values: list[float], digits: int) -> str:
    """Mean ± standard deviation.

    >>> spread([1.0, 3.0], 2), spread([2.0], 1), spread([], 1)
    ('2.00 ± 1.41', '2.0', '–')
    """
    if not values:
        return "–"
    around = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.{digits}f}{around}"
