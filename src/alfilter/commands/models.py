"""Commands that read a model: render, mesh, eval, predict, info."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from alfilter.commands.shared import add_json, add_model, print_json, print_result, real, use_threads, whole
from alfilter.errors import UserError, printable

if TYPE_CHECKING:
    from alfilter.methods import Field


def add_render(commands: Any) -> None:
    p = commands.add_parser(
        "render",
        help="write a model back: a picture, a sound, a volume, a video, a light field, a slice or a view, at any size",
    )
    add_model(p)
    p.add_argument(
        "out",
        metavar="OUT",
        help="a .png, .jpg, .webp, .tif or .bmp file; sound: .wav; volume: .npy, .nii, .nii.gz; video: .mp4, .gif; "
        "light field: .npy",
    )
    size = p.add_mutually_exclusive_group()
    size.add_argument("--size", help="WIDTHxHEIGHT in pixels; of a sound, how many samples")
    size.add_argument(
        "--scale", type=real, help="pixels per pixel of the fitted picture; samples per sample of a sound"
    )
    p.add_argument(
        "--detail",
        type=real,
        metavar="F",
        help="cap the frequency that passes the model's filter: cycles per sample, 0.5 is all that the samples hold",
    )
    p.add_argument("--region", metavar="X0,Y0,X1,Y1", help="a box in pixels of the fitted picture, without X1 and Y1")
    p.add_argument("--slice", metavar="AXIS:K", help="a plane of a volume or video as a picture; 0:K is frame K")
    p.add_argument("--view", metavar="U,V", help="a view of a light field as a picture; 2.5,1 lies between views")
    p.add_argument(
        "--refocus",
        type=real,
        metavar="SLOPE",
        help="all views of a light field, shifted and added: what moves by SLOPE pixels per view is in focus",
    )
    p.add_argument("--level", type=whole, help="an output of a method that has several (bacon): 1 is the coarsest")
    p.add_argument("--bits", type=whole, help="8, 16, 24 (sound), or 32 for float TIFF or WAV (default: as fitted)")
    p.set_defaults(command=_render)


def _render(arguments: argparse.Namespace) -> int:
    from alfilter.render.image import render_file
    from alfilter.render.media import is_media, render_media
    from alfilter.render.view import View
    from alfilter.runs.models import load

    view = View(size=arguments.size, scale=arguments.scale, region=arguments.region, level=arguments.level,
                slice=arguments.slice, detail=arguments.detail, view=arguments.view,
                refocus=arguments.refocus)  # fmt: skip
    field = load(arguments.model)
    if is_media(field):
        print(f"{arguments.out} {render_media(field, arguments.out, view, arguments.bits)}")
        return 0
    shape = render_file(field, arguments.out, view, arguments.bits)
    print(f"{arguments.out} {shape[1]}x{shape[0]}")
    return 0


def add_mesh(commands: Any) -> None:
    p = commands.add_parser("mesh", help="write the surface of a shape model in the units of the fitted mesh")
    add_model(p)
    p.add_argument("out", metavar="OUT", help="a .ply, .obj, .stl or .glb file")
    p.add_argument("--resolution", type=whole, default=512, help="grid points along each side (default: 512)")
    p.add_argument(
        "--alpha", action="store_true", help="colour the vertices by the filter's cut-off, how fine the detail is there"
    )
    p.add_argument(
        "--detail",
        type=real,
        metavar="F",
        help="cap the frequency that passes the model's filter, in cycles across the domain: a smoother surface",
    )
    p.add_argument("--threads", type=whole, help="cores to use (default: all)")
    add_json(p)
    p.set_defaults(command=_mesh)


def _mesh(arguments: argparse.Namespace) -> int:
    from alfilter.render.mesh import mesh_file
    from alfilter.runs.models import load

    use_threads(arguments.threads)
    line = mesh_file(load(arguments.model), arguments.out, arguments.resolution, arguments.alpha, arguments.detail)
    if arguments.json:
        print_json(line)
    else:
        ends = line.get("cut_off")
        strays = f", stray bodies left out: {line['strays']}" if line["strays"] else ""
        print(
            f"{line['mesh']} {line['vertices']:,} vertices, {line['faces']:,} faces, {line['share']:.2%} of the grid"
            + strays
            + (f", dark is {ends[0]:.3g}, bright {ends[1]:.3g} cycles across the domain" if ends else "")
        )
    return 0


def add_eval(commands: Any) -> None:
    p = commands.add_parser("eval", help="score a model against a signal")
    add_model(p)
    p.add_argument("signal", metavar="SIGNAL")
    p.add_argument(
        "--lpips", metavar="FILE", nargs="?", const="", help="also LPIPS; weights from FILE or $ALFILTER_LPIPS"
    )
    p.add_argument(
        "--observe", metavar="WHICH", help="samples the fit saw (default: as the model says, which opens no mask)"
    )
    add_json(p)
    p.set_defaults(command=_eval)


def _eval(arguments: argparse.Namespace) -> int:
    from alfilter.commands.progress import Display
    from alfilter.runs.models import load
    from alfilter.runs.score import score_model
    from alfilter.runtime.stages import watching

    field = load(arguments.model)
    line = {
        "method": field.spec["method"],
        "signal": arguments.signal,
        "model": arguments.model,
        "params": _params(field),
    }
    if arguments.observe is None and str(field.signal.get("observe")).startswith("mask:"):
        print("alfilter: scored over all samples; --observe mask:FILE tells those the fit did not see", file=sys.stderr)
    with Display() as display, watching(display.update_stage):
        try:
            scores = score_model(field, arguments.signal, arguments.lpips, arguments.observe, say=display.say)
        except UserError as error:
            if "lpips" in error.arguments and arguments.lpips == "" and not os.environ.get("ALFILTER_LPIPS"):
                raise UserError(
                    "LPIPS needs the AlexNet v0.1 weights published by its authors, as an npz file, got none; "
                    "give --lpips FILE or set ALFILTER_LPIPS to its path"
                ) from error
            raise
    print_result({**line, **scores.plain()}, arguments.json)
    return 0


def add_predict(commands: Any) -> None:
    p = commands.add_parser("predict", help="write a fitted table's values at new points")
    add_model(p)
    p.add_argument("query", metavar="QUERY", help="a table with the coordinates' columns: .csv, .npz, .npy, .parquet")
    p.add_argument("--out", metavar="FILE", help=".csv, .tsv, .npz or .parquet (default: CSV on stdout)")
    p.set_defaults(command=_predict)


def _predict(arguments: argparse.Namespace) -> int:
    from alfilter.render.points import predict_file
    from alfilter.runs.models import load

    total, beyond = predict_file(load(arguments.model), arguments.query, arguments.out)
    print(f"alfilter: {beyond} of {total} points lie outside the fitted region", file=sys.stderr)
    return 0


def add_info(commands: Any) -> None:
    p = commands.add_parser("info", help="say what a model file holds")
    add_model(p)
    add_json(p)
    p.set_defaults(command=_info)


def _info(arguments: argparse.Namespace) -> int:
    from alfilter.runs.models import load

    field = load(arguments.model)
    facts = {**field.spec, "params": _params(field), "signal": field.signal}
    if arguments.json:
        print_json(facts)
        return 0
    for name, value in facts.items():
        for key, entry in value.items() if isinstance(value, dict) else ((None, value),):
            print(printable(f"{name if key is None else f'{name}.{key}':<24}{_shortened(entry)}"))
    return 0


def _params(field: Field) -> int:
    from alfilter.methods import parameter_count

    return parameter_count(field)


def _shortened(entry: Any) -> str:
    """The entry's text, cut where it is packed numbers.

    >>> _shortened([8, 8]), len(_shortened({"distances": "x" * 500}))
    ('[8, 8]', 120)
    """
    text = str(entry)
    return text if len(text) <= 120 else f"{text[:119]}…"
