"""A program that counts what signal handlers call (programs/loader_in_signals.c), and a library for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from measured import PROGRAMS

LIBRARY = """
#include <time.h>
void compute(int ms) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
"""


def build(directory: Path, *options: str) -> None:
    """Makes `program` and `library.so`, which it loads; `options`: of the compiler, for the library."""
    source = directory / "library.c"
    source.write_text(LIBRARY)
    compiler = ["gcc", "-O1", "-shared", "-fPIC", *options]
    subprocess.run([*compiler, source, "-o", directory / "library.so"], check=True)
    program = PROGRAMS / "loader_in_signals.c"
    subprocess.run(["gcc", "-O1", "-rdynamic", program, "-o", directory / "program"], check=True)
