"""What in a command keeps the preloaded library from the program that it starts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

# Hydra, MPICH's launcher, takes a variable and its value as two further words.
HYDRA_SETS = ("-env", "-genv")


def taken_by(command: Sequence[str]) -> str:
    """The words of the command that change LD_PRELOAD or the whole environment; empty: there are none."""
    is_srun = bool(command) and PurePath(command[0]).name == "srun"
    for number, word in enumerate(command):
        option, variable = [*command[number + 1 : number + 3], "", ""][:2]
        if word.startswith("LD_PRELOAD="):
            return word
        if word in HYDRA_SETS and option == "LD_PRELOAD":
            return f"{word} {option}"
        if is_srun and word.startswith("--export=") and not _exports_all(word):
            return word
        if word.rpartition("/")[2] != "env":
            continue
        if option in ("-i", "-") or option.endswith("-ignore-environment"):
            return f"{word} {option}"
        if option == "-u" and variable == "LD_PRELOAD":
            return f"{word} {option} {variable}"
        if option.endswith("-unset=LD_PRELOAD"):
            return f"{word} {option}"
    return ""


def _exports_all(option: str) -> bool:
    names = option.partition("=")[2].split(",")
    return "ALL" in names and not any(name.startswith("LD_PRELOAD=") for name in names)
