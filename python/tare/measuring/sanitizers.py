"""Programs built with a sanitizer run with a library that is preloaded.

The runtime of AddressSanitizer, if it is a shared library, ends a program in which another one comes first,
unless it is told not to look at the order. tare's library replaces nothing that the runtime replaces, so the
order does not matter. The runtime itself cannot be preloaded before it: launchers and shells would get it.

ThreadSanitizer sees which functions of the C library a preloaded library calls, but not what orders these.
So it reports races that there are not, unless it is told to leave out libraries that were built without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# By variable, the option that is added, and its value.
OPTIONS = {
    "ASAN_OPTIONS": ("verify_asan_link_order", 0),
    "TSAN_OPTIONS": ("ignore_noninstrumented_modules", 1),
}
# Options of launchers, each followed by a name and a value (MPICH and its descendants).
SETTERS = {"-env", "--env", "-genv", "--genv"}


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What is to be set in this environment."""
    return {name: _tolerant(name, environment.get(name, "")) for name in OPTIONS}


def words(command: Sequence[str]) -> list[str]:
    """The command; where it sets options itself, as for `env` or `mpirun -x`, tare's are among them."""
    result = list(command)
    for at, word in enumerate(command):
        name, _, options = word.partition("=")
        if name in OPTIONS and name != word:
            result[at] = f"{name}={_tolerant(name, options)}"
        elif word in SETTERS and at + 2 < len(command) and command[at + 1] in OPTIONS:
            result[at + 2] = _tolerant(command[at + 1], command[at + 2])
    return result


def _tolerant(name: str, options: str) -> str:
    """What the user has decided stays."""
    flag, value = OPTIONS[name]
    if flag in options:
        return options
    return f"{options}:{flag}={value}" if options else f"{flag}={value}"
