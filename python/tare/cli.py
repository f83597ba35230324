"""The verbs of `tare`, each loaded only when it is used, so that all start quickly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import __version__, streams
from tare.errors import WRONG_USAGE, CommandError, UsageError

if TYPE_CHECKING:
    from tare.options import Group
    from tare.parser import Verb
    from tare.registry import Entry

HELP = ("-h", "--help")
ABOUT = """Measure MPI programs, and what measuring them costs.

Example: tare run -- mpiexec -n 4 ./app"""


def run(arguments: Sequence[str]) -> int:
    """Runs the verb that `arguments` name; its exit code."""
    if arguments[:1] == ["--version"]:
        streams.say(f"tare {__version__}")
        return 0
    from tare import registry

    if not arguments or arguments[0] in HELP:
        verbs = {name: _about(entry) for name, entry in registry.entries(registry.VERBS).items()}
        for line in registry.taken(registry.VERBS):
            streams.tell(f"tare: {line}")
        return _overview(arguments, ABOUT, verbs, "tare", ["  --version   Print the version."])
    name = arguments[0]
    entry = registry.find(registry.VERBS, name)
    if entry is None:
        raise _unknown(name, tuple(registry.entries(registry.VERBS)), "tare")
    verb = entry.load()
    from tare.options import Group

    with entry.named():
        call = _run_of_group if isinstance(verb, Group) else _call
        code = call(verb, arguments[1:], f"tare {name}")
        if not isinstance(code, int):
            raise TypeError(f"{code!r} is no exit code")
        return code


def _about(entry: Entry) -> str:
    """The first sentence of the help of a verb, or why there is none."""
    try:
        verb = entry.load()
    except CommandError as error:
        return f"({error})"
    from tare import parser
    from tare.options import Group

    return verb.about.partition("\n")[0] if isinstance(verb, Group) else parser.first_line(verb)


def _run_of_group(group: Group, arguments: Sequence[str], prog: str) -> int:
    if not arguments or arguments[0] in HELP:
        from tare import parser

        verbs = {name: parser.first_line(verb) for name, verb in group.verbs.items()}
        return _overview(arguments, group.about, verbs, prog)
    if arguments[0] not in group.verbs:
        raise _unknown(arguments[0], tuple(group.verbs), prog)
    return _call(group.verbs[arguments[0]], arguments[1:], f"{prog} {arguments[0]}")


def _call(verb: Verb, arguments: Sequence[str], prog: str) -> int:
    from tare import parser

    return parser.call(verb, arguments, prog)


def _overview(
    arguments: Sequence[str], about: str, verbs: dict[str, str], prog: str, more: Sequence[str] = ()
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
