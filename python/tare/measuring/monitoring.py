"""The SPEC of `tare run --monitor` (docs/monitoring.md), and what ranks and tared are told (TARE_MONITOR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tare import units
from tare._native import (
    DEFAULT_FAN_OUT,
    LARGEST_RING,
    LONGEST_MONITOR_TEXT,
    LONGEST_REGION,
    ONCE,
    SMALLEST_RING,
)
from tare.measuring import user_objects
from tare.runs.requests import PULL
from tare.runs.rounds import DEFAULT_FILTER

DEFAULT = "1s"
POLICIES = ("lossy", "nonblock", "block")
LONGEST_ONLY = 256
LAST_NS = 2**63 - 1
SHORTEST_INTERVAL_NS = 100_000
# Of auto: how far apart points are, of how many each is an offload at first, and the least interval.
AUTO_POINT_NS = 1_000_000
AUTO_FIRST = 100
AUTO_LEAST = "50ms"
LONGEST_AUTO_NS = 2**32 - 1
# Of pull: how far apart points are. Only a point that is chosen on request is an offload.
PULL_POINT_NS = 10_000_000
# How many snapshots of a rank may wait for tared; 0: as many as there is room for.
DEPTHS = {"lossy": 4, "nonblock": 0, "block": 2}
RINGS = {"lossy": units.MIB, "nonblock": 4 * units.MIB, "block": units.MIB}
LOOPBACK = "127.0.0.1"
KEYS = (
    "policy", "filter", "every", "depth", "ring", "wait", "fan-out", "listen", "acceptance", "only",
    "site",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Monitoring:
    """The times at which ranks hand over snapshots, and what happens to these (docs/monitoring.md)."""

    interval_ns: int = 0  # between offload points that the clock makes; 0: the program makes them
    region: str = ""  # the region whose entries are offload points; empty: calls of `tare.offload()` are
    region_every: int = 0  # every so many entries are a point
    every: int = 1  # every so many points are an offload; ONCE: only those that are requested (`pull`)
    auto_ns: int = 0  # if not 0, the interval is found (`auto`), and this is the least one
    policy: str = "lossy"  # what a rank does if its ring is full
    filter: str = DEFAULT_FILTER  # how the tree reduces a round
    depth: int = DEPTHS["lossy"]  # snapshots of a rank that may wait; 0: as many as its ring holds
    ring: int = RINGS["lossy"]  # size of the ring of a rank, in bytes
    wait_ns: int = 10_000_000  # how long a rank waits for room at most
    fan_out: int = DEFAULT_FAN_OUT  # the maximum number of children of a node
    listen: str = LOOPBACK  # the network address that nodes bind
    only: str = ""  # patterns of events, separated by a plus; empty: all
    sites: tuple[str, ...] = ()  # PLACE, or LABEL=PLACE=PLACE...: call sites; empty: all
    acceptance: int | None = None  # children of a node that may be missing in a round; None: any number

    def variable(self, epoch_ns: int) -> str:
        """The value of TARE_MONITOR; `epoch_ns` is the Unix time of the clock's round 0."""
        pairs: dict[str, object] = {
            "policy": self.policy,
            "interval": self.interval_ns,
            "epoch": epoch_ns,
            "every": self.every,
            "depth": self.depth,
            "ring": self.ring,
            "wait": self.wait_ns,
            "filter": self.filter,
            "fan-out": self.fan_out,
            "listen": self.listen,
        }
        if self.only:
            pairs["only"] = self.only
        if self.auto_ns:
            pairs["auto"] = self.auto_ns
        if self.acceptance is not None:
            pairs["acceptance"] = self.acceptance
        words = [f"{key}={value}" for key, value in pairs.items()] + [f"site={site}" for site in self.sites]
        if self.region:
            words.append(f"region={self.region_every}:{self.region}")
        return ",".join(words)


def parse(spec: str) -> Monitoring:
    """The monitoring that WHEN[,KEY=VALUE]... asks for. ValueError, with what is wrong, if it is none."""
    when, *rest = [part.strip() for part in spec.split(",")]
    chosen: dict[str, str] = {}
    sites = []
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals or key not in KEYS:
            known = ", ".join(f"{known}=" for known in KEYS[:-1])
            raise ValueError(f"'{part}' is none of {known} and {KEYS[-1]}=")
        if key == "site":
            sites.append(value)
            continue
        if key in chosen:
            raise ValueError(f"{key} is there twice")
        chosen[key] = value
    policy = _one_of("policy", chosen.get("policy", "lossy"), POLICIES)
    auto_ns = _auto(when)
    if auto_ns and "every" in chosen:
        raise ValueError("auto chooses itself which points are offloads: leave out every=")
    if when == PULL and "every" in chosen:
        raise ValueError("with pull, ranks offload when they are asked: leave out every=")
    interval_ns, region, region_every = (AUTO_POINT_NS, "", 0) if auto_ns else _when(when)
    every = AUTO_FIRST if auto_ns else ONCE if when == PULL else 1
    if found_ns := _auto(chosen.get("every", "")):
        if interval_ns:
            raise ValueError(f"every=auto skips points of the program: write auto instead of {when}")
        auto_ns = found_ns
    elif "every" in chosen:
        every = _number("every", chosen, 1, least=1, most=ONCE - 1)
    found = Monitoring(
        interval_ns=interval_ns,
        region=region,
        region_every=region_every,
        policy=policy,
        every=every,
        auto_ns=auto_ns,
        filter=_filter(chosen["filter"]) if "filter" in chosen else DEFAULT_FILTER,
        depth=_number("depth", chosen, DEPTHS[policy], least=0, most=2**20),
        ring=_ring(chosen, RINGS[policy]),
        wait_ns=units.parse_duration(chosen["wait"]) if "wait" in chosen else 10_000_000,
        fan_out=_number("fan-out", chosen, DEFAULT_FAN_OUT, least=1, most=4096),
        listen=_listen(chosen.get("listen", LOOPBACK)),
        only=_only(chosen.get("only")),
        sites=_sites(sites),
        acceptance=_number("acceptance", chosen, 0, least=0, most=2**20) if "acceptance" in chosen else None,
    )
    if len(found.variable(LAST_NS).encode()) > LONGEST_MONITOR_TEXT:
        raise ValueError("it is too long: choose fewer events or places, or a file with a shorter path")
    return found


def names_fan_out(spec: str) -> bool:
    """Whether the user has chosen the fan-out."""
    return any(part.strip().startswith("fan-out=") for part in spec.split(",")[1:])


def _auto(text: str) -> int:
    """The least interval of `auto` or `auto:LEAST`; 0 of another text."""
    word, colon, least = text.partition(":")
    if word != "auto":
        return 0
    try:
        min_ns = units.parse_duration(least if colon else AUTO_LEAST)
    except ValueError:
        min_ns = 0
    if not AUTO_POINT_NS <= min_ns <= LONGEST_AUTO_NS:
        raise ValueError(f"'{text}': the least interval of auto is a time from 1ms to 4s, as in auto:100ms")
    return min_ns


def _when(text: str) -> tuple[int, str, int]:
    """The interval of the clock; the region, and of how many entries each makes a point."""
    if text == "points":
        return 0, "", 0
    if text == PULL:
        return PULL_POINT_NS, "", 0
    if text.startswith("region:"):
        name, slash, every = text.removeprefix("region:").rpartition("/")
        if not slash or not every.isdecimal():
            name, every = text.removeprefix("region:"), "1"
        if not 0 < len(name.encode()) <= LONGEST_REGION or int(every) == 0:
            raise ValueError(f"'{text}' names no region: write it like region:step or region:step/10")
        return 0, name, int(every)
    try:
        interval_ns = units.parse_duration(text)
    except ValueError:
        raise ValueError(
            f"'{text}' does not say when: write a time like 500ms, auto, pull, points, or region:NAME/10"
        ) from None
    if not SHORTEST_INTERVAL_NS <= interval_ns < 2**62:
        raise ValueError(f"'{text}' is no interval that ranks can keep: it is at least 0.1ms")
    return interval_ns, "", 0


def _one_of(key: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ValueError(f"{key}={value}: it is one of {', '.join(choices)}")
    return value


def _filter(value: str) -> str:
    from tare import _native

    return "+".join(_one_filter(value, part, _native.FILTERS) for part in _native.split_filters(value))


def _one_filter(value: str, part: str, known: tuple[str, ...]) -> str:
    if part.partition(":")[0] in known:
        return part
    if user_objects.is_object(part):
        return user_objects.located(f"filter={value}", part)
    raise ValueError(
        f"filter={value}: it is one of {', '.join(known)}, a FILE.so, or several of these with a plus "
        "between them"
    )


def _only(value: str | None) -> str:
    if value is None:
        return ""
    if not all(value.split("+")) or len(value.encode()) > LONGEST_ONLY:
        raise ValueError(f"only={value}: it is names or patterns of events, like MPI_Send+MPI_Recv*+solve")
    return value


def _sites(values: Sequence[str]) -> tuple[str, ...]:
    """The sites as `tare run --sample` takes them; source_sites.py made addresses of lines."""
    if not values:
        return ()
    from tare import _native
    from tare.measuring.source_sites import is_compiled_line

    places = [place for value in values for place in value.split("=")["=" in value :]]
    known = [f"site={place}" for place in places if not is_compiled_line(f"site={place}")]
    try:
        _native.sample_method(",".join(["none", *known]))
    except ValueError as error:
        raise ValueError(f"site={values[0]}: {error}") from None
    return tuple(values)


def _listen(value: str) -> str:
    """An address, the name of an interface, or a network."""
    import ipaddress

    if "/" in value:
        try:
            ipaddress.ip_network(value, strict=False)
        except ValueError as error:
            raise ValueError(f"listen={value}: it is no network like 10.1.0.0/16") from error
    elif not value or not all(letter.isalnum() or letter in ".:-_[]*" for letter in value):
        raise ValueError(
            f"listen={value}: it is an address, an interface like eth0, or a network like 10.1.0.0/16"
        )
    return value


def check(monitoring: Monitoring) -> None:
    """CommandError if there can be no tree, its root cannot be reached where the others were told to, or has
    no such filter."""
    from tare import packages

    packages.require_library("--monitor", "ZeroMQ")
    if monitoring.filter != DEFAULT_FILTER:
        _ask_tared("filter", monitoring.filter)
    if monitoring.listen != LOOPBACK:
        _ask_tared("listen", monitoring.listen)


def _ask_tared(key: str, value: str) -> None:
    import subprocess

    from tare.errors import CommandError
    from tare.measuring import library

    asked = subprocess.run(
        [library.find(library.TARED), f"--can-{key}", value],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if asked.returncode != 0:
        how = f"trying this, tared ended ({units.ending(asked.returncode)})"
        why = asked.stderr.strip() if asked.returncode > 0 else ""
        raise CommandError(f"--monitor: {key}={value}: {why or how}")


def _number(key: str, chosen: Mapping[str, str], otherwise: int, *, least: int, most: int) -> int:
    text = chosen.get(key, str(otherwise))
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ValueError(f"{key}={text}: it is a number from {least} to {most:,}")
    return int(text)


def _ring(chosen: Mapping[str, str], otherwise: int) -> int:
    """The power of two that has room for as many bytes."""
    size = units.parse_size(chosen["ring"]) if "ring" in chosen else otherwise
    if not SMALLEST_RING <= size <= LARGEST_RING:
        raise ValueError(f"ring={chosen['ring']}: it is a size from 16K to 1G")
    return 1 << (size - 1).bit_length()


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
