"""Other tools of MPI's profiling interface, made up: they count the calls of the functions that they wrap."""

from __future__ import annotations

import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from environments import ROOT, compiled
from standard import Function, functions

_HEAD = """\
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
"""
# Arguments and results are words, whatever their types: none of MPI's has another size, but for these two.
_DOUBLE = ("MPI_Wtime", "MPI_Wtick")
_WORDS_OF_VARIADIC = 6
_END = """
__attribute__((destructor)) static void say(void)
{
    const char *out = getenv("%(variable)s");
    char path[4096];
    FILE *file = NULL;
    if (!out) return;
    snprintf(path, sizeof path, "%%s/%%d", out, (int)getpid());
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (calls[i] && (file || (file = fopen(path, "w")))) fprintf(file, "%%s %%ld\\n", names[i], calls[i]);
    if (file) fclose(file);
}
"""


@cache
def _standard() -> list[Function]:
    table = tomllib.loads((ROOT / "mpi" / "functions.toml").read_text())
    return functions(table["mpi"]["libraries"]["prototypes"])


@cache
def functions_of(library: Path) -> frozenset[str]:
    """The functions that an MPI library exports by both of their names."""
    command = ["nm", "-D", "--defined-only", "--format=just-symbols", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    exported = {name.split("@")[0] for name in done.stdout.split()}
    return frozenset(f.name for f in _standard() if {f.name, f"P{f.name}"} <= exported)


def tool(
    names: Iterable[str], out: Path, optimisation: str = "-O2", variable: str = "TOOL_OUT", *flags: str
) -> Path:
    """A library that wraps these functions. With -O2 each wrapper ends in a jump. Where the variable names a
    directory, a process writes into it at its end how often it has called each."""
    wanted = set(names)
    wrapped = [function for function in _standard() if function.name in wanted]
    text = [_HEAD, f"static long calls[{len(wrapped)}];", "static const char *names[] = {"]
    text += [f'    "{function.name}",' for function in wrapped]
    text += [
        "};",
        *(_wrapper(i, function) for i, function in enumerate(wrapped)),
        _END % {"variable": variable},
    ]
    source = out.with_suffix(".c")
    source.write_text("\n".join(text))
    command = ["gcc", optimisation, "-shared", "-fPIC", *flags, source.name]
    return compiled(command, [source], out)


def _wrapper(index: int, function: Function) -> str:
    kind = "double" if function.name in _DOUBLE else "long"
    count = len(function.parameters)
    if any(each.name == "..." for each in function.parameters):
        count = _WORDS_OF_VARIADIC
    taken = ", ".join(f"long a{i}" for i in range(count)) or "void"
    given = ", ".join(f"a{i}" for i in range(count))
    name = function.name
    return (
        f"{kind} P{name}({taken});\n{kind} {name}({taken}) {{ calls[{index}]++; return P{name}({given}); }}"
    )


def counted(directory: Path) -> Counter[str]:
    """What the tool has counted, in all processes."""
    sums: Counter[str] = Counter()
    for file in directory.iterdir():
        for line in file.read_text().splitlines():
            name, calls = line.split()
            sums[name] += int(calls)
    return sums
