"""Locks of the measured process are free in a forked child, where the thread that held one does not exist."""

from __future__ import annotations

import re

from environments import ROOT

LOCK = re.compile(r"^(?:constinit |static )*(?:recorder::)?SpinLock (\w+);", re.MULTILINE)


def test_every_lock_is_released_in_a_forked_child() -> None:
    held = []
    for path in (ROOT / "src").rglob("*.cpp"):
        # A forked child may not call MPI.
        if path.is_relative_to(ROOT / "src" / "mpi") or path.name.endswith("_test.cpp"):
            continue
        text = path.read_text()
        held += [f"{path.name}: {name}" for name in LOCK.findall(text) if f"{name}.reset()" not in text]
    assert not held
