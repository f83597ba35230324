"""What tare reads in the program's process depends on nothing that a program may change: its locale, rounding
mode, treatment of denormal numbers, time zone."""

from __future__ import annotations

import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import tare as package
from environments import ROOT, compile_c, openmpi4, run
from measured import PROGRAMS, Measurement, measure
from tare.analysis.rows import record

RANKS = 2
ROUNDS = 400
DISTURBANCES = ("LOCALE", "ROUNDING", "FLUSHING", "ZONE")
COMMA = "de_DE"


@pytest.fixture(scope="module")
def commas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a locale that has a decimal comma, made here, as the machine may have none."""
    place = tmp_path_factory.mktemp("locales")
    made: list[Path | str] = [
        "localedef",
        "--no-archive",
        "-i",
        COMMA,
        "-f",
        "UTF-8",
        place / f"{COMMA}.UTF-8",
    ]
    done = subprocess.run(made, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    sources = [PROGRAMS / "iterations.c", PROGRAMS / "disturbed.c"]
    out = tmp_path_factory.mktemp("disturbed") / "iterations"
    return compile_c(openmpi4(), sources, out, f"-D{request.param}", "-lm")


def run_disturbed(tare: Path, program: Path, out: Path, locales: Path, *options: str) -> Measurement:
    command: list[Path | str] = [program, str(ROUNDS), "4"]
    comma = f"{COMMA}.UTF-8"
    measured = measure(tare, openmpi4(), RANKS, command, out, *options, LOCPATH=str(locales), LC_ALL=comma)
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == RANKS
    assert "tare:" not in measured.ended.stderr
    return measured


@pytest.mark.parametrize("program", DISTURBANCES, indirect=True)
def test_a_budget_is_kept(program: Path, tare: Path, tmp_path: Path, commas: Path) -> None:
    measured = run_disturbed(tare, program, tmp_path / "run", commas, "--budget", "0.1%")
    spells = spells_of(tmp_path / "run")
    budget = measured.info()["budget"]
    # The ranks have passed together. How much was recorded depends on times.
    assert (budget["share"], budget["spells"]) == (0.001, len({row["spell"] for row in spells}))
    assert budget["spells"] > 0


@pytest.mark.parametrize("program", DISTURBANCES, indirect=True)
def test_a_trial_weighs(program: Path, tare: Path, tmp_path: Path, commas: Path) -> None:
    run_disturbed(tare, program, tmp_path / "run", commas, "--weigh")
    controls = [not row["measured"] for row in spells_of(tmp_path / "run")]
    assert 0 < sum(controls) < len(controls)


def spells_of(run: Path) -> list[dict[str, object]]:
    return [record(row) for row in package.open(run).spells]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TARE_BUDGET", "0,02"),
        ("TARE_BUDGET", "0.02,much"),
        ("TARE_WEIGH", "half"),
        ("TARE_BUFFER", "1M"),
        ("TARE_KEEP_NS", "-1"),
        ("TARE_STACK", "deep"),
        ("TARE_POLICY", "Drop"),
        ("TARE_LOOKUPS", "yes"),
    ],
)
def test_what_cannot_be_read_is_told_once(variable: str, value: str, tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "chained.c"], tmp_path / "chained")
    prefix: list[Path | str] = [
        tare,
        "run",
        "--quiet",
        "--trace",
        "-o",
        tmp_path / "run",
        "--",
        "env",
        f"{variable}={value}",
    ]
    ended = run(mpi, 1, [program], prefix=prefix)
    assert ended.returncode == 0, ended.stderr
    told = [line for line in ended.stderr.splitlines() if line.startswith("tare:")]
    assert len(told) == 1
    assert told[0].startswith(f"tare: {variable}={value} is ignored: its value is ")


OWN_RUN = """
#include "tare/tare.h"
#include <stdlib.h>
#include <time.h>
int main(void)
{
    setenv("TZ", "Asia/Kathmandu", 1);
    tzset();
    return tare_start(NULL) == 0 ? 0 : 1;
}
"""


def test_the_name_of_a_programs_own_run_has_the_time_in_utc(tare: Path, tmp_path: Path) -> None:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
    (tmp_path / "own.c").write_text(OWN_RUN)
    (tmp_path / "libtare_record.so.0").symlink_to(library)
    linked: list[Path | str] = [f"-I{ROOT / 'include'}", library, f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", tmp_path / "own.c", "-o", tmp_path / "own", *linked], check=True)
    before = datetime.now(UTC)
    subprocess.run([tmp_path / "own"], cwd=tmp_path, check=True)
    (made,) = tmp_path.glob("own-*")
    stamp = datetime.strptime(made.name, "own-%Y%m%d-%H%M%SZ").replace(tzinfo=UTC)
    assert timedelta(seconds=-1) < stamp - before < timedelta(minutes=5)


def test_no_code_in_the_program_or_in_tared_asks_the_locale_or_the_time_zone() -> None:
    """One way to read numbers (format/number.h), and none that reads or prints as the C library is set."""
    numbers = "strto[a-z]+|ato(f|i|l|ll)|[a-z]*scanf|sto(i|l|ul|ll|ull|f|d|ld)"
    times = "localtime(_r)?|gmtime(_r)?|mktime|strftime|setlocale"
    asks = re.compile(rf"\b({numbers}|{times})\s*\(|%[-+#0-9.*]*l?[fFeEgGaA]\b(?<!%\.0f)")
    sources = [
        path
        for folder in ("format", "recorder", "mpi", "monitor", "timing", "tared")
        for path in (ROOT / "src" / folder).rglob("*.[ch]*")
        if "testing" not in path.parts and not path.stem.endswith("_test")
        # A program of its own that measures trees.
        if path.parent.name != "sweetspot"
    ]
    assert len(sources) > 200
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sources
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if asks.search(line.split("//")[0])
    ]
    assert found == []
