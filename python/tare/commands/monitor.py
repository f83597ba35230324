"""`tare monitor`: changes the monitoring of a running job, and sends messages to its ranks."""

from __future__ import annotations

from typing import Annotated

from tare import streams
from tare.commands import DirectoryAlone
from tare.errors import UsageError
from tare.options import Option
from tare.runs import controls, directory


def monitor(
    run: DirectoryAlone,
    changes: Annotated[
        str | None,
        Option(
            "--set",
            metavar="KEY=VALUE[,KEY=VALUE]...",
            help="Change interval=TIME, every=N, filter=NAME, only=EVENTS or site=PLACE, as for tare run "
            "--monitor (docs/monitoring.md).",
        ),
    ] = None,
    send: Annotated[
        list[str] | None,
        Option(
            "--send",
            metavar="NAME=VALUE",
            help="Send a message, which tare_control() returns: an integer, a real number, or text of at "
            "most 64 bytes (may be repeated).",
        ),
    ] = None,
    rank: Annotated[
        int | None, Option("--rank", metavar="RANK", help="Send to this rank alone, not to all.")
    ] = None,
    text: Annotated[bool, Option("--text", help="Send values as text, also if they are numbers.")] = False,
) -> None:
    """Steer a running job that is monitored: change its rounds, or send its ranks a message.

    For runs of tare run --monitor, by their owner. All ranks follow from the same offload point on, which is
    printed.

    Example: tare monitor RUN --set interval=2s --send tolerance=1e-6
    """
    if changes is None and not send:
        raise UsageError("nothing to do: add --set KEY=VALUE, or --send NAME=VALUE")
    if not send and (rank is not None or text):
        raise UsageError("--rank and --text are for --send NAME=VALUE")
    meta = directory.monitored(run)
    requests = []
    if changes is not None:
        requests.append((changes, _change(meta.options.monitor or "", changes, meta.command)))
    requests += [(one, _message(one, rank, text=text)) for one in send or []]
    for said, request in requests:
        streams.say(f"{said}: from round {controls.ask(run, request)} on")


def _change(spec: str, changes: str, command: list[str]) -> str:
    from tare.measuring import monitoring

    try:
        request = monitoring.change(spec, changes, command)
    except ValueError as error:
        raise UsageError(f"--set {changes}: {error}") from error
    chosen = request.removeprefix("set ").split(",")
    if wanted := next((part.removeprefix("filter=") for part in chosen if part.startswith("filter=")), ""):
        monitoring.check(monitoring.Monitoring(filter=wanted))
    return request


def _message(said: str, rank: int | None, *, text: bool) -> str:
    name, equals, value = said.partition("=")
    if not equals:
        raise UsageError(f"--send {said}: write it like level=3")
    try:
        return controls.message(name, value if text else _typed(value), rank)
    except ValueError as error:
        raise UsageError(f"--send {said}: {error}") from error


def _typed(value: str) -> float | str:
    """A number, if it is written like one."""
    if value.lstrip("+-")[:1].isdigit() or value.lstrip("+-")[:1] == ".":
        for number in (int, float):
            try:
                return number(value)
            except ValueError:
                continue
    return value
