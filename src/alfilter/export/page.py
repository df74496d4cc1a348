"""One HTML file that evaluates a field in the browser: no server, no network, nothing to install."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import asdict
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

import alfilter
from alfilter.errors import UserError
from alfilter.evaluate import LAYOUTS
from alfilter.export.program import program_of
from alfilter.export.steps import Program, packed
from alfilter.files import write_text
from alfilter.methods import METHODS, Field, parameter_count

_LARGEST = 1 << 28  # bytes of a page that a browser still opens with ease
SHOWN = "pictures, volumes, videos, light fields, sounds, and points over two coordinates"
_MAP = 512  # samples of the longer side of a field without any of its own: scattered points


def write_page(field: Field, out: str | Path, title: str) -> dict[str, Any]:
    """Write a field as a page and say what was written."""
    program, text = _page(field, title)
    write_text(out, text)
    rounded = program.steps["rounded"]
    return {
        "file": str(out),
        "bytes": len(text.encode()),
        "method": field.spec.get("method"),
        "bits": rounded["bits"] if rounded else 32,
    }


def page_text(field: Field, title: str) -> str:
    """The page of a field whose kind has one; same field, same text."""
    return _page(field, title)[1]


def _page(field: Field, title: str) -> tuple[Program, str]:
    if field.signal.get("kind") not in (*LAYOUTS, "audio") and field.in_dim != 2:
        kind = field.signal.get("kind") or f"a field of {field.in_dim} coordinates"
        raise UserError(f"a page shows {SHOWN}, got {kind}; export .onnx instead, or look at it with alfilter view")
    program = program_of(field)
    _add_facts(program, field, title)
    numbers = packed(program)
    size = len(numbers)
    if size > _LARGEST * 3 // 4:
        raise UserError(f"the page would hold {size:,} bytes of numbers, at most {_LARGEST:,}; export .onnx instead")
    return program, _fill(
        "sound" if field.signal.get("kind") == "audio" else "picture",
        VERSION=escape(alfilter.__version__),
        TITLE=escape(title),
        LEAD=escape(_lead(field, program)),
        ABOUT=_about(field, program),
        PROGRAM=json.dumps(program.steps, ensure_ascii=False).replace("<", "\\u003c"),
        NUMBERS=b64encode(numbers).decode("ascii"),
    )


def _about(field: Field, program: Program) -> str:
    layout = LAYOUTS.get(str(field.signal.get("kind")))
    noun = layout.noun if layout else "sound" if field.signal.get("kind") == "audio" else "map"
    return (
        (
            f"This {noun} is a function: a network of {parameter_count(field):,} parameters takes any place and gives "
            "the value there. It has no samples of its own, so every magnification is evaluated again, also between "
            "the samples it was fitted to."
        )
        + (
            " Before the network, a filter decides at every place which frequencies of the encoding pass."
            if program.steps["filter"]
            else ""
        )
        + (
            f" Its table is rounded to {program.steps['rounded']['bits']} bits a number, to keep the page small."
            if program.steps["rounded"]
            else ""
        )
    )


def _add_facts(program: Program, field: Field, title: str) -> None:
    """What the page shows beside the values: sizes, colours, units."""
    facts, kind = field.signal, field.signal.get("kind")
    program.steps |= {
        "title": title,
        "colours": _viridis(),
        "scale": None,
        "axes": None,
        "values": None,
        "layout": None,
    }
    if kind in LAYOUTS:
        layout, whole = LAYOUTS[kind], [int(n) for n in facts["shape"]]
        down, right = layout.planes[0]
        program.steps |= {"layout": asdict(layout), "whole": whole, "rate": facts.get("rate")}
        program.steps["shape"], unit = [whole[down], whole[right]], layout.sample
    elif kind == "audio":
        program.steps |= {
            "whole": [int(n) for n in facts["shape"]],
            "shape": [1, *facts["shape"]],
            "rate": facts["rate"],
        }
        unit = "sample"
    elif kind == "points":
        program.steps["shape"], unit = _points(program, field), f"1/{_MAP} of the domain"
    else:
        program.steps["shape"], unit = list(field.spec.get("samples") or (_MAP, _MAP)), "sample"
    if program.steps["filter"]:
        longest = max(max(program.steps.get("whole", program.steps["shape"])) - 1, 1)
        program.steps["filter"] |= {
            "frequencies": [each / longest for each in program.steps["filter"]["frequencies"]],
            "across": longest,
            "unit": unit,
        }


def _points(program: Program, field: Field) -> list[int]:
    """A map, the first coordinate to the right and the second upwards, the first value in colours, in the user's units.

    Its sides are as the coordinates' ranges, as long as none is more than three times the other: beyond that the two
    hardly have one unit, and the map is a square.
    """
    facts = field.signal
    program.steps["axes"] = [
        {"name": name, "low": low, "high": high}
        for name, low, high in zip(facts["coords"], facts["low"], facts["high"], strict=True)
    ]
    low, high = np.array(facts["value_low"]), np.array(facts["value_high"])
    program.steps["shift"] = (
        low + (high - low) * np.array(program.steps["shift"])
    ).tolist()  # the fit's [0, 1] in their units
    program.steps["range"] = ((high - low) * np.array(program.steps["range"])).tolist()
    program.steps |= {"scale": [facts["value_low"][0], facts["value_high"][0]], "values": list(facts["values"])}
    across, up = (high - low for low, high in zip(facts["low"], facts["high"], strict=True))
    if not (across > 0 and up > 0 and 1 / 3 <= across / up <= 3):
        return [_MAP, _MAP]
    return [round(_MAP * up / max(across, up)), round(_MAP * across / max(across, up))]


def _lead(field: Field, program: Program) -> str:
    sizes = " × ".join(map(str, reversed(program.steps.get("whole", program.steps["shape"]))))
    layout = program.steps["layout"]
    name = str(field.spec.get("method", "field"))
    about = METHODS[name].title if name in METHODS else name
    axes, values = program.steps["axes"], program.steps["values"]
    what = (
        f"{', '.join(values)} over {axes[0]['name']} and {axes[1]['name']}"
        if axes
        else f"{sizes} {layout['sample'] if layout else 'sample'}s"
    )
    if field.signal.get("kind") == "audio":
        count, rate = program.steps["whole"][0], program.steps["rate"]
        what = f"{count:,} samples at {rate:,} Hz, {count / rate:.2f} s"
    return f"{what} · {name}: {about} · {parameter_count(field):,} parameters"


def _viridis() -> str:
    """matplotlib's viridis, even in lightness and fit for every common colour vision: 256 × RGB as base64."""
    import matplotlib

    colours = matplotlib.colormaps["viridis"](np.arange(256))[:, :3]
    return b64encode(np.round(colours * 255).astype(np.uint8).tobytes()).decode("ascii")


def _fill(page: str, **entries: str) -> str:
    """The frame with the parts and the scripts of a page, each put in once and none looked into again."""

    def read(name: str) -> str:
        return (files("alfilter.export") / "assets" / name).read_text(encoding="utf-8")

    _, *parts = re.split(r"^<!-- part: ([A-Z]+) -->\n", read(f"{page}.html"), flags=re.MULTILINE)
    entries |= dict(zip(parts[::2], parts[1::2], strict=True))
    entries |= {"STYLE": read("style.css"), "CODE": f"{read('field.js')}\n{read('simd.js')}"}
    entries["SCRIPTS"] = "".join(f"<script>{read(name)}</script>\n" for name in SCRIPTS[page])
    pieces = read("frame.html").split("@")
    return "".join(entries[piece] if k % 2 else piece for k, piece in enumerate(pieces))


SCRIPTS = {
    "picture": ("engines.js", "sections.js", "tiles.js", "curve.js", "axes.js", "brush.js", "steering.js", "page.js"),
    "sound": ("engines.js", "curve.js", "sound.js", "sound-page.js"),
}
