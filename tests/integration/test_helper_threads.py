"""Threads beside the first may be there to wait for work. The cost of measuring is a share of the time of the
first thread and of what the others have of a processor, whatever these wait for."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from measured import Measurement

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000

# Both programs print the processor time of their threads beside the first, in ns.
PYTHON = """
import os, sys, threading, time
file = os.open(sys.argv[0], os.O_RDONLY)
used = []
def work(is_busy):
    for _ in range(4):
        os.pread(file, 10, 0)
        if is_busy:
            sum(range(1_000_000))
        else:
            time.sleep(0.2)
    used.append(time.thread_time_ns())
threads = [threading.Thread(target=work, args=(is_busy,)) for is_busy in (True, False, False, False)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(used))
"""
OPENMP = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static long used[4];
static long processor_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
  return at.tv_sec * 1000000000L + at.tv_nsec;
}
#include <omp.h>
int main(void) {
  for (int i = 0; i < 20; ++i) {
#pragma omp parallel num_threads(4)
    {
      const long until = processor_ns() + 5000000;
      while (processor_ns() < until) {}
      used[omp_get_thread_num()] = processor_ns();
    }
    usleep(20000);
  }
  printf("%ld\\n", used[1] + used[2] + used[3]);
  return 0;
}
"""


def recorded_by_others(tare: Path, directory: Path, source: str, *argv: Path | str) -> tuple[float, float]:
    """What the account has of threads beside the first, and what the program says of them, in ns."""
    command = [tare, "run", "--quiet", "--with", source, "-o", directory, "--", *argv]
    ended = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=True
    )
    info = Measurement(tare, directory, ended).info()
    (process,) = info["ranks"]
    return info["cost"]["recorded_ns"] - process["wall_ns"], float(ended.stdout)


def test_threads_that_sleep(tare: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(PYTHON)
    recorded_ns, used_ns = recorded_by_others(tare, tmp_path / "run", "files", sys.executable, script)
    assert abs(recorded_ns - used_ns) < 0.1 * used_ns + 5 * MS


def test_workers_without_work(tare: Path, tmp_path: Path) -> None:
    (tmp_path / "workers.c").write_text(OPENMP)
    program = tmp_path / "workers"
    subprocess.run(["gcc", "-fopenmp", tmp_path / "workers.c", "-o", program], check=True)
    recorded_ns, used_ns = recorded_by_others(tare, tmp_path / "run", "openmp", program)
    assert used_ns >= 3 * 20 * 5 * MS
    assert abs(recorded_ns - used_ns) < 0.1 * used_ns + 5 * MS
