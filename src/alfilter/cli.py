"""The command line: words in, one result on stdout, everything else on stderr."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NoReturn

from alfilter import __version__
from alfilter.commands import COMMANDS
from alfilter.commands.streams import SafeStream, discard, open_standard_streams
from alfilter.errors import UserError, nearest

# what torch and Python say when the system's limits are reached
_LIMITS = ("can't allocate memory", "not enough memory", "can't start new thread")

Command = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other mistake's; options are never guessed from a start."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see '{self.prog} --help'")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 for finished work, 2 for a user's mistake, 129, 130 or 143 for a stopped run.

    A reader of the output who leaves does not end the work.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    open_standard_streams()
    with redirect_stdout(SafeStream(sys.stdout, BrokenPipeError)), redirect_stderr(SafeStream(sys.stderr, OSError)):
        return _run(words)


def _run(words: list[str]) -> int:
    try:
        _check_command(words)
        arguments = parser(words[0] if words else None).parse_args(words)
        arguments.words = words
        command: Command = arguments.command
        code = command(arguments)
        sys.stdout.flush()  # here, where a full disk can still be answered
        return code
    except UserError as error:
        print(f"alfilter: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("alfilter: stopped", file=sys.stderr)
        return 130
    except MemoryError as error:
        print(f"alfilter: {_out_of_memory(error)}", file=sys.stderr)
        return 2
    except RuntimeError as error:
        if not any(words in str(error) for words in _LIMITS):
            raise
        print(f"alfilter: {_out_of_memory(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        discard(sys.stdout)
        print(f"alfilter: the system refused: {error}; check the space and the paths", file=sys.stderr)
        return 2


def _out_of_memory(error: Exception) -> str:
    reason = " ".join(str(error).split())[:120] or "out of memory"
    return f"the system gave no more memory or threads ({reason}); free some, take a smaller size or fewer threads"


def parser(command: str | None = None) -> Parser:
    """The whole command line, or, where a command is named, the part that it needs."""
    top = Parser(prog="alfilter", description="Fit signals with neural fields whose local frequency can be seen.")
    top.add_argument("--version", action="version", version=f"alfilter {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for add in [COMMANDS[command]] if command in COMMANDS else COMMANDS.values():
        add(commands)
    return top


def _check_command(words: list[str]) -> None:
    """Name the nearest command for one that does not exist."""
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UserError(f"there is no command {words[0]!r}; {nearest(words[0], COMMANDS)}")


if __name__ == "__main__":
    sys.exit(main())
