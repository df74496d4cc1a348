"""`alfilter view`: a local page that looks inside trained fields."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from alfilter.commands.shared import use_threads, whole
from alfilter.errors import UserError


def add_view(commands: Any) -> None:
    p = commands.add_parser(
        "view",
        help="open a local page that looks inside models of a picture, volume, video, light field, sound or shape",
    )
    p.add_argument("models", metavar="MODEL", nargs="+", help="a model.safetensors or a run folder")
    p.add_argument("--reference", metavar="FILE", help="what was fitted (default: a picture's copy in the run folder)")
    p.add_argument("--port", type=whole, default=8700, help="0 takes any that is free (default: 8700)")
    p.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, only this machine)")
    p.add_argument("--no-browser", action="store_true", help="only say where the page is")
    p.add_argument("--threads", type=whole, help="cores to use (default: all)")
    p.set_defaults(command=_view)


def _view(arguments: argparse.Namespace) -> int:
    from alfilter.viewer.access import is_loopback
    from alfilter.viewer.open import open_viewer
    from alfilter.viewer.server import Server

    if not 0 <= arguments.port <= 65535:
        raise UserError(f"--port must be between 0 and 65535, got {arguments.port}; 0 takes any that is free")
    use_threads(arguments.threads)
    viewer = open_viewer(arguments.models, arguments.reference)
    with Server(viewer, arguments.host, arguments.port) as server:
        viewer.warm_up()
        if not is_loopback(server.host):
            print("alfilter: everyone who can reach this address can look at and steer the models", file=sys.stderr)
        print(f"alfilter: the page is at {server.address} (Ctrl-C ends it)", file=sys.stderr, flush=True)
        if not arguments.no_browser:
            _open(server.address)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print("alfilter: the page is closed", file=sys.stderr)
    return 0


def _open(address: str) -> None:
    """Show the page in a browser, where there is a screen for one."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    webbrowser.open(address)
