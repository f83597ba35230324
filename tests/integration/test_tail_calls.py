"""Functions that have left the stack by a tail call are named where the call of their caller names them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, openmpi4
from measured import Measurement, measure

LIBRARY = """
#include <mpi.h>
#define SEND(tag) MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD)
int library_send(int tag) { return SEND(tag); }
__attribute__((noinline)) static int inner(int tag)
{
    int failed = SEND(tag);
    __asm__ volatile("");
    return failed;
}
int library_solve(int tag) { return inner(tag + 1); }
/* Two names of one function. */
int library_plain(int tag)
{
    int failed = SEND(tag);
    __asm__ volatile("");
    return failed;
}
extern __typeof(library_plain) library_alias __attribute__((alias("library_plain")));
"""

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#define SEND(tag) MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD)
#define LAYER __attribute__((noinline, noclone)) static
int library_send(int), library_solve(int), library_alias(int);
LAYER int send_it(int tag) { return SEND(tag); }
LAYER int twice_removed(int tag) { return send_it(tag + 1); }
LAYER int plain(int tag)
{
    int failed = SEND(tag);
    __asm__ volatile("");
    return failed;
}
LAYER int to_plain(int tag) { return plain(tag + 1); }
__attribute__((noinline, cold)) static void seldom(void) { __asm__ volatile(""); }
/* The call lies in a part of the function that the compiler moves away, as it is rarely used. */
LAYER int rarely(int tag)
{
    if (__builtin_expect(tag > 4, 0)) {
        SEND(tag);
        seldom();
    }
    return tag;
}
LAYER int by_pointer(int (*function)(int), int tag)
{
    int failed = function(tag);
    __asm__ volatile("");
    return failed;
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int failed = send_it(0);
    failed += twice_removed(0);
    failed += to_plain(1);
    failed += library_send(3);
    failed += library_solve(3);
    failed += rarely(5);
    failed += library_alias(6);
    failed += by_pointer(send_it, 7);
    MPI_Finalize();
    return failed != 5;
}
"""
# By tag: the functions on the path, innermost first; those that were left by a tail call are marked.
EXPECTED = {
    0: ["send_it*", "main"],
    1: ["twice_removed*", "main"],
    2: ["plain", "to_plain*", "main"],
    3: ["library_send*", "main"],
    4: ["inner", "library_solve*", "main"],
    5: ["rarely", "main"],
    6: ["library_plain", "main"],
    7: ["by_pointer", "main"],
}


@pytest.fixture
def mpi() -> MpiEnvironment:
    """What is tried here does not depend on the MPI."""
    return openmpi4()


def build(mpi: MpiEnvironment, out: Path, *flags: str) -> Path:
    (out / "library.c").write_text(LIBRARY)
    (out / "program.c").write_text(PROGRAM)
    library = compile_c(mpi, [out / "library.c"], out / "libtail.so", "-O2", "-g", "-shared", "-fPIC")
    return compile_c(
        mpi, [out / "program.c"], out / "program", "-O2", "-g", *flags, str(library), f"-Wl,-rpath,{out}"
    )


def paths(measured: Measurement) -> dict[int, list[str]]:
    assert measured.ended.returncode == 0, measured.ended.stderr
    events = [row for row in measured.events("--paths") if row["function"] == "MPI_Send"]
    return {row["tag"]: named(row["path"]) for row in events}


def named(path: list[dict[str, Any]]) -> list[str]:
    names = []
    for frame in path:
        names += [f"{frame['tail_call']}*"] if frame["tail_call"] else []
        names.append(frame["caller"])
    return names


@pytest.mark.parametrize(
    "flags",
    [(), ("-no-pie",), ("-fno-plt",), ("-Wl,-z,now",), ("-fcf-protection=none",)],
    ids=lambda flags: "".join(flags),
)
def test_functions_without_a_frame_are_named(
    flags: tuple[str, ...], mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured = measure(tare, mpi, 1, [build(mpi, tmp_path, *flags)], tmp_path / "run", "--trace")
    assert paths(measured) == EXPECTED


def test_the_locale_changes_no_name(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """MPI's own functions are known in Turkish, too, where the small letter of 'I' is another than 'i'."""
    locales = tmp_path / "locales"
    locales.mkdir()
    turkish = ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(locales / "tr_TR.UTF-8")]
    if not shutil.which(turkish[0]) or subprocess.run(turkish, check=False, capture_output=True).returncode:
        pytest.skip("no Turkish locale can be made here")
    measured = measure(tare, mpi, 1, [build(mpi, tmp_path)], tmp_path / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    command: list[str | Path] = [tare, "profile", tmp_path / "run", "--by", "line", "--json"]
    said = [
        subprocess.run(command, env=os.environ | more, check=True, capture_output=True, text=True).stdout
        for more in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "tr_TR.UTF-8", "LOCPATH": str(locales)})
    ]
    assert said[0] == said[1]


def test_without_debug_information_and_when_the_program_is_gone(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = build(mpi, tmp_path)
    subprocess.run(["strip", "--strip-debug", program, tmp_path / "libtail.so"], check=True)
    measured = measure(tare, mpi, 1, [program], tmp_path / "run", "--trace")
    program.unlink()
    (tmp_path / "libtail.so").unlink()
    # Of two names for one address, either is right.
    assert paths(measured) in (EXPECTED, EXPECTED | {6: ["library_alias", "main"]})


def test_without_symbols_what_calls_mpi_has_an_address(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = build(mpi, tmp_path)
    subprocess.run(["strip", "--strip-all", program], check=True)
    found = paths(measure(tare, mpi, 1, [program], tmp_path / "run", "--trace"))
    by_tag = {tag: [name for name in path if name and name.endswith("*")] for tag, path in found.items()}
    assert {tag: names for tag, names in by_tag.items() if tag > 1} == {
        2: [], 3: ["library_send*"], 4: ["library_solve*"], 5: [], 6: [], 7: [],
    }  # fmt: skip
    (first,), (second,) = by_tag[0], by_tag[1]
    assert re.fullmatch(r"program\+0x[0-9a-f]+\*", first)
    assert re.fullmatch(r"program\+0x[0-9a-f]+\*", second)
    assert first != second


def test_as_people_see_it(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    measured = measure(tare, mpi, 1, [build(mpi, tmp_path)], tmp_path / "run")
    command: list[Path | str] = [tare, "profile", measured.directory, "--function", "MPI_Send", "--paths"]
    shown = subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "COLUMNS": "150"}
    )
    lines = [line.strip() for line in shown.stdout.splitlines()]
    at = lines.index("library_solve (tail call)")
    assert lines[at - 1].startswith("inner  library.c:")
    assert lines[at + 1].startswith("main  program.c:")
    line = PROGRAM.splitlines().index("    failed += library_send(3);") + 1
    (row,) = [row for row in measured.profile("line") if row["line"] == line]
    assert (row["caller"], row["tail_call"]) == ("main", "library_send")
    assert any("library_send (tail call) < main" in text and f"program.c:{line}" in text for text in lines)
