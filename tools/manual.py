"""Writes manual pages and shell completion, from that of which `tare VERB --help` is made.

    manual.py FOLDER PACKAGE...

FOLDER is to hold what belongs below share/ of a prefix. The PACKAGE folders have the package tare.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import shtab
from argparse_manpage.manpage import Manpage

PLACES = {
    "bash": "bash-completion/completions/tare",
    "zsh": "zsh/site-functions/_tare",
    "fish": "fish/vendor_completions.d/tare.fish",
}
WORDS = re.compile(r"[a-z0-9-]+(\|[a-z0-9-]+)+")  # of an option that takes one of them
FOLDERS = {"DIR", "RESULTS"}
FILES = {
    "RUN", "RUN2", "BASE", "FILE", "FILE.html", "ARCHIVE", "INPUT", "TRACE", "STUDY.toml", "COMMAND", "TOOL"
}  # fmt: skip


def package(folders: list[str]) -> ModuleType:
    """tare, of which the build has parts in several folders, and does not install it before it uses it."""
    sys.path.insert(0, str(Path(folders[0]).parent))
    import tare

    tare.__path__.extend(folders[1:])
    return tare


def completed(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The parser, with what its arguments and the values of its options can be."""
    for action in parser._actions:
        named = str(action.metavar or "")
        if WORDS.fullmatch(named):
            action.choices = named.split("|")
        elif named in FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif named.partition(" ")[0].removesuffix("...") in FILES:
            if action.nargs == "*":  # a command, whose options are its own
                action.nargs = argparse.REMAINDER
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


class Command:
    """A verb, or a command that has verbs."""

    def __init__(self, prog: str, about: str, parser: argparse.ArgumentParser, verbs: list[Command]) -> None:
        self.prog = prog
        self.about = about
        self.parser = parser
        self.verbs = verbs

    @property
    def page(self) -> str:
        """The name of its manual page."""
        return self.prog.replace(" ", "-")

    def all(self) -> Iterator[Command]:
        """It, and the verbs below it."""
        yield self
        for verb in self.verbs:
            yield from verb.all()


def with_verbs(prog: str, about: str, verbs: list[Command]) -> Command:
    """A command that has verbs; its parser knows theirs."""
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parsers = {verb.prog: verb.parser for verb in verbs}
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=lambda prog, **_: parsers[prog])
    for verb in verbs:
        commands.add_parser(verb.prog.rpartition(" ")[2], help=verb.about)
    return Command(prog, about.partition("\n")[0], parser, verbs)


def command() -> Command:
    """The command tare, with the verbs that itself has."""
    from tare import cli, parser, registry
    from tare.options import Group

    def of(verb: parser.Verb | Group, prog: str) -> Command:
        if isinstance(verb, Group):
            return with_verbs(
                prog, verb.about, [of(one, f"{prog} {name}") for name, one in verb.verbs.items()]
            )
        return Command(prog, parser.first_line(verb), completed(parser.of_verb(verb, prog)[0]), [])

    found = registry.entries(registry.VERBS).items()
    whole = with_verbs(
        "tare", cli.ABOUT, [of(entry.load(), f"tare {name}") for name, entry in found if not entry.package]
    )
    whole.parser.add_argument("--version", action="store_true", help="Print the version.")
    return whole


def page(command: Command, version: str) -> str:
    """Its manual page; of a command that has verbs, one that names theirs."""
    parser = command.parser
    if command.verbs:
        parser = argparse.ArgumentParser(
            usage=f"{command.prog} COMMAND [ARGS]", description=command.parser.description, add_help=False
        )
        verbs = parser.add_argument_group("Commands")
        for verb in command.verbs:
            verbs.add_argument(verb.prog, help=f"{verb.about} See {verb.page}(1).")
    whole = textwrap.dedent(parser.description or "")
    parser.description = whole.partition("\n")[2].strip() or whole
    parser.prog = command.page
    about = command.about.rstrip(".")
    data = {"prog": command.page, "description": about, "project_name": f"tare {version}",
            "manual_title": "Manual of tare"}  # fmt: skip
    return str(Manpage(parser, data))


def main(folder: Path, folders: list[str]) -> None:
    tare = package(folders)
    from tare import parser

    # man fills lines itself: neither argparse breaks them, which would behind hyphens, nor tare.parser.
    os.environ["COLUMNS"] = "100000"
    parser.COLUMNS = 100_000
    whole = command()
    for shell, place in PLACES.items():
        to = folder / place
        to.parent.mkdir(parents=True, exist_ok=True)
        # shtab lets zsh complete but the first of several arguments.
        said = shtab.complete(whole.parser, shell).replace('"(*):', '"*:')
        to.write_text(said, encoding="utf-8")
    pages = folder / "man" / "man1"
    pages.mkdir(parents=True, exist_ok=True)
    for each in whole.all():
        (pages / f"{each.page}.1").write_text(page(each, tare.__version__), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
