"""What program a command measures: the name behind its launchers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from tare import programs

MPI_LAUNCHERS = re.compile(r"(mpiexec|mpirun|orterun|prterun|prun)(\.\w+)?|srun|aprun|jsrun|ibrun")
LAUNCHERS = re.compile(
    MPI_LAUNCHERS.pattern + r"|env|nice|nohup|numactl"
    r"|taskset|timeout|stdbuf|setsid|time|xvfb-run|strace|ltrace|catchsegv|eztrace|tare-timing"
)
INTERPRETERS = re.compile(r"python[\d.]*|bash|sh|dash|perl|julia")
# Options of launchers whose value could pass for a program (`-H node`, `-wdir /tmp`, `-x PATH`).
VALUED = re.compile(
    r"--?(H|host|hosts|hostfile|machinefile|f|x|genv|genvlist|env|wdir|wd|bind-to|map-by|rank-by"
    r"|mca|prtemca|pmca|display|output|tag|ppn|perhost|u|C|chdir|p|partition|A|account|w|nodelist"
    r"|mpi|launcher|launcher-exec|bootstrap|bootstrap-exec|iface|k|signal)"
)
PAIRED = re.compile(r"--?(mca|prtemca|pmca|genv|gmca|env)")
NUMBER = re.compile(r"0x[\da-fA-F]+|\d[\d.,:-]*[smhd]?")
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
FALLBACK = "run"


def program_name(command: Sequence[str]) -> str:
    """The measured program's base name, fit for the name of a file."""
    name = UNSAFE.sub("_", PurePath(_program(list(command))).name).strip("._-")
    return name or FALLBACK


def arguments(command: Sequence[str]) -> list[str]:
    """The words behind the measured program; of an interpreter, all behind the script or its code."""
    words = _from_program(list(command))
    if words and INTERPRETERS.fullmatch(PurePath(words[0]).name):
        name = _script(words[1:])
        if name is None:
            return words[1:]
        at = next((at for at, word in enumerate(words) if word == name or word.startswith(f"{name}.")), 0)
        return words[at + 1 :]
    return words[1:]


def is_launcher(word: str) -> bool:
    """Whether a command that begins with this starts the processes of an MPI program."""
    return MPI_LAUNCHERS.fullmatch(PurePath(word).name) is not None


def is_prefix(word: str) -> bool:
    """Whether a program of this name starts the one that is behind it in a command."""
    return LAUNCHERS.fullmatch(PurePath(word).name) is not None


def _program(words: list[str]) -> str:
    words = _from_program(words)
    if not words:
        return FALLBACK
    base = PurePath(words[0]).name
    if INTERPRETERS.fullmatch(base):
        return _script(words[1:]) or base
    return base if LAUNCHERS.fullmatch(base) else words[0]


def _from_program(words: list[str]) -> list[str]:
    """The words from the program on: launchers are taken away, unless there is nothing behind them."""
    while words and LAUNCHERS.fullmatch(PurePath(words[0]).name):
        rest = _after_launcher(words[1:])
        if not rest:
            break
        words = rest
    return words


def _after_launcher(words: list[str]) -> list[str]:
    """The words from the first one that can be the program; unknown options may have a value."""
    first_word: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("-") and word != "-":
            at += 3 if PAIRED.fullmatch(word) else 2 if VALUED.fullmatch(word) else 1
            continue
        if "=" not in word and not NUMBER.fullmatch(word):
            if programs.find(word):
                return words[at:]
            first_word = first_word or words[at:]
        at += 1
    return first_word


def _script(words: list[str]) -> str | None:
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words):
            return words[at + 1]
        if word == "-c":
            return None
        if not word.startswith("-"):
            return re.sub(r"\.(py|sh|pl|jl)$", "", word)
    return None
