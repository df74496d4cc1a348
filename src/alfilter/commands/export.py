"""`alfilter export`: a model as an ONNX graph, or as one page that evaluates it in a browser."""

from __future__ import annotations

import argparse
from typing import Any

from alfilter.commands.shared import add_json, add_model, print_json


def add_export(commands: Any) -> None:
    p = commands.add_parser("export", help="write a model as an ONNX graph or as a self-contained page")
    add_model(p)
    p.add_argument("out", metavar="OUT", help="a .onnx file, or a .html page that evaluates the field by itself")
    p.add_argument("--title", help="the page's heading (default: the output's name)")
    add_json(p)
    p.set_defaults(command=_export)


def _export(arguments: argparse.Namespace) -> int:
    from alfilter.export import export_file
    from alfilter.runs.models import load

    line = export_file(load(arguments.model), arguments.out, arguments.title)
    if arguments.json:
        print_json(line)
        return 0
    difference = line.get("difference")
    check = f", within {difference:.1e} of torch" if difference is not None else ""
    rounded = f", its table rounded to {line['bits']} bits" if line.get("bits", 32) < 32 else ""
    print(f"{line['file']} {line['bytes']:,} bytes{check}{rounded}")
    return 0
