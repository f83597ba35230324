"""The verbs of `tare`, loaded only when used, so that `tare run` starts quickly."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from tare import __version__

VERBS = (
    "run",
    "info",
    "profile",
    "where",
    "diff",
    "events",
    "samples",
    "merge",
    "split",
    "recover",
    "doctor",
)
# Verbs that have verbs of their own.
GROUPS = ("study",)
# Everything after the first word that is not an option of tare belongs to the measured command.
SETTINGS: dict[str, dict[str, Any]] = {
    "run": {
        "context_settings": {"allow_interspersed_args": False},
        "options_metavar": "[OPTIONS] --",
    }
}


def application(arguments: Sequence[str]) -> typer.Typer:
    """The command line; holds only the verb that `arguments` name, or all where they name none."""
    app = typer.Typer(
        rich_markup_mode=None,
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main_options)
    known = (*VERBS, *GROUPS)
    for verb in known if arguments[:1] not in [[verb] for verb in known] else arguments[:1]:
        if verb in GROUPS:
            app.add_typer(_load(verb), name=verb)
        else:
            app.command(name=verb, **SETTINGS.get(verb, {}))(_load(verb))
    return app


def _load(verb: str) -> Any:
    command: Any = getattr(import_module(f"tare.commands.{verb}"), verb)
    return command


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"tare {__version__}")
        raise typer.Exit


def _main_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Measure MPI programs, and what measuring them costs.

    Example: tare run -- mpiexec -n 4 ./app
    """
