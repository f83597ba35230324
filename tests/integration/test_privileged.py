"""A program that has more rights than its caller does not obey the caller: tare is off in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import ROOT

NOBODY = 65534
PROGRAM = """
#include <stdio.h>
#include "tare/tare.h"
int main(int argc, char **argv)
{
    int failed = argc > 1 ? tare_start(argv[1]) : 0;
    tare_id region = tare_define_region("region");
    tare_enter(region);
    tare_leave(region);
    printf("%d %d\\n", failed, tare_recording());
    return 0;
}
"""
DRAIN = """#!/bin/sh
touch "$0.was-run"
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that other users can reach."""
    path = Path(tempfile.mkdtemp(prefix="tare-privileged-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a program that runs as root")
@pytest.mark.parametrize("privileged", [False, True], ids=["plain", "set-user-ID"])
def test_a_set_user_id_program(privileged: bool, tare: Path, place: Path) -> None:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
    shutil.copy(library, place)
    (place / "program.c").write_text(PROGRAM)
    program = place / "program"
    linked: list[str] = [f"-L{place}", "-l:libtare_record.so", f"-Wl,-rpath,{place}"]
    compiled: list[Path | str] = ["gcc", place / "program.c", "-o", program, f"-I{ROOT / 'include'}", *linked]
    subprocess.run(compiled, check=True)
    # What needs the library by the name that it has in a system.
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    (name,) = re.findall(r"NEEDED.*\[(libtare_record[^]]*)\]", needed)
    if not (place / name).exists():
        (place / name).symlink_to("libtare_record.so")
    drain = place / "drain"
    drain.write_text(DRAIN)
    drain.chmod(0o755)
    for each in ("runs", "segments"):
        (place / each).mkdir()
        os.chown(place / each, NOBODY, NOBODY)
    program.chmod(0o4755 if privileged else 0o755)
    environment = {
        "PATH": "/usr/bin:/bin",
        "TARE_RUN_DIR": str(place / "runs"),
        "TARE_RUN_ID": "0123456789abcdef",
        "TARE_SEGMENT_DIR": str(place / "segments"),
        "TARE_TRACE": "1",
        "TARE_DRAIN": str(drain),
        "TARE_TARED": str(drain),
        "TARE_KEEPER": str(drain),
        "TARE_MONITOR": "interval=1000",
    }

    def outcome(*arguments: str | Path) -> str:
        done = subprocess.run(
            [program, *arguments], env=environment, capture_output=True, text=True, cwd=place / "runs",
            user=NOBODY, group=NOBODY, extra_groups=[], timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert outcome() == ("0 0\n" if privileged else "0 1\n")
    written = [*(place / "runs").iterdir(), *(place / "segments").iterdir(), *place.glob("*.was-run")]
    assert (written == []) == privileged, written
    for variable in [name for name in environment if name.startswith("TARE_")]:
        del environment[variable]
    assert outcome(place / "runs" / "own") == ("-1 0\n" if privileged else "0 1\n")
    assert (place / "runs" / "own").exists() != privileged


def test_no_code_in_the_program_reads_the_environment_in_another_way() -> None:
    """secure_getenv() finds nothing in a program with more rights than its caller."""
    plain = re.compile(r"(?<!secure_)\bgetenv\s*\(|\benviron\b")
    sources = [
        path
        for folder in ("recorder", "mpi", "monitor", "timing", "format")
        for path in (ROOT / "src" / folder).rglob("*.[chS]*")
        if "testing" not in path.parts and not path.stem.endswith("_test")
    ]
    assert len(sources) > 150
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources
        # A program of its own: no part of it is in the measured one.
        if path.name != "preload.c"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if plain.search(line.split("//")[0])
    ]
    assert found == []
