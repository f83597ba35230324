"""`tare run` on shell programs: what it promises about the command it runs."""

from __future__ import annotations

import ctypes.util
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from fake_tare import Tare, fake_command, fake_environment


def meta(run_dir: Path) -> Any:
    return json.loads((run_dir / "meta.json").read_text())


def test_output_and_exit_code_are_the_commands(tare: Tare, program: Path) -> None:
    done = tare("run", "--quiet", "--", program, "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")


def test_summary_fits_80_columns_and_goes_to_standard_error(tare: Tare, program: Path) -> None:
    done = tare("run", "--trace", "--", program, "echo out", COLUMNS="80")
    assert done.stdout == "out\n"
    assert max(map(len, done.stderr.splitlines())) <= 80
    for part in ("Fake MPI 1.0", "1 killed (rank 1)", "max 30.0 % (rank 1)", "app.c:12", "halo",
                 "libsolver.so.1", "10.0 bytes each", "tare profile app-"):  # fmt: skip
        assert part in done.stderr


def test_run_directory_is_complete(tare: Tare, program: Path, tmp_path: Path) -> None:
    tare("run", "-o", "here", "--buffer", "4M", "--keep-env", "MY_*", "--", program, "exit 3", MY_TOKEN="x",
         MY_SIZE="7", OTHER="o", OMP_NUM_THREADS="2")  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "here").iterdir()) == ["meta.json", "node.tare"]
    written = meta(tmp_path / "here")
    assert written["command"] == [str(program), "exit 3"]
    assert written["options"] == {
        "trace": False,
        "buffer": 4194304,
        "stack": None,
        "stack_rate": None,
        "policy": "block",
        "keep_ns": None,
        "write": True,
        "drain": "inline",
        "time_lookups": False,
        "sources": [],
        "weigh": None,
        "budget": None,
        "budget_bytes": None,
        "monitor": None,
        "sample": None,
        "keep_env": ["MY_*"],
        "forward": False,
        "group": None,
    }
    assert (written["state"], written["exit_code"], written["signal"]) == ("ended", 3, None)
    assert [rank["state"] for rank in written["ranks"]] == ["finished", "killed"]
    environment = written["environment"]
    assert (environment["MY_SIZE"], environment["OMP_NUM_THREADS"]) == ("7", "2")
    assert not {"MY_TOKEN", "OTHER", "HOME"} & set(environment)
    assert written["wall_ns"] > 0
    assert written["cost"]["calls"] == 28


def test_default_name_is_program_and_time(tare: Tare, program: Path, tmp_path: Path) -> None:
    tare("run", "--quiet", "--", "env", "A=1", program, "true")
    (made,) = tmp_path.glob("app-*")
    time.strptime(made.name, "app-%Y%m%d-%H%M%S")


def test_contract_with_the_library(tare: Tare, program: Path, tmp_path: Path) -> None:
    shown = tare(
        "run", "-q", "--trace", "--buffer", "64K", "--time-lookups", "-o", "r", "--", program, "env",
        LD_PRELOAD=ctypes.util.find_library("c") or "", TARE_BUFFER="stale",
    ).stdout  # fmt: skip
    variables = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    written = meta(tmp_path / "r")
    assert variables["LD_PRELOAD"] == "libm.so.6:libc.so.6"
    assert variables["TARE_RUN_DIR"] == str(tmp_path / "r")
    assert variables["TARE_RUN_ID"] == written["run_id"]
    assert len(written["run_id"]) == 16
    assert variables["TARE_RUN_KEY"] == written["run_key"]
    assert len(written["run_key"]) == 32
    assert variables["TARE_SEGMENT_DIR"] == written["segment_dir"]
    assert variables["TARE_COLLECTOR"] == f"what sees {written['segment_dir']}, {tmp_path / 'r'}"
    assert (variables["TARE_TRACE"], variables["TARE_BUFFER"]) == ("1", "65536")
    assert variables["TARE_LOOKUPS"] == "time"
    assert variables["TARE_POLICY"] == "block"
    assert not {"TARE_KEEP_NS", "TARE_WRITE", "TARE_DRAIN"} & set(variables)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--keep", "last:1.5s"], {"TRACE": "1", "POLICY": "overwrite", "KEEP_NS": "1500000000"}),
        (["--keep", "last:2M"], {"TRACE": "1", "POLICY": "overwrite", "BUFFER": "2097152"}),
        (["--policy", "drop"], {"TRACE": "1", "POLICY": "drop"}),
        (["--write", "none"], {"TRACE": "1", "POLICY": "block", "WRITE": "none"}),
    ],
)
def test_what_a_full_buffer_does(
    tare: Tare, program: Path, options: list[str], wanted: dict[str, str]
) -> None:
    shown = tare("run", "-q", *options, "-o", "r", "--", program, "env | grep ^TARE_").stdout
    variables = dict(line.removeprefix("TARE_").split("=", 1) for line in shown.splitlines())
    names = {"TRACE", "POLICY", "KEEP_NS", "BUFFER", "WRITE"}
    assert {name: value for name, value in variables.items() if name in names} == wanted


@pytest.mark.parametrize("options", [[], ["-q"]])
def test_no_mpi_is_said_in_one_line(tare: Tare, tmp_path: Path, options: list[str]) -> None:
    done = tare("run", *options, "-o", "r", "--", "sh", "-c", "exit 4")
    assert (done.returncode, done.stderr.count("\n")) == (4, 1)
    assert "no process of this command recorded a call of MPI" in done.stderr
    assert [path.name for path in (tmp_path / "r").iterdir()] == ["meta.json"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "--", "no-such-program"], 127, "tare: cannot start no-such-program: command not found"),
        (["run", "--", "/etc/passwd"], 126, "tare: cannot start /etc/passwd: it is not executable"),
        (["run", "--", "/etc"], 126, "tare: cannot start /etc: it is a directory"),
        (["run", "--", "."], 126, "tare: cannot start .: it is a directory"),
        (["run", "-o", "/etc", "--", "true"], 2, "tare: /etc exists and is not an empty directory"),
        (["run", "-o", "/dev/null/x", "--", "true"], 1, "tare: cannot make a run directory"),
        (["run", "--buffer", "huge", "--", "true"], 2, "'huge' is not a size"),
        (["run", "--keep", "30s", "--", "true"], 2, "write it like last:30s or last:64M"),
        (["run", "--buffer", "0", "--", "true"], 2, "a buffer has at least 8.00 KiB"),
        (["run", "--buffer", "1", "--", "true"], 2, "a buffer has at least 8.00 KiB"),
        (["run", "--buffer", "999G", "--", "true"], 2, "more than this machine's memory"),
        (["run", "--buffer", "", "--", "true"], 2, "'' is not a size"),
        (["run", "--keep", "last:0s", "--", "true"], 2, "is not a time that tare can keep"),
        (["run", "--keep", "last:99999999999h", "--", "true"], 2, "is not a time that tare can keep"),
        (["run", "--keep", "last:999G", "--", "true"], 2, "more than this machine's memory"),
        (["run", "-o", "--", "true"], 2, "-o/--output needs a value"),
        (["run", "-o", "--quiet", "--", "true"], 2, "-o/--output needs a value"),
        (["run", "-o", "", "--", "true"], 2, "'' is not a name"),
        (["run", "--keep", "last:1s", "--policy", "drop", "--", "true"], 2, "leave out --policy drop"),
        (["run", "--keep", "last:1s", "--drain", "tared", "--", "true"], 2, "is not drained; leave out one"),
        (["run", "--keep", "last:1s", "--write", "none", "--", "true"], 2, "leave out --write none"),
        (["run", "--with", ",", "--", "true"], 2, "'' is no source of events"),
        (["run", "--keep", "last:1M", "--buffer", "1M", "--", "true"], 2, "leave out --buffer"),
        (["run"], 2, "tare: missing argument 'COMMAND'; see tare run --help"),
        (["run", "--frobnicate", "--", "true"], 2, "tare: no such option: --frobnicate"),
    ],
)
def test_what_cannot_be_done_leaves_nothing(
    tare: Tare, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    done = tare(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_script_without_interpreter_line_runs_as_in_a_shell(tare: Tare, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("exit 5\n")
    script.chmod(0o755)
    assert tare("run", "-q", "--", script).returncode == 5


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGTERM", "SIGINT"])
def test_death_by_signal_is_passed_on(tare: Tare, program: Path, tmp_path: Path, name: str) -> None:
    done = tare("run", "-o", "r", "--", program, f"kill -{name[3:]} $$")
    assert done.returncode == -signal.Signals[name]
    assert f"killed by {name}" in done.stderr
    assert meta(tmp_path / "r")["signal"] == signal.Signals[name]


def start(tmp_path: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        fake_command(*arguments),
        cwd=tmp_path,
        env=fake_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("name", ["TERM", "HUP", "USR1", "USR2"])
def test_signals_reach_the_command(program: Path, tmp_path: Path, name: str) -> None:
    body = f"trap 'echo got; exit 9' {name}; echo ready; while :; do sleep 0.05; done"
    process = start(tmp_path, "run", "-q", "-o", "r", "--", program, body)
    process.send_signal(signal.Signals[f"SIG{name}"])
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (9, "got\n", "")


def test_interrupt_from_the_terminal_ends_command_and_is_measured(program: Path, tmp_path: Path) -> None:
    body = "trap 'exit 130' INT; echo ready; while :; do sleep 0.05; done"
    process = start(tmp_path, "run", "-o", "r", "--", program, body)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "exit code 130" in err
    assert "Traceback" not in err


def test_run_that_was_itself_killed_is_recovered(tare: Tare, program: Path, tmp_path: Path) -> None:
    body = "echo ready; while kill -0 $PPID 2>/dev/null; do sleep 0.05; done"
    process = start(tmp_path, "run", "-o", "r", "--", program, body)
    process.kill()
    process.wait()
    process.communicate(timeout=30)
    assert meta(tmp_path / "r")["state"] == "running"
    assert "not seen to end" in tare("info", "r").stdout
    done = tare("recover", "r")
    assert (done.returncode, done.stdout) == (0, "r: took over 1 process, 3 events\n")
    assert meta(tmp_path / "r")["state"] == "recovered"
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["meta.json", "node.tare"]


def test_recover_on_another_node_says_what_it_does_not_know_yet(
    tare: Tare, program: Path, tmp_path: Path
) -> None:
    tare("run", "-q", "-o", "r", "--", program, "true")
    written = meta(tmp_path / "r")
    written.update(state="running", host="n0", exit_code=None, wall_ns=None, ranks=None, collected=None)
    written["runner"].update(machine="fedcba9876543210")
    (tmp_path / "r" / "meta.json").write_text(json.dumps(written))
    os.utime(tmp_path / "r" / "meta.json", (time.time() - 100, time.time() - 100))
    why = (
        "`tare run` on n0 may still run, as far as is seen here; if it has ended, "
        f"`tare recover {tmp_path / 'r'}` there takes what is left, or repeat here in "
    )
    launched = tare("recover", "r", "--launch", "false {host}")
    assert launched.returncode == 1 and launched.stderr.count("\n") == 1
    found = re.search(re.escape(f"tare: nothing was started on n0: {why}") + r"([\d.]+) s", launched.stderr)
    assert found is not None and 0 < float(found[1]) <= 20
    assert why not in launched.stdout
    assert time.time() - (tmp_path / "r" / "meta.json").stat().st_mtime > 99, (
        "it is no sign of life of tare run"
    )
    alone = tare("recover", "r")
    assert alone.returncode == 0 and f"  {why}" in alone.stdout
    os.utime(tmp_path / "r" / "meta.json", (0, 0))
    assert why not in tare("recover", "r").stdout


def test_closed_standard_error_does_not_change_the_exit_code(program: Path, tmp_path: Path) -> None:
    command = " ".join(map(str, fake_command("run", "-o", "r", "--", program, "'exit 6'")))
    done = subprocess.run(
        ["bash", "-c", f"{command} 2> >(true); exit $?"],
        cwd=tmp_path,
        env=fake_environment(),
        timeout=60,
        check=False,
    )
    assert done.returncode == 6


def test_the_command_runs_unmeasured_if_the_user_prefers_that(
    tare: Tare, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    command = ["run", "--or-unmeasured", "--", program, "echo $LD_PRELOAD$TARE_RUN_DIR out; exit 3"]
    for where, why in (
        ("taken", "taken exists and is not an empty directory"),
        ("/dev/null/x", "Not a direct"),
        ("app-%j", "-o: %j is the id of the job, and the environment names none"),
        ("app-%q", "-o: %q stands for nothing"),
        ("", "-o: '' is not a name"),
    ):
        done = tare(command[0], "-o", where, *command[1:])
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "out\n", 1)
        assert why in done.stderr and "; the command runs unmeasured (--or-unmeasured)\n" in done.stderr
    assert tare(*command).returncode == 3
    (measured,) = tmp_path.glob("app-*")
    assert meta(measured)["exit_code"] == 3


def test_the_name_of_the_run_directory_has_values_in_place_of_patterns(
    tare: Tare, program: Path, tmp_path: Path
) -> None:
    job = {"SLURM_JOB_ID": "12", "SLURM_RESTART_COUNT": "1"}
    assert tare("run", "-q", "-o", "app-%j-%r", "--", program, "true", **job).returncode == 0
    assert (tmp_path / "app-12-1" / "meta.json").exists()
    refused = tare("run", "-o", "app-%j", "--", program, "true")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert refused.stderr == "tare: -o: %j is the id of the job, and the environment names none\n"
