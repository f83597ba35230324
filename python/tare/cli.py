"""The verbs of `tare`, each loaded only when it is used, so that all start quickly."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tare import __version__, streams
from tare.errors import WRONG_USAGE, UsageError

if TYPE_CHECKING:
    from tare.options import Group
    from tare.parser import Verb

VERBS = (
    "run",
    "info",
    "profile",
    "where",
    "top",
    "monitor",
    "watch",
    "explain",
    "phases",
    "diff",
    "events",
    "export",
    "import",
    "samples",
    "sql",
    "report",
    "view",
    "merge",
    "split",
    "recover",
    "sweetspot",
    "doctor",
)
# Verbs that have verbs of their own.
GROUPS = ("study",)
ABOUT = """Measure MPI programs, and what measuring them costs.

Example: tare run -- mpiexec -n 4 ./app"""


def run(arguments: Sequence[str]) -> int:
    """Runs the verb that `arguments` name; its exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        verbs = {name: _load(name) for name in VERBS} | {name: _load(name).about for name in GROUPS}
        return _overview(arguments, ABOUT, verbs, "tare", ["  --version   Print the version."])
    name = arguments[0]
    if name == "--version":
        streams.say(f"tare {__version__}")
        return 0
    if name in GROUPS:
        return _run_of_group(_load(name), arguments[1:], f"tare {name}")
    if name not in VERBS:
        raise _unknown(name, (*VERBS, *GROUPS), "tare")
    return _call(_load(name), arguments[1:], f"tare {name}")


def _run_of_group(group: Group, arguments: Sequence[str], prog: str) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        return _overview(arguments, group.about, dict(group.verbs), prog)
    if arguments[0] not in group.verbs:
        raise _unknown(arguments[0], tuple(group.verbs), prog)
    return _call(group.verbs[arguments[0]], arguments[1:], f"{prog} {arguments[0]}")


def _load(name: str) -> Any:
    return getattr(import_module(f"tare.commands.{name}"), name)


def _call(verb: Verb, arguments: Sequence[str], prog: str) -> int:
    from tare import parser

    return parser.call(verb, arguments, prog)


def _overview(
    arguments: Sequence[str], about: str, verbs: dict[str, Any], prog: str, more: Sequence[str] = ()
) -> int:
    """The help; where a verb is missing it is what is wrong, and goes where errors go."""
    from tare import parser

    for line in parser.overview(about, verbs, prog, more):
        (streams.say if arguments else streams.tell)(line)
    return 0 if arguments else WRONG_USAGE


def _unknown(name: str, known: Sequence[str], prog: str) -> UsageError:
    from difflib import get_close_matches

    if name.startswith("-"):
        return UsageError(f"no such option: {name}; see {prog} --help")
    near = get_close_matches(name, known, 1)
    hint = f"do you mean '{near[0]}'?" if near else f"see {prog} --help"
    return UsageError(f"no such command: '{name}'; {hint}")
