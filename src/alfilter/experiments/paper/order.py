"""Does the order of the paper's image table hold in its own setting, at a size that fits a CPU?"""

from __future__ import annotations

from alfilter.experiments.study import Lines, Run, Study, table

IMAGES = [f"div2k/{number:02d}.png" for number in range(4)]
METHODS = ("al-sine", "al-relu", "pe-mlp", "siren", "fourier-features")


def runs() -> list[Run]:
    """Preset `paper`, 96×96 crops, 500 steps."""
    return [
        Run(method, image, method=method, preset="paper", size=96, seed=seed, training={"steps": 500})
        for method in METHODS
        for image in IMAGES
        for seed in (0,)
    ]


def summarise(lines: Lines) -> str:
    """PSNR, SSIM and parameters of every method."""
    return table(
        lines,
        {
            "PSNR, dB": lambda line: line["metrics"]["psnr"],
            "SSIM": lambda line: line["metrics"]["ssim"],
            "parameters": lambda line: float(line["params"]),
        },
    )


STUDY = Study("order", runs, summarise)
