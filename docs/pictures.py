"""Makes the pictures of the README and the documents from finished run folders.

python docs/pictures.py runs/demo
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from alfilter.analysis import alpha_map, filtered_encoding_of
from alfilter.report import error_map
from alfilter.signals import read_image
from alfilter.training import load

IMAGES = Path(__file__).parent / "images"


def overview(run: Path, out: Path) -> None:
    """Reference, reconstruction, α and error of a run, side by side."""
    reference, fitted = (read_image(run / f"{name}.png").data / 255 for name in ("reference", "reconstruction"))
    encoding = filtered_encoding_of(load(run / "model.safetensors"))
    assert encoding is not None
    alpha = alpha_map(encoding, reference.shape[:2]).numpy()
    low, high = np.percentile(alpha, (1, 99))
    figure = Figure(figsize=(12, 3.4), dpi=90, layout="constrained")
    FigureCanvasAgg(figure)
    panels = [
        ("picture", reference, {}),
        ("field", fitted, {}),
        ("learned α, in channels", alpha, {"cmap": "viridis", "vmin": low, "vmax": high}),
        ("absolute error", error_map(fitted, reference), {"cmap": "magma"}),
    ]
    for axes, (title, values, style) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        shown = axes.imshow(values, **style)
        axes.set_title(title)
        axes.set_axis_off()
        if style:
            figure.colorbar(shown, ax=axes, fraction=0.046)
    out.parent.mkdir(exist_ok=True)
    figure.savefig(out)


if __name__ == "__main__":
    overview(Path(sys.argv[1]), IMAGES / "overview.png")
