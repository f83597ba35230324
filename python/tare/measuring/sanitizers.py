"""Programs built with AddressSanitizer run with a library that is preloaded.

Its runtime, if it is a shared library, ends a program in which another library comes first, unless it is told
not to look at the order. tare's library replaces nothing that the runtime replaces, so the order does not
matter. The runtime itself cannot be preloaded before it: launchers and shells would get it, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

VARIABLE = "ASAN_OPTIONS"
FLAG = "verify_asan_link_order"
# Options of launchers, each followed by a name and a value (MPICH and its descendants).
SETTERS = {"-env", "--env", "-genv", "--genv"}


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What is to be set in this environment."""
    return {VARIABLE: _tolerant(environment.get(VARIABLE, ""))}


def words(command: Sequence[str]) -> list[str]:
    """The command; where it sets the options itself, as for `env` or `mpirun -x`, this flag is among them."""
    result = list(command)
    for at, word in enumerate(command):
        if word.startswith(f"{VARIABLE}="):
            result[at] = f"{VARIABLE}={_tolerant(word.removeprefix(f'{VARIABLE}='))}"
        elif word in SETTERS and command[at + 1 : at + 2] == [VARIABLE] and at + 2 < len(command):
            result[at + 2] = _tolerant(command[at + 2])
    return result


def _tolerant(options: str) -> str:
    """What the user has decided stays."""
    if FLAG in options:
        return options
    return f"{options}:{FLAG}=0" if options else f"{FLAG}=0"
