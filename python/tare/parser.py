"""Command lines of verbs: argparse, told by the verb's signature (tare.options) what there is.

By argparse, as libraries that make this from signatures take longer to load than a verb may take to start.
"""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from enum import Enum
from types import NoneType
from typing import Annotated, Any, NoReturn, get_args, get_origin, get_type_hints

from tare import programs, streams, words
from tare.errors import UsageError
from tare.options import Argument, Option

Verb = Callable[..., int | None]
HELP = ("-h", "--help")
# What is said in help fits into a terminal of this width, as what argparse formats itself.
COLUMNS = 80


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Raises UsageError, where argparse would print and exit."""
        raise UsageError(f"{_reworded(message)}; see {self.prog} --help")


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows how a value is written that may be missing: behind `=`, which argparse leaves out."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if action.option_strings and action.nargs == "?":
            return ", ".join(f"{name}[={action.metavar}]" for name in action.option_strings)
        return super()._format_action_invocation(action)


def call(verb: Verb, arguments: Sequence[str], prog: str) -> int:
    """Runs the verb on these arguments; its exit code."""
    parser, rest = of_verb(verb, prog)
    own, beyond = (list(arguments), None) if rest is None else _split(parser, arguments, rest)
    if not set(own).isdisjoint(HELP):
        for line in parser.format_help().replace("usage: ", "Usage: ", 1).splitlines():
            streams.say(line)
        return 0
    # Options may stand among arguments; but what follows `--` is none, which argparse forgets there.
    parse = parser.parse_args if "--" in own else parser.parse_intermixed_args
    values = vars(parse(own))
    if rest is not None:
        is_optional = inspect.signature(verb).parameters[rest].default is None
        if not beyond and not is_optional:
            parser.error(f"the following arguments are required: {rest.upper()}")
        values[rest] = beyond or None
    return verb(**values) or 0


def first_line(verb: Verb) -> str:
    """The first line of its docstring."""
    return (inspect.getdoc(verb) or "").partition("\n")[0]


def overview(about: str, verbs: dict[str, str], prog: str, more: Sequence[str] = ()) -> list[str]:
    """The lines of help of a command that has verbs, each with a line about it."""
    width = max(map(len, verbs)) + 2
    lines = [f"Usage: {prog} [OPTIONS] COMMAND [ARGS]", "", *textwrap.indent(about, "  ").splitlines()]
    lines += ["", "Options:", *more, "  -h, --help  Show this message and exit.", "", "Commands:"]
    for name, said in verbs.items():
        lines += textwrap.wrap(
            said, COLUMNS, initial_indent=f"  {name:<{width}}", subsequent_indent=" " * (width + 2)
        ) or [f"  {name:<{width}}"]
    return lines


def of_verb(verb: Verb, prog: str) -> tuple[Parser, str | None]:
    """The verb's parser, and the name of the parameter that takes what comes behind its options, if any."""
    parser = Parser(prog=prog, add_help=False, allow_abbrev=False, formatter_class=_Formatter)
    arguments = parser.add_argument_group("Arguments")
    options = parser.add_argument_group("Options")
    rest = None
    places = []
    hints = get_type_hints(verb, include_extras=True)
    for name, parameter in inspect.signature(verb).parameters.items():
        kind, said = (
            get_args(hints[name])[:2] if get_origin(hints[name]) is Annotated else (hints[name], None)
        )
        if isinstance(said, Argument):
            is_optional = parameter.default is None
            place = f"-- {said.metavar}" if said.rest and is_optional else said.metavar
            places.append(f"[{place}]" if is_optional else place)
            many = "+" if get_origin(kind) is list else "?" if is_optional else None
            more: dict[str, Any] = {}
            if said.rest:  # what it takes is split off before, so that argparse must not ask for it
                rest, many, more = name, "*", {"default": None}
            arguments.add_argument(
                name,
                nargs=many,
                type=_one(kind),
                metavar=said.metavar,
                help=_help(said.help),
                **more,
            )
        elif isinstance(said, Option):
            _add_option(options, name, kind, said, parameter.default)
        else:
            raise TypeError(f"{prog}: {name} is neither an option nor an argument")
    options.add_argument(*HELP, action="help", help="Show this message and exit.")
    parser.usage = " ".join(
        [parser.prog, "[OPTIONS]", *(["--"] if rest and len(places) == 1 else []), *places]
    )
    if verb.__module__.startswith("tare.commands."):
        parser.epilog = _words(words.OF_VERB.get(verb.__name__, ()))
    parser.description = "\n\n".join(map(_filled, (inspect.getdoc(verb) or "").split("\n\n")))
    return parser, rest


def _words(shown: Sequence[str]) -> str | None:
    """What the words in the verb's tables mean; None if it shows none that are defined."""
    lines = ["Words:"]
    for word in shown:
        said = f"{word}: {words.WORDS[word]}"
        lines += textwrap.wrap(said, COLUMNS, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines) if shown else None


def _filled(paragraph: str) -> str:
    """The paragraph, indented, in lines that fit; examples, and what is indented itself, as is."""
    if paragraph.startswith("Example") or "\n " in paragraph:
        return textwrap.indent(paragraph, "  ")
    return textwrap.fill(
        paragraph, COLUMNS, initial_indent="  ", subsequent_indent="  ", break_long_words=False
    )


def _add_option(options: argparse._ArgumentGroup, name: str, kind: Any, said: Option, default: Any) -> None:
    names = said.names or (f"--{name.replace('_', '-')}",)
    shown = argparse.SUPPRESS if said.hidden else _help(said.help)
    if kind is bool:
        options.add_argument(*names, dest=name, action="store_true", help=shown)
        return
    is_given = default is not inspect.Parameter.empty
    if is_given and default is not None and not said.hidden:
        shown = f"{shown} (default: {default})".lstrip()
    one = _one(kind)
    options.add_argument(
        *names,
        dest=name,
        action="append" if _is_list(kind) else "store",
        type=_checked(said.parser or one, said),
        metavar=said.metavar or _metavar(one),
        default=default if is_given else None,
        required=not is_given,
        help=shown,
        **({} if said.bare is None else {"nargs": "?", "const": said.bare}),
    )


def _is_list(kind: Any) -> bool:
    return any(get_origin(each) is list for each in (kind, *get_args(kind)))


def _one(kind: Any) -> Callable[[str], Any]:
    """What makes one value of a text: of `list[int] | None`, int."""
    while get_args(kind):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    result: Callable[[str], Any] = kind
    return result


def _metavar(one: Callable[[str], Any]) -> str:
    if isinstance(one, type) and issubclass(one, Enum):
        return "|".join(str(each.value) for each in one)
    return "N" if one is int else "X" if one is float else "TEXT"


def _checked(one: Callable[[str], Any], said: Option) -> Callable[[str], Any]:
    """`one`, and within bounds; says what is wrong, which argparse does not of a ValueError."""

    def convert(text: str) -> Any:
        try:
            value = one(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(_why(one, text, error)) from None
        if said.min is not None and value < said.min:
            raise argparse.ArgumentTypeError(f"{text} is less than {said.min}")
        if said.max is not None and value > said.max:
            raise argparse.ArgumentTypeError(f"{text} is more than {said.max}")
        return value

    return convert


def _why(one: Callable[[str], Any], text: str, error: ValueError) -> str:
    if isinstance(one, type) and issubclass(one, Enum):
        return f"'{text}' is none of {', '.join(str(each.value) for each in one)}"
    if one in (int, float):
        return f"'{text}' is not a {'whole ' if one is int else ''}number"
    return str(error)


def _split(parser: Parser, arguments: Sequence[str], rest: str) -> tuple[list[str], list[str]]:
    """The verb's own words, and what begins behind `--`; for a verb with no other argument than `rest`, also
    what begins with the first word that is no option."""
    if any(not action.option_strings and action.dest != rest for action in parser._actions):
        before, separator, beyond = _cut(list(arguments), "--")
        if separator and not beyond:
            parser.error(f"the following arguments are required: {rest.upper()}")
        return before, beyond
    takes_value = {name: action.nargs is None for action in parser._actions for name in action.option_strings}
    at = 0
    while at < len(arguments):
        word = arguments[at]
        if word == "--":
            return list(arguments[:at]), list(arguments[at + 1 :])
        if not word.startswith("-") or word == "-":
            break
        at += 2 if _awaits_value(word, takes_value) else 1
    _check_value(parser, arguments, at)
    return list(arguments[:at]), list(arguments[at:])


def _check_value(parser: Parser, arguments: Sequence[str], at: int) -> None:
    """The command begins `at`, unless that was meant as the option's value: `--monitor 1s COMMAND`."""
    bare = {name for action in parser._actions if action.nargs == "?" for name in action.option_strings}
    if at + 1 < len(arguments) and at > 0 and arguments[at - 1] in bare:
        option, word = arguments[at - 1], arguments[at]
        if programs.find(word) is None:
            parser.error(f"no program '{word}'; if it is the value of {option}, write {option}={word}")


def _cut(words: list[str], separator: str) -> tuple[list[str], bool, list[str]]:
    at = words.index(separator) if separator in words else len(words)
    return words[:at], at < len(words), words[at + 1 :]


def _awaits_value(word: str, takes_value: dict[str, bool]) -> bool:
    """Whether the next word is its value: not of `--policy=drop`, nor of `-oDIR`."""
    if word.startswith("--"):
        return takes_value.get(word, False)
    for number, letter in enumerate(word[1:], 1):
        if takes_value.get(f"-{letter}", False):
            return number == len(word) - 1
    return False


def _help(text: str) -> str:
    return text.replace("%", "%%")


_REWORDED = (
    (re.compile(r"^unrecognized arguments: (-\S+).*"), r"no such option: \1"),
    (re.compile(r"^unrecognized arguments: (.*)"), r"unexpected argument: \1"),
    (re.compile(r"^the following arguments are required: (-.*)"), r"missing option \1"),
    (re.compile(r"^the following arguments are required: (.*)"), r"missing argument '\1'"),
    (re.compile(r"^argument (\S+): expected .*"), r"\1 needs a value"),
    (re.compile(r"^argument (\S+): ignored explicit argument .*"), r"\1 takes no value"),
    (re.compile(r"^argument (\S+): (.*)", re.DOTALL), r"\1: \2"),
)


def _reworded(message: str) -> str:
    for pattern, instead in _REWORDED:
        if pattern.match(message):
            return pattern.sub(instead, message)
    return message
