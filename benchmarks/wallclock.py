"""Who is best after one minute? `default` al-sine, siren and pe-mlp on 512×512 pictures, equal wall-clock, interleaved.

Every method gets the same seconds on the same cores, one after the other, picture by picture, so that whatever else the
machine does meets all of them. The settings are the presets `default`; `alfilter experiment wallclock` shows the search
they come from, the same number of rows for each, on another picture.

    python benchmarks/wallclock.py [--seconds 60] [--images 00 01 02 03] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

import alfilter as al
from alfilter.methods import parameter_count, training

METHODS = ("al-sine", "siren", "pe-mlp")
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "div2k"


def one(method: str, picture: Path, seconds: float) -> dict[str, object]:
    task = al.ImageTask.from_file(picture)
    sizes = {"in_dim": 2, "out_dim": task.out_dim, "samples": task.samples}
    field = al.build(method, preset="default", **sizes)
    result = al.fit(field, task, training=training(method, "default", budget=seconds))
    scores = task.evaluate(field).metrics
    facts = {"steps": result.steps, "seconds": result.seconds, "params": parameter_count(field)}
    return {"method": method, "image": picture.name, **scores, **facts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--images", nargs="+", default=["00", "01", "02", "03"])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    one("al-sine", arguments.data / f"{arguments.images[0]}.png", 1.0)  # compile the kernels before the clock matters
    lines = []
    for name in arguments.images:
        for method in METHODS:
            line = one(method, arguments.data / f"{name}.png", arguments.seconds)
            lines.append(line)
            if not arguments.json:
                print(
                    f"{name}  {method:<8} {line['psnr']:6.2f} dB  {line['ssim']:.4f}  {line['steps']} steps", flush=True
                )
    means = {m: statistics.fmean(line["psnr"] for line in lines if line["method"] == m) for m in METHODS}
    ahead = means["al-sine"] - max(means["siren"], means["pe-mlp"])
    if arguments.json:
        print(json.dumps({"lines": lines, "mean_psnr": means, "ahead": ahead}))
        return
    print(*(f"{method} {mean:.2f} dB" for method, mean in means.items()), sep="   ")
    print(f"al-sine is ahead of the better of the two by {ahead:.2f} dB")


if __name__ == "__main__":
    main()
