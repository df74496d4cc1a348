"""`alfilter ntk`: the empirical neural tangent kernel of a model or a method, in a figure and in numbers."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alfilter.commands.shared import add_json, print_json, use_threads, whole
from alfilter.errors import UserError

if TYPE_CHECKING:
    from alfilter.analysis.ntk import Part
    from alfilter.methods import Field

LARGEST = 8192


def add_ntk(commands: Any) -> None:
    p = commands.add_parser("ntk", help="draw and measure the tangent kernel of a model or of a method at its start")
    p.add_argument("model", metavar="MODEL", nargs="?", help="a model file or a run folder; or name a method")
    p.add_argument("--method", help="a method at its random start, for a picture of 512x512 in colour")
    p.add_argument("--preset", help="of the method (default: paper, or default where the method has none)")
    p.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="options",
                   help="an option of the method, e.g. levels=6; may be repeated")  # fmt: skip
    p.add_argument("--baseline", default="pe-mlp", metavar="NAME|MODEL|none",
                   help="a method at its start or a model file to compare with (default: pe-mlp)")  # fmt: skip
    p.add_argument("--points", type=whole, default=1024, help=f"random places, 8 to {LARGEST} (default: 1024)")
    p.add_argument("--parameters", default="both", choices=("network", "encoding", "both"),
                   help="whose gradient (default: both)")  # fmt: skip
    p.add_argument("--seed", type=whole, default=0, help="of the places and of a method's start (default: 0)")
    p.add_argument("--threads", type=whole, help="cores to use (default: all)")
    p.add_argument("--out", metavar="DIR", help="where ntk.png and ntk.json go (default: runs/ntk-NAME)")
    add_json(p)
    p.set_defaults(command=_ntk)


def _ntk(arguments: argparse.Namespace) -> int:
    from alfilter.commands.progress import Display
    from alfilter.runtime.stages import watching

    if not 8 <= arguments.points <= LARGEST:
        raise UserError(f"--points must be between 8 and {LARGEST}, got {arguments.points}")
    if (arguments.model is None) == (arguments.method is None):
        raise UserError("the kernel of what? give one MODEL or one --method NAME")
    if arguments.model is not None and arguments.options:
        raise UserError("--set belongs to --method; a model file has its options already")
    use_threads(arguments.threads)
    name, field = _subject(arguments)
    baseline = _baseline(arguments, name, field)
    folder = Path(arguments.out or f"runs/ntk-{name}")
    _check_writable(folder)
    with Display() as display, watching(display.update_stage):
        measured = _measure(name, field, baseline, arguments, folder)
    line = {
        "model": arguments.model,
        "method": field.spec["method"],
        "points": arguments.points,
        "parameters": arguments.parameters,
        "seed": arguments.seed,
        **measured,
    }
    if arguments.json:
        print_json(line)
    else:
        _print(name, line)
    return 0


def _subject(arguments: argparse.Namespace) -> tuple[str, Field]:
    from alfilter.config import parse_options
    from alfilter.methods import build, method
    from alfilter.runs.models import load, model_path

    if arguments.model is not None:
        return model_path(arguments.model).resolve().parent.name or "model", load(arguments.model)
    options = parse_options(method(arguments.method).options, arguments.options, arguments.method)
    sizes: dict[str, Any] = {"in_dim": 2, "out_dim": 3, "samples": (512, 512)}
    preset = arguments.preset or _preset(arguments.method)
    return arguments.method, build(arguments.method, preset=preset, seed=arguments.seed, **sizes, **options)


def _preset(name: str) -> str:
    """The paper's setting of a method, where it has one."""
    from alfilter.methods import method

    return "paper" if "paper" in method(name).presets else "default"


def _baseline(arguments: argparse.Namespace, name: str, field: Field) -> tuple[str, Field] | None:
    """A model file or a method at its start, for the same signal."""
    from alfilter.methods import METHODS, build
    from alfilter.runs.models import load

    if arguments.baseline == "none":
        return None
    if arguments.baseline not in METHODS and Path(arguments.baseline).exists():
        other = load(arguments.baseline)
        title = Path(arguments.baseline).resolve().parent.name
    else:
        samples = field.spec.get("samples")
        sizes: dict[str, Any] = {"in_dim": field.in_dim, "out_dim": field.out_dim}
        sizes["samples"] = None if samples is None else tuple(samples)
        title, preset = arguments.baseline, _preset(arguments.baseline)
        other = build(title, preset=preset, seed=arguments.seed, **sizes)
    if (other.in_dim, other.out_dim) != (field.in_dim, field.out_dim):
        raise UserError(
            f"the baseline maps {other.in_dim} coordinates to {other.out_dim} values, the model {field.in_dim} to "
            f"{field.out_dim}; compare fields of one kind"
        )
    return (f"{title} (baseline)" if title == name else title), other


def _check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written, before the work."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        raise UserError(f"the figure goes into the folder {folder}, but {there} is a file; name another with --out")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"the figure goes into the folder {folder}, but {there} cannot be written; name one with --out")


def _measure(
    name: str, field: Field, baseline: tuple[str, Field] | None, arguments: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    """The numbers of both fields; the figure and all of the spectra go to the folder."""
    from alfilter.analysis.ntk_facts import kernel_facts, retention_by_range
    from alfilter.files import write_bytes, write_text
    from alfilter.report.figures.ntk import ntk_figure

    facts = {name: kernel_facts(field, arguments.points, arguments.parameters, arguments.seed)}
    if baseline is not None:
        # an encoding that is not trained has no kernel of its own: the baseline's is then its network's
        part: Part = arguments.parameters if _has_trained(baseline[1], arguments.parameters) else "network"
        facts[baseline[0]] = kernel_facts(baseline[1], arguments.points, part, arguments.seed)
    numbers = {title: each.numbers() for title, each in facts.items()}
    line: dict[str, Any] = {key: numbers[name][key] for key in ("effective_rank", "frequency_order", "octaves")}
    line["baseline"] = None
    if baseline is not None:
        theirs = numbers[baseline[0]]
        line["baseline"] = {"name": baseline[0], "effective_rank": theirs["effective_rank"],
                            "frequency_order": theirs["frequency_order"], "octaves": theirs["octaves"]}  # fmt: skip
        line["retention"] = retention_by_range(facts[name].eigenvalues, facts[baseline[0]].eigenvalues)
    folder.mkdir(parents=True, exist_ok=True)
    line["figure"], line["numbers"] = str(folder / "ntk.png"), str(folder / "ntk.json")
    spectra = {title: each["spectrum"] for title, each in numbers.items()}
    octaves = {title: each["octaves"] for title, each in numbers.items()}
    write_bytes(line["figure"], ntk_figure(spectra, octaves, baseline[0] if baseline else ""))
    write_text(line["numbers"], json.dumps({**line, "spectra": spectra}, indent=1) + "\n")
    return line


def _has_trained(field: Field, parameters: str) -> bool:
    part = {"network": field.network, "encoding": field.encoding}.get(parameters, field)
    return any(p.requires_grad for p in part.parameters())


def _print(name: str, line: dict[str, Any]) -> None:
    for title, each in ((name, line), *(((line["baseline"]["name"], line["baseline"]),) if line["baseline"] else ())):
        print(
            f"{title:<20}effective rank {each['effective_rank']:8.2f}   frequency order {each['frequency_order']:+.3f}"
        )
    for part, value in line.get("retention", {}).items():
        print(f"{'retention, ' + part:<20}{'–' if value is None else f'{value:.3g}'}")
    print(f"{'figure':<20}{line['figure']}")
    print(f"{'numbers':<20}{line['numbers']}")
