"""The printing verbs on a complete run of the fake reader."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import subprocess
from pathlib import Path

import pytest
from fake_tare import Tare, fake_command, fake_environment
from tare import registry
from tare.errors import unwritable
from tare.reporters import terminal

VERBS = list(registry.entries(registry.VERBS))
OF_STUDY = ("init", "run", "report", "join", "model", "tools", "export")


@pytest.mark.parametrize("verb", [*sorted(VERBS), *(f"study {verb}" for verb in OF_STUDY)])
def test_help_has_an_example(tare: Tare, verb: str) -> None:
    done = tare(*verb.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Example: tare {verb}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("verb", ["top", "monitor", "watch", "recover"])
def test_verbs_that_take_no_archive_promise_none(tare: Tare, run_dir: Path, verb: str) -> None:
    assert "archive" not in tare(verb, "--help").stdout
    archive = run_dir.parent / "runs.tare"
    archive.touch()
    done = tare(verb, archive, *{"monitor": ["--set", "every=2"], "watch": ["--alert", "hang"]}.get(verb, []))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{archive} is a file" in done.stderr


def test_help_names_what_messages_name(tare: Tare) -> None:
    said = " ".join(tare("run", "--help").stdout.split())
    assert "(default: 4; at most 32)" in said and "(default: 100; at most 10,000)" in said
    assert "--weigh[=SHARE]" in said and "--monitor[=SPEC]" in said


def test_main_help_names_every_verb(tare: Tare) -> None:
    shown = tare("--help").stdout
    assert all(f"\n  {verb} " in shown for verb in VERBS)
    assert shown.count("Example: ") == 1
    assert "..." not in shown.split("Commands:")[1]
    assert max(map(len, shown.splitlines())) <= 80


def test_without_a_verb_the_help_is_shown(tare: Tare) -> None:
    done = tare()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == tare("--help").stdout


def test_the_newest_events_are_in_the_order_of_time(tare: Tare, run_dir: Path) -> None:
    whole = json.loads(tare("events", run_dir, "--json").stdout)["rows"]
    for number in (1, 2, len(whole), len(whole) + 1):
        shown = json.loads(tare("events", run_dir, "--json", "--last", str(number)).stdout)["rows"]
        assert shown == whole[-number:]
    text = tare("events", run_dir).stdout.splitlines()
    assert tare("events", run_dir, "--last", "1").stdout.splitlines()[1].split() == text[-1].split()
    of_rank = json.loads(tare("events", run_dir, "--json", "--rank", "0", "--last", "1").stdout)["rows"]
    assert of_rank == [row for row in whole if row["rank"] == 0][-1:]


def test_events_in_no_time_are_refused(tare: Tare, run_dir: Path) -> None:
    done = tare("events", run_dir, "--from", "2", "--to", "1.5")
    assert (done.returncode, done.stderr) == (2, "tare: --from 2 is later than --to 1.5\n")


def test_version(tare: Tare) -> None:
    from tare import __version__

    assert tare("--version").stdout == f"tare {__version__}\n"


def in_csv(value: object) -> str:
    """A value of JSON as a cell."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("by", ["iteration", "between", "rank,iteration"])
@pytest.mark.parametrize("form", ["--json", "--csv", "--markdown"])
def test_parts_of_a_run_go_with_functions_and_lines(tare: Tare, run_dir: Path, by: str, form: str) -> None:
    done = tare("profile", run_dir, "--by", by, form)
    assert (done.returncode, done.stdout) == (2, "")
    part = by.split(",")[-1]
    assert done.stderr == f"tare: --by {part} goes with function or line alone: --by function,{part}\n"


@pytest.mark.parametrize(
    ("by", "columns"),
    [
        ("function", {"function", "calls", "time_ns", "bytes"}),
        ("site", {"function", "calls", "time_ns", "bytes", "file", "line", "caller", "object"}),
        ("line", {"function", "calls", "time_ns", "bytes", "file", "line", "caller", "object"}),
        ("rank", {"rank", "calls", "time_ns", "mpi_share"}),
        ("size", {"size_from", "size_to", "calls", "imbalance_ns"}),
        ("communicator", {"communicator", "communicator_size", "calls"}),
        ("function,size,rank", {"function", "size_from", "rank", "calls", "received", "waited_ns"}),
        ("peer", {"peer", "sent_messages", "sent_bytes", "received_messages", "received_bytes", "ranks"}),
        ("communicator,peer,rank", {"communicator", "communicator_size", "peer", "rank", "sent_bytes"}),
        ("phase", {"phase", "entries", "time_ns", "calls_ns", "calls_share", "rank_mean_ns", "rank_max"}),
        ("rank,phase", {"rank", "phase", "time_ns", "timed_calls"}),
    ],
)
def test_profile_json_and_csv_agree(tare: Tare, run_dir: Path, by: str, columns: set[str]) -> None:
    document = json.loads(tare("profile", run_dir, "--by", by, "--json").stdout)
    assert set(document) == {"schema", "run", "efficiency", "openmp", "rows"}
    assert (document["schema"], document["run"]) == ("tare.profile/1", str(run_dir))
    assert all(columns <= set(row) for row in document["rows"])
    table = list(csv.DictReader(io.StringIO(tare("profile", run_dir, "--by", by, "--csv").stdout)))
    as_text = [{k: in_csv(v) for k, v in row.items()} for row in document["rows"]]
    for row in (*table, *as_text):
        row.pop("path", None)  # in JSON a list
    assert table == as_text


def test_profile_table_names_the_place(tare: Tare, run_dir: Path) -> None:
    head, rows = tare("profile", run_dir).stdout.split("\n\n")
    assert [line.split() for line in head.splitlines()[:2]] == [
        ["2", "ranks,", "net", "time", "2.00", "s"],
        ["MPI", "share", "20.0", "%"],
    ]
    titles, *lines = rows.splitlines()
    assert titles.split()[:4] == ["Function", "Caller", "Where", "Calls"]
    assert lines[0].split()[:9] == [
        "MPI_Recv",
        "halo",
        "libsolver.so.1",
        "5",
        "590",
        "ms",
        "73.8",
        "%",
        "3.91",
    ]
    assert lines[1].split()[:3] == ["MPI_Send", "exchange", "app.c:12"]
    assert lines[3].split()[:6] == ["MPI_Comm_rank", "-", "-", "4", "counted", "-"]


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "by", ["site", "line", "function", "size", "communicator", "rank", "site,size,communicator"]
)
def test_profile_fits_the_terminal(tare: Tare, run_dir: Path, by: str, columns: int) -> None:
    lines = tare("profile", run_dir, "--by", by, COLUMNS=str(columns)).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    titles = next(line for line in lines if "Calls" in line).split()
    assert {"Calls", "Time" if by != "rank" else "time", "Bytes"} <= set(titles)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("by", ["peer", "rank,peer", "rank,communicator,peer", "phase", "rank,phase"])
def test_tables_fit_the_terminal(tare: Tare, run_dir: Path, by: str, columns: int) -> None:
    _, shown = tare("profile", run_dir, "--by", by, COLUMNS=str(columns)).stdout.split("\n\n")
    lines = shown.splitlines()
    assert len(lines) > 3 and max(map(len, lines)) <= columns
    assert ("Bytes from" if "peer" in by else "In calls") in lines[0]


def test_peers_are_sorted_and_chosen(tare: Tare, run_dir: Path) -> None:
    def rows(*options: str) -> list[dict[str, object]]:
        found = json.loads(tare("profile", run_dir, "--by", "rank,peer", "--json", *options).stdout)["rows"]
        assert isinstance(found, list)
        return found

    assert [(row["rank"], row["peer"]) for row in rows()] == [(0, 1), (1, 0), (1, None)]
    assert [row["peer"] for row in rows("--rank", "1")] == [0, None]
    assert [row["peer"] for row in rows("--communicator", "MPI_COMM_WORLD")] == [1, 0]
    assert len(rows("--sort", "calls", "--limit", "1")) == 1
    lines = tare("profile", run_dir, "--by", "rank,peer").stdout.split("\n\n")[1].splitlines()
    assert lines[1].split() == ["0", "1", "5", "3.91", "KiB", "2", "16", "B"]


def test_phases_have_time_in_mpi(tare: Tare, run_dir: Path) -> None:
    rows = json.loads(tare("profile", run_dir, "--by", "phase", "--json").stdout)["rows"]
    assert [row["phase"] for row in rows] == ["solve", None, "other"]
    assert rows[0] == {
        "world": 0, "phase": "solve", "entries": 6, "time_ns": 3_000_000_000, "calls_ns": 600_000_000,
        "calls_share": 0.2, "timed_calls": 4, "bytes": 64, "ranks": 2, "rank_mean_ns": 1_500_000_000.0,
        "rank_min_ns": 750_000_000, "rank_max_ns": 2_250_000_000, "rank_max": 1,
    }  # fmt: skip
    lines = tare("profile", run_dir, "--by", "phase").stdout.split("\n\n")[1].splitlines()
    assert lines[1].split()[:8] == ["solve", "6", "3.00", "s", "600", "ms", "20.0", "%"]
    assert lines[2].startswith("(in no phase)")


def test_what_could_not_be_read_is_said_behind_the_profile(tare: Tare, run_dir: Path) -> None:
    meta = json.loads((run_dir / "meta.json").read_text())
    meta["ranks"].append(meta["ranks"][0])
    (run_dir / "meta.json").write_text(json.dumps(meta))
    for verb in ("profile", "events"):
        done = tare(verb, run_dir)
        assert (done.returncode, bool(done.stdout)) == (1, True)
        assert done.stderr.splitlines() == [
            "tare: node.tare: 812 bytes at offset 4096 are not a whole chunk and were skipped",
            "tare: the files of this run hold 2 of its 3 processes",
        ]
    done = tare("info", run_dir)
    assert (done.returncode, done.stderr) == (1, "tare: the files of this run hold 2 of its 3 processes\n")


@pytest.mark.parametrize("verb", ["profile", "events", "samples", "where"])
def test_a_run_whose_files_are_gone_was_no_run_without_mpi(tare: Tare, run_dir: Path, verb: str) -> None:
    (run_dir / "node.tare").unlink()
    done = tare(verb, run_dir)
    said = f"tare: {run_dir}: the files of this run hold 0 of its 2 processes\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    shown = tare("info", run_dir)
    assert shown.returncode == 1
    assert "no process called MPI" not in shown.stdout
    document = json.loads(tare("info", run_dir, "--json").stdout)
    assert document["warnings"] == ["the files of this run hold 0 of its 2 processes"]


def test_profile_shows_time_in_waits(tare: Tare, run_dir: Path) -> None:
    titles, *lines = tare("profile", run_dir).stdout.split("\n\n")[1].splitlines()
    assert titles.endswith("In waits")
    assert [line.split()[-2:] for line in lines if "app.c:40" in line] == [["25.0", "ms"]]


def test_profile_as_markdown(tare: Tare, run_dir: Path) -> None:
    lines = tare("profile", run_dir, "--by", "function", "--limit", "1", "--markdown").stdout.splitlines()
    assert lines[0].startswith("| Function | Calls | Time |")
    assert lines[1].startswith("| --- | ---: | ---: |")
    assert lines[2].startswith("| MPI_Recv | 5 | 590 ms | 73.8 % |")


def test_profile_says_how_much_it_leaves_out(tare: Tare, run_dir: Path) -> None:
    assert tare("profile", run_dir, "--limit", "1").stdout.endswith("… 3 more rows; --limit 0 shows all\n")


@pytest.mark.parametrize(
    "options",
    [
        ("--by", "colour"),
        ("--by", ""),
        ("--json", "--markdown"),
        ("--by", "rank", "--sort", "mean"),
        ("--by", "peer,function"),
        ("--by", "phase,communicator"),
        ("--by", "peer,phase"),
        ("--by", "peer", "--sort", "time"),
        ("--by", "peer", "--function", "MPI_Send"),
        ("--by", "phase", "--communicator", "MPI_COMM_WORLD"),
    ],
)
def test_profile_refuses_what_makes_no_sense(tare: Tare, run_dir: Path, options: tuple[str, ...]) -> None:
    done = tare("profile", run_dir, *options)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("verb", ["profile", "events"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--function", "sned"], "--function sned: no function of this name is called; is it MPI_Send?"),
        (["--function", "recv"], "--function recv: no function of this name is called; is it MPI_Recv?"),
        (["--function", "Allreduce"], "--function Allreduce: no such function; MPI_Allreduce is not called"),
        (["--function", ""], "--function '': no such function; there are MPI_Recv, MPI_Send, MPI_Comm_rank"),
        (["--rank", "0", "--rank", "9"], "--rank 9: this run has ranks 0-1"),
        (["--rank", "-1"], "--rank -1: this run has ranks 0-1"),
        (["--rank", "2147483648"], "--rank 2147483648: this run has ranks 0-1"),
        (["--function", "MPI_Nope"], "--function MPI_Nope: no such function; there are MPI_Recv, MPI_Send"),
    ],
)
def test_what_is_not_there_is_named(
    tare: Tare, run_dir: Path, verb: str, options: list[str], said: str
) -> None:
    done = tare(verb, run_dir, *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"tare: {said}")
    assert done.stderr.count("\n") == 1


def test_communicators_and_worlds_that_are_not_there_are_named(tare: Tare, run_dir: Path) -> None:
    done = tare("profile", run_dir, "--communicator", "world")
    assert (done.returncode, done.stderr) == (
        1,
        "tare: --communicator world: this run has none of that name; there are MPI_COMM_WORLD\n",
    )
    done = tare("profile", run_dir, "--communicator", "mpi_com_world")
    assert done.stderr.endswith("is it MPI_COMM_WORLD?\n")
    done = tare("profile", run_dir, "--world", "3")
    assert (done.returncode, done.stderr) == (1, "tare: --world 3: this run has world 0\n")


def test_what_options_choose_together_may_be_nothing(tare: Tare, run_dir: Path) -> None:
    for form in ([], ["--json"], ["--csv"], ["--markdown"]):
        done = tare("profile", run_dir, "--rank", "0", "--function", "MPI_Recv", *form)
        assert done.returncode == 1
        assert done.stderr.endswith("tare: no call of MPI of this run matches all these options\n")


def test_a_function_is_not_said_to_be_missing_in_what_could_not_be_read(tare: Tare, run_dir: Path) -> None:
    """The fake reader always warns of damage."""
    done = tare("events", run_dir, "--function", "MPI_Allreduce")
    assert (done.returncode, "no call of it" in done.stderr) == (1, False)
    assert done.stderr.endswith("tare: no events: none matches\n")


@pytest.mark.parametrize(
    "options",
    [
        ("events", "RUN", "--from", "nan"),
        ("events", "RUN", "--to", "inf"),
        ("events", "RUN", "--from", "1e99"),
        ("events", "RUN", "--from", "soon"),
        ("events", "RUN", "--limit", "-1"),
        ("events", "RUN", "--limit", "99999999999999999999"),
        ("events", "RUN", "--last", "0"),
        ("events", "RUN", "--last", "2", "--limit", "2"),
        ("events", "RUN", "--last", "2", "--parquet", "events.parquet"),
        ("events", "RUN", "--parquet", "--json"),
        ("events", "RUN", "--parquet", ""),
        ("profile", "RUN", "--limit", "-1"),
        ("samples", "RUN", "--limit", "-1"),
        ("diff", "RUN", "RUN", "--limit", "-1"),
        ("merge", "-o", "--", "RUN"),
        ("merge", "-o", "", "RUN"),
        ("split", "RUN", "-o", "--list"),
    ],
)
def test_odd_values_are_wrong_usage(tare: Tare, run_dir: Path, options: tuple[str, ...]) -> None:
    done = tare(*(run_dir if word == "RUN" else word for word in options))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_profile_share_is_of_all_rows_also_when_limited(tare: Tare, run_dir: Path) -> None:
    assert "73.8 %" in tare("profile", run_dir, "--by", "function", "--limit", "1").stdout


def test_profile_sorts(tare: Tare, run_dir: Path) -> None:
    rows = json.loads(tare("profile", run_dir, "--by", "rank", "--sort", "time", "--json").stdout)["rows"]
    assert [row["rank"] for row in rows] == [1, 0]


def test_events_json(tare: Tare, run_dir: Path) -> None:
    document = json.loads(tare("events", run_dir, "--json").stdout)
    assert document["schema"] == "tare.events/1"
    assert document["rows"][0] == {
        "start_ns": 1_000_000_000_005, "duration_ns": 100, "world": 0,
        "rank": 0, "thread": 0, "function": "MPI_Send",
        "peer": 1, "tag": 7, "bytes": 1000, "communicator": "MPI_COMM_WORLD",
        "communicator_key": "0000000000000abc", "file": "/src/app.c",
        "line": 12, "caller": "exchange", "object": "/bin/app", "offset": 16, "tail_call": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "functions"),
    [
        (["--rank", "1"], ["MPI_Recv", "tare:flush"]),
        (["--function", "MPI_Send", "--function", "MPI_Recv"], ["MPI_Send", "MPI_Recv"]),
        (["--limit", "1"], ["MPI_Send"]),
        (["--from", "0"], []),  # the fake events are of 1970
        (["--to", "0", "--rank", "0"], ["MPI_Send"]),
    ],
)
def test_events_are_chosen(tare: Tare, run_dir: Path, options: list[str], functions: list[str]) -> None:
    done = tare("events", run_dir, "--json", *options)
    assert [row["function"] for row in json.loads(done.stdout)["rows"]] == functions
    assert done.returncode == (0 if functions else 1)


def test_events_table(tare: Tare, run_dir: Path) -> None:
    lines = tare("events", run_dir).stdout.splitlines()
    assert lines[1].split()[1:] == [
        "0",
        "0",
        "MPI_Send",
        "app.c:12",
        "100",
        "ns",
        "1",
        "7",
        "1000",
        "MPI_COMM_WORLD",
    ]
    damage, none = tare("events", run_dir, "--from", "0").stderr.splitlines()
    assert none.startswith("tare: no events: none matches; --from and --to are seconds since the start")
    assert damage == "tare: node.tare: 812 bytes at offset 4096 are not a whole chunk and were skipped"


def test_special_peers_and_tags_have_their_names() -> None:
    row = {"peer": -2, "source": -1, "tag": -1, "source_tag": 3}
    assert terminal._both(row, "peer", "source", terminal.PEERS) == "MPI_PROC_NULL/MPI_ANY_SOURCE"
    assert terminal._both(row, "tag", "source_tag", terminal.TAGS) == "MPI_ANY_TAG/3"
    assert terminal._both({"peer": 0, "source": None}, "peer", "source", terminal.PEERS) == "0/-"
    assert terminal._both({"bytes": -1}, "bytes", "received") == "-1"


def test_info_json(tare: Tare, run_dir: Path) -> None:
    document = json.loads(tare("info", run_dir, "--json").stdout)
    assert document["schema"] == "tare.info/1"
    assert [(rank["rank"], rank["state"]) for rank in document["ranks"]] == [(0, "finished"), (1, "killed")]
    assert document["trace"] == {
        "records": 6,
        "bytes": 60,
        "dropped": 0,
        "overwritten_bytes": 0,
        "policy": "block",
        "kept_newest": False,
        "no_space": False,
        "written": True,
    }
    assert document["cost"]["wrapper_ns"] == 540
    assert (document["mpi"], document["hosts"]) == (["Fake MPI 1.0"], ["node"])
    assert len(document["warnings"]) == 1


def test_recover_is_harmless_on_a_complete_run(tare: Tare, run_dir: Path) -> None:
    before = tare("info", run_dir, "--json").stdout
    assert tare("recover", run_dir).returncode == 0
    assert tare("info", run_dir, "--json").stdout == before


@pytest.mark.parametrize("verb", ["info", "profile", "events", "recover"])
def test_what_is_no_run_fails_in_one_line(tare: Tare, run_dir: Path, tmp_path: Path, verb: str) -> None:
    (tmp_path / "file").touch()
    for path in ("nowhere", tmp_path, "file"):
        done = tare(verb, path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert done.stderr.startswith("tare: ")
    (run_dir / "broken.tare").touch()
    done = tare(verb, run_dir)
    assert (done.returncode, done.stderr) == (1, "tare: broken.tare: not a file of tare; remove it\n")


def test_empty_run_has_no_rows(tare: Tare, tmp_path: Path) -> None:
    tare("run", "-q", "-o", "r", "--", "true")
    assert json.loads(tare("profile", "r", "--json").stdout)["rows"] == []
    assert json.loads(tare("events", "r", "--json").stdout)["rows"] == []
    assert json.loads(tare("info", "r", "--json").stdout)["ranks"] == []
    assert "no process called MPI" in tare("info", "r").stdout


def test_reader_that_leaves_early_ends_us_quietly(run_dir: Path) -> None:
    command = " ".join(map(str, fake_command("events", run_dir, "--json")))
    done = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        env=fake_environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 141)
    assert done.stderr == ""


@pytest.mark.parametrize("locale", ["C.UTF-8", "POSIX"])
def test_names_that_are_no_text_are_escaped(tare: Tare, program: Path, tmp_path: Path, locale: str) -> None:
    odd = os.fsdecode(b"caf\xe9-\xc3\xa9")
    variables = {"LC_ALL": locale, "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = tare("run", "-o", "r", "--", program, "true", odd, **variables)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    done = tare("info", "r", "--json", **variables)
    assert done.returncode == 0
    assert json.loads(done.stdout)["command"][2].startswith("caf")
    assert tare("info", "r", **variables).returncode == 0


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "cannot write out: Permission denied; choose another place"),
        (errno.EROFS, "cannot write out: Read-only file system; choose another place"),
        (errno.ENOSPC, "cannot write out: No space left on device"),
    ],
)
def test_what_forbids_writing_is_said_with_a_remedy(number: int, said: str) -> None:
    error = OSError(number, os.strerror(number), "out.27814.part")
    assert str(unwritable(Path("out"), error)) == said


@pytest.mark.parametrize(
    "arguments",
    [("study", "init"), ("export", "RUN", "--to", "folded", "-o")],
)
def test_what_cannot_be_written_is_named_as_it_was_given(
    tare: Tare, run_dir: Path, arguments: tuple[str, ...]
) -> None:
    run_dir.parent.joinpath("file").touch()
    done = tare(*(str(run_dir) if word == "RUN" else word for word in arguments), "file/out")
    assert (done.returncode, done.stderr) == (1, "tare: cannot write file/out: Not a directory\n")
