"""`tare watch`: tells others what a run does now: Prometheus, and a command when something is wrong."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import streams
from tare.commands import DirectoryAlone, Json, followed
from tare.errors import CommandError, TareError, UsageError
from tare.options import Argument, Option
from tare.runs import directory, runner
from tare.runs.rounds import STATISTICS, chosen_filter, names_of_filters

if TYPE_CHECKING:
    from tare._native import TotalCost
    from tare.monitor.alerts import AlertOutput, Condition
    from tare.monitor.endpoint import Address, Endpoint, Snapshot
    from tare.monitor.hangs import Hang
    from tare.monitor.live import Live
    from tare.runs.metadata import Metadata

LOOK_EVERY_S = 0.5
# What measuring costs reads what every rank has.
COST_EVERY_S = 5.0


def _address(text: str) -> Address:
    from tare.monitor.endpoint import parse_address

    return parse_address(text)


def _condition(text: str) -> Condition:
    from tare.monitor.alerts import parse

    return parse(text)


def watch(
    run: DirectoryAlone,
    command: Annotated[
        list[str] | None,
        Argument(metavar="COMMAND", help="Started for each alert, without a shell.", rest=True),
    ] = None,
    prometheus: Annotated[
        Any,  # an endpoint.Address
        Option(
            parser=_address,
            metavar="[HOST:]PORT",
            help="Serve metrics for Prometheus there; without HOST to this machine alone. Port 0 takes a "
            "free one.",
        ),
    ] = None,
    alert: Annotated[
        list[Any] | None,  # of alerts.Condition
        Option(
            parser=_condition,
            metavar="CONDITION",
            help="Raise an alert when this begins: hang, hang:30s, imbalance:30%, imbalance:30%,event=NAME, "
            "loss:5% (may be repeated).",
        ),
    ] = None,
    stay: Annotated[bool, Option("--stay", help="Do not end when the run has ended.")] = False,
    json: Json = False,
) -> None:
    """Watch a run that is monitored, for Prometheus or to be told when something is wrong.

    For runs of tare run --monitor. It ends with the run, or by Ctrl-C. Alerts are printed; COMMAND gets
    them as JSON on standard input, and in variables (docs/watch.md).

    Example: tare watch RUN --alert hang --alert imbalance:30% -- ./notify
    """
    from tare.monitor.alerts import AlertOutput

    if prometheus is None and not alert:
        raise UsageError("nothing to watch for: add --prometheus PORT, or --alert CONDITION")
    if command and not alert:
        raise UsageError("COMMAND is started for alerts: say which with --alert CONDITION")
    meta, live = followed(run)
    _check_filter(run, meta, alert or [])
    output = AlertOutput(run.resolve(), command, json=json)
    watching = _Watching(run, meta, live, alert or [], output)
    endpoint = None
    if prometheus is not None:
        endpoint = _endpoint(run, meta, prometheus, watching)
        # A script waits for the address; it is no line of JSON.
        (streams.tell if json else streams.say)(endpoint.url)
        sys.stdout.flush()
    has_gone_on = True
    try:
        with suppress(KeyboardInterrupt):
            has_gone_on = watching.follow(stay)
    finally:
        if endpoint is not None:
            endpoint.close()
        output.close()
    if not has_gone_on:
        raise CommandError(f"{run} has ended; with --stay its last round is told of all the same")


def _endpoint(run: Path, meta: Metadata, address: Address, watching: _Watching) -> Endpoint:
    from tare import packages

    packages.require("--prometheus", ["prometheus_client"])
    from tare.monitor.endpoint import Endpoint, Metrics

    endpoint = Endpoint(address, Metrics(meta.name, str(run.resolve())), watching.snapshot)
    if not address.is_loopback:
        streams.tell("Everyone who reaches this address can read the metrics.")
    return endpoint


def _check_filter(run: Path, meta: Metadata, conditions: list[Condition]) -> None:
    chosen = chosen_filter(meta.options.monitor)
    if chosen and STATISTICS not in names_of_filters(chosen):
        unbalanced = next((each for each in conditions if each.kind == "imbalance"), None)
        if unbalanced is not None:
            raise CommandError(
                f"--alert {unbalanced.text}: that is known of runs with the filter {STATISTICS}, "
                f"and {run} has {chosen}"
            )


class _Watching:
    """Follows a run; `snapshot` may be called by other threads."""

    def __init__(
        self, run: Path, meta: Metadata, live: Live, conditions: list[Condition], output: AlertOutput
    ) -> None:
        from tare.commands.hanging import Hanging
        from tare.monitor.alerts import Alerts

        self._run = run
        self._meta = meta
        self._live = live
        self._alerts = Alerts(conditions)
        self._is_loss_asked = any(each.kind == "loss" for each in conditions)
        self._output = output
        self._reading = threading.Lock()  # of `_live`
        self._going_on = True
        self._hanging = Hanging(run, live, has_sources=bool(meta.options.sources))
        self._cost: tuple[float, TotalCost | None] = (-COST_EVERY_S, None)
        self._counting_cost = threading.Lock()

    def follow(self, stay: bool) -> bool:
        """Follows the run until it has ended. False if it had ended before."""
        has_gone_on = False
        while self._going_on or stay:
            # Before what is read, so nothing is missed at the end.
            self._going_on = self._is_going_on()
            has_gone_on |= self._going_on
            with self._reading:
                self._live.update()
            for alert in self._alerts.begun(self._seen()):
                self._output.write(alert)
            if self._going_on or stay:
                time.sleep(LOOK_EVERY_S)
        return has_gone_on

    def _is_going_on(self) -> bool:
        with suppress(TareError, OSError):
            return runner.is_going_on(self._run, directory.read_meta(self._run))
        return False

    def _seen(self) -> Any:
        from tare.monitor.alerts import Seen

        live = self._live
        lost = self._lost(self._cost_so_far() if self._is_loss_asked else None)
        activities = live.activities(time.time_ns() if self._going_on else None)
        return Seen(time.monotonic(), activities, live.taken, lost, live.lost_ranks, self._hang)

    def _lost(self, cost: TotalCost | None) -> int:
        """Snapshots. Of a round that all ranks have lost nothing comes; their account has it."""
        return max(self._live.lost, cost.offloads_lost if cost else 0)

    def _hang(self, limit_ns: int) -> Hang | None:
        return self._hanging.verdict(limit_ns) if self._going_on else None

    def snapshot(self) -> Snapshot:
        from tare.monitor.endpoint import Snapshot

        cost = self._cost_so_far()
        with self._reading:
            live, last = self._live, self._live.last
            return Snapshot(
                self._going_on,
                live.rounds,
                live.ranks,
                len(live.lost_ranks),
                live.taken,
                self._lost(cost),
                last.first_ns if last else None,
                last.delay_ns if last else None,
                live.totals(),
                cost,
            )

    def _cost_so_far(self) -> TotalCost | None:
        from tare.runs.run import open_run

        with self._counting_cost:
            at, cost = self._cost
            if time.monotonic() - at >= COST_EVERY_S:
                with suppress(TareError, OSError):
                    cost = open_run(self._run).total_cost()
                self._cost = (time.monotonic(), cost)
            return cost
