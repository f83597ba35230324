"""What may change in the monitoring of a running job, as `tare monitor --set` has it."""

from __future__ import annotations

from collections.abc import Sequence

from tare import units
from tare._native import ONCE
from tare.measuring.monitoring import KEYS, Monitoring, parse

CHANGEABLE = ("interval", "every", "filter", "only", "site")


def change(spec: str, text: str, command: Sequence[str]) -> str:
    """The request for KEY=VALUE[,KEY=VALUE]... of a run with this SPEC of --monitor.

    ValueError, with the reason, if that is none, or cannot change.
    """
    from tare.measuring.source_sites import with_labelled_addresses

    now = parse(spec)
    pairs = [part.strip().partition("=") for part in text.split(",")]
    for key, equals, value in pairs:
        if key in KEYS and key not in CHANGEABLE:
            raise ValueError(f"{key} cannot change while a program runs: start it with another --monitor")
        if key not in CHANGEABLE or not equals or not value:
            raise ValueError(
                f"'{key}{equals}{value}' is none of {', '.join(f'{one}=' for one in CHANGEABLE)}"
            )
    keys = [key for key, _, _ in pairs]
    if twice := next((key for key in keys if key != "site" and keys.count(key) > 1), None):
        raise ValueError(f"{twice} is there twice")
    if "interval" in keys and "every" in keys:
        raise ValueError("interval and every say the same: write one of them")
    rest = [f"{key}={value}" for key, _, value in pairs if key in ("filter", "only", "site")]
    # With the checks of `tare run --monitor`.
    chosen = parse(with_labelled_addresses(",".join(["points", *rest]), command))
    request = [f"every={_every(now, key, value)}" for key, _, value in pairs if key in ("interval", "every")]
    if "filter" in keys:
        request.append(f"filter={chosen.filter}")
    if "only" in keys or "site" in keys:
        request.append(f"only={chosen.only if 'only' in keys else now.only}")
        request += [f"site={site}" for site in (chosen.sites if "site" in keys else now.sites)]
    return f"set {','.join(request)}"


def _every(now: Monitoring, key: str, value: str) -> int:
    """The number of points of which one is an offload."""
    if now.auto_ns:
        raise ValueError(f"{key}={value}: this run has auto, which chooses the interval itself")
    if now.every == ONCE:
        raise ValueError(f"{key}={value}: this run has pull, so ranks offload when they are asked")
    if key == "every":
        every = int(value) if value.isdecimal() else 0
        if not 1 <= every < ONCE:
            raise ValueError(f"every={value}: it is a number of points from 1 to {ONCE - 1:,}")
        return every
    interval_ns = units.parse_duration(value)
    if not now.interval_ns:
        raise ValueError(f"interval={value}: in this run the program makes the points: write every=N")
    every, left = divmod(interval_ns, now.interval_ns)
    if left or not 1 <= every < ONCE:
        raise ValueError(
            f"interval={value}: points of this run are {units.duration(now.interval_ns)} apart; write a "
            "multiple of that"
        )
    return every
