"""The programs that are measured, compiled for an MPI where that has not been done yet."""

from __future__ import annotations

from pathlib import Path

from tools import BUILD, ROOT, BenchError, MpiEnvironment, compile_c, mpich4, openmpi4

_SOURCES = {
    "null_calls": ROOT / "workloads" / "null_calls.c",
    "cold_calls": ROOT / "bench" / "cold_calls.c",
    "counted_calls": ROOT / "bench" / "counted_calls.c",
    "deep_calls": ROOT / "workloads" / "deep_calls.c",
    "bcast_barrier": ROOT / "workloads" / "bcast_barrier.c",
    "ping_pong": ROOT / "workloads" / "ping_pong.c",
    "halo": ROOT / "workloads" / "halo.c",
    "planted": ROOT / "tests" / "programs" / "planted.c",
    "init_finalize": ROOT / "bench" / "init_finalize.c",
}


def mpis() -> list[MpiEnvironment]:
    """Debian's two."""
    for mpi in (found := [openmpi4(), mpich4()]):
        if missing := mpi.missing():
            raise BenchError(f"{mpi.name} lacks {missing}; `make bench` installs it")
    return found


def program(mpi: MpiEnvironment, name: str) -> Path:
    source = _SOURCES[name]
    out = ROOT / "build" / "bench" / mpi.name / name
    if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
        out.parent.mkdir(parents=True, exist_ok=True)
        compile_c(mpi, [source], out, "-O2", "-lm")
    return out


def built(name: str) -> Path:
    """One that the build makes, for Open MPI or none."""
    path = BUILD / name
    if not path.exists():
        raise BenchError(f"{path} is missing; `make bench` builds it")
    return path


NAMES = {"debian-openmpi": "Open MPI", "debian-mpich": "MPICH"}
