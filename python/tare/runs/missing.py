"""Ranks of which a run holds nothing, although other ranks know how large their world is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers
from tare.runs.metadata import Launched, Metadata, Missing

if TYPE_CHECKING:
    from tare._native import Process

# What launchers tell each process: its rank, and the number of ranks.
_OF_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("PMIX_RANK", ""),
)


def launched(environment: Mapping[str, str]) -> Launched | None:
    """The rank as which a launcher has started this process, if one has."""
    for variable, of_size in _OF_LAUNCHERS:
        rank, size = (_number(environment.get(name, "")) for name in (variable, of_size))
        if rank is not None:
            return Launched(variable=variable, rank=rank, size=size)
    return None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def find(processes: Sequence[Process]) -> list[Missing]:
    """The ranks of each world that none of its processes is; of a world whose size is known."""
    sizes: dict[int, int] = {}
    seen: dict[int, set[int]] = {}
    for process in processes:
        if process.rank >= 0:
            world = process.world
            sizes[world] = max(process.size, sizes.get(world, 0))
            seen.setdefault(world, set()).add(process.rank)
    return [
        Missing(world=world, size=size, ranks=gaps)
        for world, size in sorted(sizes.items())
        if (gaps := _gaps(seen[world], size))
    ]


def _gaps(seen: set[int], size: int) -> list[tuple[int, int]]:
    """The first and the last of each run of numbers below `size` that are not there."""
    gaps = []
    at = 0
    for rank in [*sorted(rank for rank in seen if rank < size), size]:
        if rank > at:
            gaps.append((at, rank - 1))
        at = rank + 1
    return gaps


def sentences(meta: Metadata, run: str) -> list[str]:
    """Which ranks of the run are missing, the likely cause, and what to do."""
    lines = []
    for missing in meta.missing:
        who = rank_numbers.of_ranges(missing.ranks)
        world = f" of world {missing.world}" if missing.world else ""
        are = "is" if _is_one(missing) else "are"
        lines.append(f"{who} of {missing.size:,}{world} {are} missing: {_why(meta, run)}")
    return lines


def of_launcher(launched: Launched) -> str:
    """Why a run holds one rank alone, and how to get one run of all."""
    of = "" if launched.size is None else f" of {launched.size:,}"
    return (
        f"a launcher has started `tare run` itself, as rank {launched.rank}{of} ({launched.variable}); "
        "for one run of all ranks write `tare run -- LAUNCHER OPTIONS PROGRAM`"
    )


def _is_one(missing: Missing) -> bool:
    return len(missing.ranks) == 1 and missing.ranks[0][0] == missing.ranks[0][1]


def _why(meta: Metadata, run: str) -> str:
    if meta.launched is not None:
        return of_launcher(meta.launched)
    if meta.unseen:
        return "they called MPI where tare does not see it, as is said of them"
    taken = _taken_by(meta.command)
    if taken:
        return f"`{taken}` in the command takes tare's environment (LD_PRELOAD, TARE_*) from them"
    started = (
        "they probably started without tare's environment (LD_PRELOAD, TARE_*), which env -i, another "
        "LD_PRELOAD, or a launcher that hands nothing on takes from them"
    )
    if meta.exit_code == 0:
        return started
    return (
        f"they were killed where `tare run` does not see their memory (on another host, in a container), and "
        f"`tare recover {run}` takes there what they have left; or {started}"
    )


def _taken_by(command: Sequence[str]) -> str:
    """The words of the command that change LD_PRELOAD or the whole environment; empty: there are none."""
    for number, word in enumerate(command):
        if word.startswith("LD_PRELOAD="):
            return word
        if word.rpartition("/")[2] != "env":
            continue
        option, variable = [*command[number + 1 : number + 3], "", ""][:2]
        if option in ("-i", "-") or option.endswith("-ignore-environment"):
            return f"{word} {option}"
        if option == "-u" and variable == "LD_PRELOAD":
            return f"{word} {option} {variable}"
        if option.endswith("-unset=LD_PRELOAD"):
            return f"{word} {option}"
    return ""
