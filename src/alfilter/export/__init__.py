"""A field outside Python: an ONNX graph for other programs, or one page that evaluates it in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alfilter.errors import UserError
from alfilter.methods import Field

__all__ = ["FORMATS", "export_file"]

FORMATS = ("onnx", "html")


def export_file(field: Field, out: str | Path, title: str | None = None) -> dict[str, Any]:
    """Write a field in the form that the output's name asks for, and say what was written.

    title: the page's heading; none takes the output's name. A graph is also run once beside torch where onnxruntime is
    installed: `difference` is the largest one found.
    """
    form = Path(out).suffix.lower().removeprefix(".")
    if form == "onnx":
        from alfilter.export.onnx import write_onnx

        return write_onnx(field, out)
    if form == "html":
        from alfilter.export.page import write_page

        return write_page(field, out, title or Path(out).stem)
    raise UserError(f"an export's name ends in .{' or .'.join(FORMATS)}, got {Path(out).name!r}; rename the output")
