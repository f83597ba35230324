"""The programs with planted faults, what must be said of each, and how what is said compares with that."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments import PYTHON, ROOT, MpiEnvironment
from measured import Measurement, measure
from verbs import ask

SOURCE = ROOT / "tests" / "programs" / "planted.c"
OUTSIDE = SOURCE.with_name("planted_outside.c")
OF_PYTHON = SOURCE.with_name("planted_mpi4py.py")
# What it costs must agree to this: a busy machine adds to it, and hides some of it.
TOLERANCE = 0.3


@dataclass(frozen=True)
class Answer:
    """A finding that must be there."""

    kind: str
    cause: int | None = None  # the rank that causes it
    named: tuple[int, ...] | None = None  # the ranks that the finding names
    seconds: float | None = None  # of all ranks together
    trend: str = ""
    blocked: float | None = None  # how much of the time by which the cause is late it is on no processor
    gain: float | None = None  # seconds that the program takes less without it
    code: str = ""  # the function that its cause computes longer, by samples of stacks

    def misses(self, found: dict[str, Any], *, exactly: bool = True, has_gain: bool = True) -> list[str]:
        """What is different in the finding. `exactly`: times are compared; `has_gain`: its gain is known."""
        wrong = []
        if found["kind"] != self.kind:
            wrong.append(f"kind {found['kind']}")
        if self.cause is not None and found["cause_rank"] != self.cause:
            wrong.append(f"cause {found['cause_rank']}")
        if self.named is not None and tuple(found["ranks"]) != self.named:
            wrong.append(f"ranks {found['ranks']}")
        if self.code and found["cause_code"] != self.code:
            wrong.append(f"code '{found['cause_code']}'")
        if self.trend and found["trend"] != self.trend:
            wrong.append(f"trend '{found['trend']}'")
        if self.blocked is not None and abs((found["cause_blocked"] or 0.0) - self.blocked) > TOLERANCE:
            wrong.append(f"blocked {found['cause_blocked']}")
        if exactly and self.seconds is not None:
            seconds = found["time_ns"] / 1e9
            if abs(seconds - self.seconds) > TOLERANCE * self.seconds:
                wrong.append(f"{seconds:.3f} s, not {self.seconds:.3f}")
        if self.gain is not None and (has_gain or found["gain_ns"] is not None):
            gain = (found["gain_ns"] or 0) / 1e9
            if abs(gain - self.gain) > TOLERANCE * self.gain:
                wrong.append(f"a gain of {gain:.3f} s, not {self.gain:.3f}")
        return wrong


@dataclass(frozen=True)
class Planted:
    """A program, and what must be said of it: the first answer first; none if it has no fault."""

    name: str
    ranks: int
    answers: tuple[Answer, ...]
    here: frozenset[int] = field(default=frozenset())  # lines in which the time goes by
    cause: frozenset[int] = field(default=frozenset())  # lines before which the late rank computes
    what: frozenset[int] = field(default=frozenset())  # lines in which it is longer in files or in a region
    source: Path = SOURCE

    def command(self, compiled: Path) -> list[Path | str]:
        """What runs it; `compiled`: SOURCE."""
        name = self.name.rstrip(" 0123456789")
        return [compiled, name] if self.source.suffix == ".c" else [PYTHON, self.source, name]


def programs(*sources: Path) -> list[Planted]:
    """All of them, in the order of the sources; of those with faults of MPI if none is given."""
    return [each for source in sources or (SOURCE, OF_PYTHON) for each in _read(source)]


def _read(source: Path) -> Iterator[Planted]:
    lines = source.read_text().splitlines()
    last = "}" if source.suffix == ".c" else ""
    for number, line in enumerate(lines):
        found = re.search(r"@([a-z0-9 ]+): ranks=(\d+) (.*?)(?: \*/)?$", line)
        if found is None:
            continue
        end = number if lines[number + 1].endswith("}") else lines.index(last, number)
        yield Planted(
            found[1],
            int(found[2]),
            tuple(_answer(text.split()) for text in found[3].split("|") if text.strip() != "none"),
            _marked(lines, number, end, "here"),
            _marked(lines, number, end, "cause"),
            _marked(lines, number, end, "what"),
            source,
        )


def _answer(words: list[str]) -> Answer:
    fields = dict(word.split("=") for word in words[1:])
    return Answer(
        words[0].replace("-", " "),
        int(fields["cause"]) if "cause" in fields else None,
        tuple(map(int, fields["named"].split(","))) if "named" in fields else None,
        float(fields["seconds"]) if "seconds" in fields else None,
        fields.get("trend", ""),
        float(fields["blocked"]) if "blocked" in fields else None,
        float(fields["gain"]) if "gain" in fields else None,
        fields.get("code", ""),
    )


def _marked(lines: list[str], begin: int, end: int, mark: str) -> frozenset[int]:
    comments = ((number, re.split(r"/\*|#", lines[number])[1:]) for number in range(begin + 1, end))
    words = ((number, text[-1].removesuffix("*/").split()) for number, text in comments if text)
    return frozenset(number + 1 for number, of_line in words if mark in of_line)


def explained(
    tare: Path, mpi: MpiEnvironment, program: Path, of: Planted, directory: Path, *options: str
) -> dict[str, Any]:
    """What `tare explain` says of a traced run of the program."""
    measured = measure(tare, mpi, of.ranks, of.command(program), directory, "--trace", *options)
    return what_is_said(measured)


def what_is_said(measured: Measurement) -> dict[str, Any]:
    """`tare explain --json`."""
    done = ask(measured.tare, "explain", measured.directory, "--json", check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@dataclass
class Verdict:
    """What is said of a program, beside what must be said."""

    wrong: list[str]  # of the first finding: what is not as it must be; empty if it is right
    false: list[str]  # findings that no answer has
    blamed: list[int]  # ranks that have nothing to do with it, but are named as a cause
    missing: list[str]  # answers that no finding has


def judge(of: Planted, said: dict[str, Any], *, exactly: bool = True) -> Verdict:
    """Compares, but for what is not the program's: what else ran, measuring, and how MPI_Init ended."""
    others = {"not explained", "descheduled", "oversubscription", "cost of measuring", "late start"}
    others -= {answer.kind for answer in of.answers}
    found = [each for each in said["findings"] if each["kind"] not in others]
    # Where ranks had no processor in their calls, gains are not known.
    has_gain = not {"oversubscription", "descheduled"} & {each["kind"] for each in said["findings"]}
    if not of.answers:
        return Verdict([], [each["sentence"] for each in found], [], [])
    wrong = ["nothing is said"]
    if found:
        wrong = of.answers[0].misses(found[0], exactly=exactly, has_gain=has_gain)
        if of.here and found[0]["line"] not in of.here:
            wrong.append(f"line {found[0]['line']}")
        if of.what and found[0]["longer_line"] not in of.what:
            wrong.append(f"longer in line {found[0]['longer_line']}")
        if of.cause and found[0]["cause_line"] is not None and found[0]["cause_line"] not in of.cause:
            wrong.append(f"cause in line {found[0]['cause_line']}")
    kinds = {answer.kind for answer in of.answers}
    causes = {answer.cause for answer in of.answers if answer.cause is not None}
    return Verdict(
        wrong,
        [each["sentence"] for each in found if each["kind"] not in kinds],
        [each["cause_rank"] for each in found if causes and each["cause_rank"] not in {*causes, None}],
        [
            answer.kind
            for answer in of.answers
            if not any(not answer.misses(each, exactly=False, has_gain=has_gain) for each in found)
        ],
    )
