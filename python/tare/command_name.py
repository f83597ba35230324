"""What program a command measures: the name behind its launchers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import PurePath

LAUNCHERS = re.compile(
    r"(mpiexec|mpirun|orterun|prterun|prun)(\.\w+)?|srun|aprun|jsrun|ibrun|env|nice|nohup|numactl"
    r"|taskset|timeout|stdbuf|setsid|time|xvfb-run|strace|ltrace|catchsegv|eztrace|tare-timing"
)
INTERPRETERS = re.compile(r"python[\d.]*|bash|sh|dash|perl|julia")
# Options of launchers whose value could pass for a program (`-H node`, `-wdir /tmp`, `-x PATH`).
VALUED = re.compile(
    r"--?(H|host|hosts|hostfile|machinefile|f|x|genv|genvlist|env|wdir|wd|bind-to|map-by|rank-by"
    r"|mca|prtemca|pmca|display|output|tag|ppn|perhost|u|C|chdir|p|partition|A|account|w|nodelist"
    r"|mpi|launcher|bootstrap|iface|k|signal)"
)
PAIRED = re.compile(r"--?(mca|prtemca|pmca|genv|gmca|env)")
NUMBER = re.compile(r"0x[\da-fA-F]+|\d[\d.,:-]*[smhd]?")
UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
FALLBACK = "run"


def program_name(command: Sequence[str]) -> str:
    """The measured program's base name, fit for the name of a file."""
    name = UNSAFE.sub("_", PurePath(_program(list(command))).name).strip("._-")
    return name or FALLBACK


def _program(words: list[str]) -> str:
    while words:
        base = PurePath(words[0]).name
        if LAUNCHERS.fullmatch(base):
            rest = _after_launcher(words[1:])
            if not rest:
                return base
            words = rest
        elif INTERPRETERS.fullmatch(base):
            return _script(words[1:]) or base
        else:
            return words[0]
    return FALLBACK


def _after_launcher(words: list[str]) -> list[str]:
    """From the first word that can be the program; unknown options may have a value."""
    first_word: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("-") and word != "-":
            at += 3 if PAIRED.fullmatch(word) else 2 if VALUED.fullmatch(word) else 1
            continue
        if "=" not in word and not NUMBER.fullmatch(word):
            if shutil.which(word):
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
