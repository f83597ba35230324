"""Whole studies, run for real: a tool whose cost is known, interruption, mixtures, sets."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import installed
from environments import PYTHON, ROOT, MpiEnvironment, compile_c, mpich4, openmpi4

SOURCES = ROOT / "workloads"
CALLS = 100_000
CALL_S, FLUSH_S = 1e-6, 5e-3
BUFFERS = (2_500, 5_000)
PARTS = f"write = [true, false]\nbuffer = {list(BUFFERS)}"
STUDY = """
[study]
title = "A tool whose cost is known"
repetitions = {repetitions}

[workload.sender]
command = "{program} {calls}"
ranks = 1
[workload.sender.phase.send]
wall = 'send ([0-9.]+) s'
cpu = 'cpu ([0-9.]+) s'

[mpi.here]
launch = "{mpiexec} -n {{ranks}}"
family = "mpich"

[factors]
tool = ["none", "known"]
{factors}

[tool.known]
run = {{ preload = ["{library}"] }}
[tool.known.parameter.write.level]
true = {{ environment = {{ KNOWN_COST_WRITE = "1" }} }}
false = {{ }}
[tool.known.parameter.buffer]
environment = {{ KNOWN_COST_EVENTS = "{{value}}" }}
"""


@pytest.fixture(scope="module")
def mpich() -> MpiEnvironment:
    return installed(mpich4())


@pytest.fixture(scope="module")
def compiled(mpich: MpiEnvironment, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    out = tmp_path_factory.mktemp("programs")
    program = compile_c(mpich, [SOURCES / "sender.c"], out / "sender")
    return program, compile_c(mpich, [SOURCES / "known_cost.c"], out / "libknown.so", "-shared", "-fPIC")


def described(
    mpich: MpiEnvironment,
    compiled: tuple[Path, Path],
    out: Path,
    repetitions: int,
    calls: int = CALLS,
    factors: str = "",
) -> Path:
    path = out / "known.toml"
    program, library = compiled
    path.write_text(
        STUDY.format(
            program=program,
            library=library,
            calls=calls,
            repetitions=repetitions,
            mpiexec=mpich.mpiexec[0],
            factors=factors,
        )
    )
    return path


def study(*words: Path | str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(PYTHON), "-m", "tare", "study", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=280)


def report(file: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Rows by section and table."""
    done = study("report", file, "--json", cwd=file.parent)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == "tare.study/1"
    return {
        section["title"]: {
            table["title"]: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
            for table in section["tables"]
        }
        for section in content["sections"]
    }


def query(file: Path, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(file.parent / "known-results" / "study.duckdb"), read_only=True) as connection:
        return connection.execute(text).fetchall()


# Processor times, but what shares the processor's caches counts for them.
@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
def test_a_known_cost_is_found_in_its_parts(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    file = described(mpich, compiled, tmp_path, 4, factors=PARTS)
    done = study("run", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = report(file)

    parts = found["Instrumentation and writing"]["Parts of the overhead"]
    for response in ("net cpu", "send cpu"):
        rows = {row["run"]: row for row in parts if row["time"] == response}
        for buffer in BUFFERS:
            row = next(row for label, row in rows.items() if f"buffer={buffer}" in label.split())
            assert row["instrumentation"] == pytest.approx(CALLS * CALL_S, rel=0.05)
            assert row["writing"] == pytest.approx(CALLS // buffer * FLUSH_S, rel=0.05)

    # Writing takes 200 ms or 100 ms, not writing nothing: by arithmetic 82, 9 and 9 %.
    variation = found["What causes the differences"]["Analysis of variance"]
    shares = {
        row["factor"]: row["share of variation"]
        for row in variation
        if row["runs"] == "sender, known" and row["time"] == "send cpu"
    }
    flushes = [CALLS // buffer * FLUSH_S for buffer in BUFFERS]
    main, other = sum(flushes) / 2, (flushes[0] - flushes[1]) / 2
    total = main**2 + 2 * other**2
    assert shares["write"] == pytest.approx(main**2 / total, abs=0.03)
    assert shares["buffer"] == pytest.approx(other**2 / total, abs=0.03)
    assert shares["write:buffer"] == pytest.approx(other**2 / total, abs=0.03)
    assert shares["residuals"] < 0.03

    overheads = found["Overhead of each tool"]["Against the bare program"]
    assert {row["verdict"] for row in overheads if row["time"] == "send cpu"} == {"slower"}
    page = tmp_path / "known.html"
    assert study("report", file, "--page", page, cwd=tmp_path).returncode == 0
    text = page.read_text()
    assert text.count("<svg") >= 3
    loaded = re.findall(r"(?:src|href)\s*=\s*[\"']?(?:https?:|//)|url\(\s*[\"']?(?:https?:|//)|@import", text)
    assert not loaded, "self-contained"
    assert "default-src &#x27;none&#x27;" in text


SHIPPED = """
[study]
repetitions = 1
warmup = 0
keep_output = true

[workload.sender]
command = "{program} 1000"
ranks = 1

[mpi.here]
launch = "{mpiexec} -n {{ranks}}"
family = "openmpi"
[mpi.here.environment]
{environment}

[factors]
tool = ["none", "forward", "tare", "tare-trace", "tare-keep", "tare-samples", "eztrace"]
write = [true, false]
drain = ["inline", "tared"]
sample = ["random:1"]
[[exclude]]
drain = "tared"
write = "false"
"""


def test_the_shipped_tools_of_this_machine_work(tmp_path: Path) -> None:
    mpi = installed(openmpi4())
    program = compile_c(mpi, [SOURCES / "sender.c"], tmp_path / "sender")
    file = tmp_path / "known.toml"
    environment = "\n".join(f"{name} = {json.dumps(value)}" for name, value in mpi.env.items())
    file.write_text(SHIPPED.format(program=program, mpiexec=mpi.mpiexec[0], environment=environment))
    done = study("run", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = query(
        file,
        "SELECT concat_ws(' ', factors['tool'], factors['write'], factors['drain'], factors['sample']), "
        "r.run, r.state, r.net_s > 0 AND r.hook_s > 0 AND r.wrap_s > 0, r.output_bytes, k.calls, k.events "
        "FROM runs r JOIN ranks k USING (run)",
    )
    found = {row[0]: row[1:] for row in rows}
    assert len(rows) == len(found) == 10
    assert {(state, timed) for _, state, timed, *_ in found.values()} == {("ok", True)}
    assert found["none"][3] == 0
    # 1000 MPI_Send, MPI_Init, MPI_Finalize and two MPI_Wtime, which are counted.
    modes = [name for name in found if name.startswith("tare")]
    assert len({found[name][4] for name in modes}) == 1, found
    assert found["tare"][4] >= 1002
    events = {name: found[name][5] for name in modes}
    assert all(
        events.pop(f"tare-{name}") >= 1000 for name in ("trace true inline", "trace true tared", "keep")
    )
    assert events == {"tare": 0, "tare-trace false inline": 0, "tare-samples random:1": 0}
    outputs = tmp_path / "known-results" / "outputs"
    traces = outputs / f"run-{found['eztrace true'][0]}"
    assert list(traces.rglob("*.otf2")), "EZTrace has recorded"
    unwritten = outputs / f"run-{found['eztrace false'][0]}"
    assert not list(unwritten.rglob("*")), "and has written nothing"
    assert found["eztrace false"][3] == 0
    parts = report(file)["Instrumentation and writing"]["Parts of the overhead"]
    assert any("eztrace" in row["run"] for row in parts), "so its overhead is split"


def test_an_interrupted_study_goes_on_without_repeating(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    file = described(mpich, compiled, tmp_path, 2, calls=100_000, factors=PARTS)
    command = [str(PYTHON), "-m", "tare", "study", "run", str(file)]
    started = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    seen: set[Path] = set()
    # The third run has begun, so two are stored.
    while time.monotonic() < deadline and len(seen) < 3:
        seen |= set(tmp_path.glob("known-results/outputs/*"))
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130, said
    assert "--resume" in said
    before = query(file, "SELECT run, started, cell, block FROM runs ORDER BY run")
    assert 2 <= len(before) < 15

    again = study("run", file, cwd=tmp_path)
    assert again.returncode == 2
    assert "--resume" in again.stderr
    resumed = study("run", file, "--resume", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    after = query(file, "SELECT run, started, cell, block FROM runs ORDER BY run")
    assert after[: len(before)] == before
    assert len(after) == len({(cell, block) for _, _, cell, block in after}) == 5 * 3
    assert "0 runs made" in study("run", file, "--resume", cwd=tmp_path).stderr
    assert list(tmp_path.glob("known-results/outputs/*")) == [], "nothing is left behind"


def test_results_of_another_program_are_refused_and_compared_as_a_set(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    program = tmp_path / "sender"
    program.write_bytes(compiled[0].read_bytes())
    program.chmod(0o755)
    file = described(mpich, (program, compiled[1]), tmp_path, 1, calls=20_000)
    assert study("run", file, cwd=tmp_path).returncode == 0
    with program.open("ab") as binary:
        binary.write(b"changed")
    refused = study("run", file, "--resume", "--repetitions", "2", cwd=tmp_path)
    assert refused.returncode == 2
    assert "program.sender.here has changed" in refused.stderr
    assert "--set" in refused.stderr

    apart = study("run", file, "--resume", "--set", "after", cwd=tmp_path)
    assert apart.returncode == 0, apart.stderr
    sets = report(file)["Sets that were recorded apart"]
    (facts,) = (rows for title, rows in sets.items() if title.startswith("Provenance"))
    assert [row["fact"] for row in facts] == ["program.sender.here"]
    exported = study("export", file, "--to", "csv", "--into", "tables", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    lines = (tmp_path / "tables" / "runs.csv").read_text().splitlines()
    assert len(lines) == 1 + 2 * 2 * 2
    assert study("export", file, "--to", "parquet", "--into", "tables", cwd=tmp_path).returncode == 0
    with duckdb.connect() as connection:
        counted = connection.execute(f"SELECT count(*) FROM '{tmp_path}/tables/runs.parquet'").fetchall()
    assert counted == [(8,)]


PLAIN = """
[study]
baseline = "slow"
repetitions = 6
warmup = 0

[workload.plain]
mpi = false
command = ["awk", "BEGIN { srand(); print \\"took\\", {time} * (1 + 0.001 * rand()), \\"us\\" }"]
[workload.plain.phase.event]
wall = 'took ([0-9.]+) us'
unit = "us"

[factors]
tool = ["slow", "quick"]
time = [100, 200]
[tool.slow]
[tool.quick]
"""


def test_a_program_without_mpi_is_judged_by_what_it_prints(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(PLAIN)
    done = study("run", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = report(file)
    assert "In short" not in found, "there is no net time"
    rows = found["Overhead of each tool"]["Against slow"]
    assert {row["time"] for row in rows} == {"overall", "event wall"}
    assert {row["verdict"] for row in rows if row["time"] == "event wall"} == {"none beyond ±1 %"}
    shares = found["What causes the differences"]["plain"]
    assert next(row for row in shares if row["factor"] == "time")["event wall"] > 0.99


def test_failures_are_told_and_recorded(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    """Also from where: results lie beside the study."""
    file = described(mpich, compiled, tmp_path, 3, calls=10)
    right = file.read_text()
    file.write_text(
        right.replace("send ([0-9.]+) s", "sent ([0-9.]+) s").replace("cpu ([0-9.]+)", "zpu ([0-9.]+)")
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    failed = study("run", file, cwd=elsewhere)
    assert failed.returncode == 1
    assert "nothing that matches send wall, send cpu" in failed.stderr
    for pattern in (
        "send wall of workload sender: 'sent ([0-9.]+) s'",
        "send cpu of workload sender: 'zpu ([0-9.]+) s'",
    ):
        assert f"nothing matches {pattern}, in 2 runs" in failed.stderr
    assert "2 patterns of" in failed.stderr
    assert query(file, "SELECT count(*) FROM runs") == [(2,)], "one of each, and no more"
    assert list(elsewhere.iterdir()) == []
    ((state, message),) = query(file, "SELECT DISTINCT state, message FROM runs")
    assert state == "failed"
    assert "send wall" in message
    assert study("report", file, cwd=elsewhere).returncode == 1
    file.write_text(right)
    done = study("run", file, "--resume", "--repetitions", "1", cwd=elsewhere)
    assert done.returncode == 0, done.stderr


def test_a_run_that_does_not_end_is_ended(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    file = described(mpich, compiled, tmp_path, 1, calls=10**9)
    file.write_text(
        file.read_text().replace("repetitions = 1", "repetitions = 1\nwarmup = 0\ntime_limit = 1")
    )
    done = study("run", file, cwd=tmp_path)
    assert done.returncode == 1
    assert "time limit of 1 s" in done.stderr
    left = subprocess.run(["pgrep", "-f", str(compiled[0])], capture_output=True, text=True).stdout
    assert not [pid for pid in left.split() if int(pid) != os.getpid()]


def test_it_runs_until_the_precision_is_reached(
    mpich: MpiEnvironment, compiled: tuple[Path, Path], tmp_path: Path
) -> None:
    file = described(mpich, compiled, tmp_path, 2, calls=1000)
    file.write_text(file.read_text().replace("repetitions = 2", "repetitions = 2\nmost_repetitions = 7"))
    done = study("run", file, "--until", "10000%", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert query(file, "SELECT max(block) FROM runs") == [(6,)], "the fewest that can be judged"
    never = study("run", file, "--resume", "--until", "0.000001%", cwd=tmp_path)
    assert never.returncode == 0
    assert "not reached within most_repetitions" in never.stderr
    assert query(file, "SELECT max(block) FROM runs") == [(7,)]


def test_a_program_without_mpi_runs_until_its_printed_times_are_known(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(PLAIN.replace("warmup = 0", "warmup = 0\nmost_repetitions = 9"))
    done = study("run", file, "--until", "5%", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert query(file, "SELECT max(block) FROM runs") == [(6,)], "the fewest that can be judged"
    file.write_text(f'{PLAIN}[analysis]\nresponses = ["net"]\n')
    refused = study("run", file, "--until", "5%", "--resume", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "workload 'plain'" in refused.stderr and "has no net time" in refused.stderr
