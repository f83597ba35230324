"""What `tare explain` says of real programs is borne out by their tables: each number by a query in SQL."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import planted
import pytest
import tare as tare_package
from environments import ROOT, compile_c, openmpi4
from measured import PROGRAMS, measure
from tare.functions import OUTSIDE_NET

RANKS = 2
INPUTS = ROOT / "workloads" / "inputs"
# Each cause of a wait is rounded to a ns.
ABOUT = 1e-3

Finding = dict[str, Any]
OF_WAITS = {
    "late sender", "late receiver", "wait at NxN", "wait at barrier", "late broadcast", "early reduce",
    "early scan", "load imbalance", "slow rank", "alternating imbalance", "wrong order", "late start",
    "serialised", "late post", "early wait", "late complete", "lock contention", "wait for progress",
}  # fmt: skip
OF_CALLS = {"tiny messages", "unsuccessful polling", "large collective", "frequent calls"}


class Tables:
    """The tables of a run, asked in SQL."""

    def __init__(self, run: Path) -> None:
        self._run = tare_package.open(run)
        outside = ", ".join(f"'{name}'" for name in sorted(OUTSIDE_NET))
        self.net = f"function NOT IN ({outside})"
        # Waits for a rank that had no processor are a finding by themselves only if they are many.
        self.are_descheduled_apart = False

    def one(self, query: str) -> Any:
        """The first value of the first row; 0 for null."""
        found = self._run.sql(query)
        assert found is not None
        rows = found.fetchall()
        return (rows[0][0] if rows else None) or 0

    def column(self, query: str) -> list[Any]:
        found = self._run.sql(query)
        return [row[0] for row in found.fetchall()] if found is not None else []


def text(value: Any) -> str:
    """The value as a literal of SQL."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def is_at(found: Finding, prefix: str = "", table: str = "") -> str:
    """That a row is of the place that the finding names; addresses tell places only where lines do not."""
    names = (
        ["file", "line", "caller", "object", "tail_call"] if found[f"{prefix}file"] else ["caller", "object"]
    )
    names += [] if found[f"{prefix}line"] or found[f"{prefix}offset"] is None else ["offset"]
    values = {f"{table}{name}" if table else f'"{name}"': found[f"{prefix}{name}"] for name in names}
    return " AND ".join(f"{name} IS NOT DISTINCT FROM {text(value)}" for name, value in values.items())


def totals_are_borne_out(tables: Tables, said: dict[str, Any]) -> None:
    assert said["ranks"] == tables.one("SELECT count(*) FROM ranks")
    assert said["net_ns"] == tables.one("SELECT max(net_ns) FROM ranks")
    assert said["mpi_share"] == pytest.approx(tables.one("SELECT avg(mpi_share) FROM ranks"))
    assert said["total_ns"] == tables.one("SELECT count(*) * max(net_ns) FROM ranks")
    lost = "SELECT count(*) * max(net_ns) - sum(net_ns - mpi_ns) FROM ranks"
    assert said["lost_ns"] == pytest.approx(float(tables.one(lost)), abs=10)
    told = sum(each["lost_ns"] for each in said["findings"])
    assert said["lost_ns"] == told + said["unexplained_ns"]
    for each in said["findings"]:
        if each["kind"] not in ("ended early", "deadlock", "still running"):
            assert each["share"] == pytest.approx(each["time_ns"] / said["total_ns"], abs=1e-6), each[
                "sentence"
            ]


PLACE = ("file", "line", "caller", "object", "tail_call", "offset")
# Waits with their place, and with the place of what caused them in the end.
ROOTS = f"""(
    SELECT w.* EXCLUDE (file, line, caller),
        {", ".join(f"h.{name} AS here_{name}, c.{name} AS at_{name}" for name in PLACE)}
    FROM root_causes w JOIN callsites h ON h.site = w.site JOIN callsites c ON c.site = w.root_site)"""


def waits_are_borne_out(tables: Tables, found: Finding) -> None:
    """The time, the ranks and the calls that waited; the rank that caused it, and what that did."""
    if not found["cause_function"] and found["cause_rank"] is not None:
        work_is_borne_out(tables, found)
        return
    of_cause = f"root_function = {text(found['cause_function'])} AND {is_at(found, 'cause_', 'at_')}"
    of_cause += f" AND root_in_call = {found['cause_in_call']}"
    if tables.are_descheduled_apart:
        of_cause += " AND root_scheduled IS DISTINCT FROM 'descheduled'"
    waits = f"{ROOTS} WHERE {of_cause}"
    all_ns = float(tables.one(f"SELECT sum(root_ns) FROM {waits}"))
    assert found["time_ns"] == pytest.approx(all_ns, rel=ABOUT), found["sentence"]
    assert found["calls"] <= tables.one("SELECT count(*) FROM waits")
    by_rank = f"SELECT sum(root_ns) FROM {waits} AND root_rank = {found['cause_rank']}"
    if found["kind"] != "serialised":
        assert found["cause_share"] == pytest.approx(float(tables.one(by_rank)) / all_ns, abs=ABOUT), found[
            "sentence"
        ]
    most = tables.column(f"SELECT root_rank FROM {waits} GROUP BY ALL ORDER BY sum(root_ns) DESC")
    assert found["cause_share"] < 0.5 + ABOUT or most[0] == found["cause_rank"]
    in_calls = f"function = {text(found['function'])} AND {is_at(found, '', 'here_')}"
    here = f"SELECT sum(root_ns) FROM {waits} AND {in_calls}"
    assert found["here_share"] == pytest.approx(float(tables.one(here)) / all_ns, abs=ABOUT), found[
        "sentence"
    ]
    if found["kind"] in ("late sender", "late receiver", "wait at NxN", "wait at barrier"):
        in_ranks = f"SELECT sum(root_ns) FROM {waits} AND rank IN ({', '.join(map(str, found['ranks']))})"
        assert float(tables.one(in_ranks)) >= 0.8 * all_ns
        kinds = tables.column(f"SELECT kind FROM {waits} GROUP BY ALL ORDER BY sum(root_ns) DESC")
        assert found["kind"] in kinds[:2]
    if found["kind"] in ("load imbalance", "slow rank", "alternating imbalance"):
        times = _outside(tables, found)
        # Without the time in which they had no processor.
        off = {
            rank: tables.one(f"SELECT descheduled_outside_ns FROM ranks WHERE rank = {rank}")
            for rank in times
        }
        least = max(times[rank] - off[rank] for rank in times)
        assert 0.98 * least <= found["most_ns"] <= 1.02 * max(times.values()), found["sentence"]
        if found["kind"] != "alternating imbalance" and max(off.values()) < 0.02 * max(times.values()):
            assert min(times[rank] for rank in found["ranks"]) >= max(
                (times[rank] for rank in times if rank not in found["ranks"]), default=0
            )


def work_is_borne_out(tables: Tables, found: Finding) -> None:
    """The rank that computes longest, where the trace does not show for whom the others wait."""
    useful = "net_ns - mpi_ns - descheduled_outside_ns"
    longest = tables.one(f"SELECT {useful} FROM ranks WHERE rank = {found['cause_rank']}")
    assert longest == tables.one(f"SELECT max({useful}) FROM ranks"), found["sentence"]
    assert found["most_ns"] == pytest.approx(float(longest), rel=ABOUT), found["sentence"]


def _outside(tables: Tables, found: Finding) -> dict[int, float]:
    """Time of each rank outside MPI before the calls of the cause."""
    before = """SELECT rank, function, site, start_ns - lag(start_ns + duration_ns)
        OVER (PARTITION BY rank, thread ORDER BY start_ns) AS gap_ns FROM calls"""
    rows = f"""FROM ({before}) b JOIN callsites c USING (site)
        WHERE function = {text(found["cause_function"])} AND {is_at(found, "cause_", "c.")}
        GROUP BY rank ORDER BY rank"""
    ranks = tables.column(f"SELECT rank {rows}")
    return dict(zip(ranks, map(float, tables.column(f"SELECT sum(gap_ns) {rows}")), strict=True))


def calls_are_borne_out(tables: Tables, found: Finding) -> None:
    """The number of calls, the bytes of each, how often they are made; they take no longer than there is."""
    rows = f"profile WHERE function = {text(found['function'])} AND {is_at(found)}"
    if found["kind"] == "tiny messages":
        sends = "regexp_matches(function, '^MPI_(I?[SRB]?[Ss]end|I?[Ss]endrecv(_replace)?)$')"
        place = 'function, file, line, caller, object, tail_call, CASE WHEN line IS NULL THEN "offset" END'
        figures = "sum(calls) AS n, sum(bytes) AS b"
        by_line = f"SELECT {figures} FROM profile WHERE {sends} GROUP BY {place}"
        rows = f"({by_line}) WHERE b <= 1024 * n"
        assert found["calls"] == pytest.approx(int(tables.one(f"SELECT sum(n) FROM {rows}"))), found[
            "sentence"
        ]
        assert found["bytes_per_call"] == pytest.approx(
            float(tables.one(f"SELECT sum(b) / sum(n) FROM {rows}"))
        )
        longest = tables.one(f"SELECT sum(time_ns) FROM profile WHERE {tables.net}")
    else:
        assert found["calls"] == tables.one(f"SELECT sum(calls) FROM {rows}"), found["sentence"]
        assert found["mean_ns"] == pytest.approx(
            float(tables.one(f"SELECT sum(time_ns) / sum(calls) FROM {rows}")), rel=1e-3
        )
        longest = tables.one(f"SELECT sum(time_ns) FROM {rows}")
    assert 0 < found["time_ns"] <= float(longest) * 1.001, found["sentence"]
    if found["bytes_per_call"] is not None and found["kind"] == "large collective":
        assert found["bytes_per_call"] == pytest.approx(
            float(tables.one(f"SELECT sum(bytes + received) / sum(calls) FROM {rows}"))
        )
    if found["per_second"] is not None:
        per_rank = f"SELECT {found['calls']} / count(*) / max(net_ns) * 1e9 FROM ranks"
        assert found["per_second"] == pytest.approx(tables.one(per_rank), rel=0.01), found["sentence"]
    if found["kind"] == "unsuccessful polling" and found["calls"]:
        assert found["calls"] >= 10 * tables.one("SELECT sum(sent_messages) FROM peers"), found["sentence"]


def rest_is_borne_out(tables: Tables, found: Finding) -> None:
    """It is in MPI, no more than there is; most of it is in the calls that it names."""
    all_ns = float(tables.one(f"SELECT sum(time_ns) FROM profile WHERE {tables.net}"))
    assert found["time_ns"] <= 1.001 * all_ns, found["sentence"]
    here_ns = float(
        tables.one(
            f"SELECT sum(time_ns) FROM profile WHERE function = {text(found['function'])} AND {is_at(found)}"
        )
    )
    assert found["cause_share"] * found["time_ns"] <= 1.001 * here_ns, found["sentence"]


def processors_are_borne_out(tables: Tables, found: Finding) -> None:
    """The time in which the ranks had no processor; what is lost by it is in calls."""
    if found["most_ns"] is not None:
        assert found["most_ns"] == tables.one("SELECT sum(descheduled_ns) FROM ranks"), found["sentence"]
    if found["function"]:
        rest_is_borne_out(tables, found)


def cost_is_borne_out(tables: Tables, found: Finding) -> None:
    assert found["share"] == pytest.approx(
        tables.one("SELECT sum(cost_share * net_ns) / sum(net_ns) FROM ranks"), rel=0.01
    )
    assert found["calls"] == tables.one("SELECT sum(calls) FROM ranks")


def iterations_are_borne_out(tables: Tables, found: Finding) -> None:
    """How many of a rank are slow, and the longest; the time that a rank is longer outside MPI."""
    rows = f"iterations WHERE rank = {found['ranks'][0]}"
    assert int(found["detail"]) <= tables.one(f"SELECT count(*) FROM {rows}")
    assert found["most_ns"] == tables.one(
        f"SELECT max(duration_ns) FROM {rows} AND duration_ns = {int(found['most_ns'])}"
    )
    assert found["calls"] <= tables.one(
        f"SELECT count(*) FROM {rows} AND duration_ns > 2 * {found['mean_ns']}"
    )


def barrier_is_borne_out(tables: Tables, found: Finding) -> None:
    rows = f"profile WHERE function = {text(found['function'])} AND {is_at(found)}"
    assert found["calls"] == tables.one(f"SELECT sum(calls) FROM {rows}")
    assert found["time_ns"] <= 1.001 * float(tables.one(f"SELECT sum(time_ns) FROM {rows}"))


def hub_is_borne_out(tables: Tables, found: Finding) -> None:
    """The share of the messages between ranks that the one rank sends or receives."""
    rank = int(found["detail"]) if found["kind"] == "farm" else found["cause_rank"]
    through = f"count(*) FILTER (source = {rank} OR destination = {rank})"
    through = f"SELECT {through} / count(*) FROM messages WHERE source <> destination"
    share = tables.one(through)
    assert share >= 0.9 and (
        found["kind"] == "farm" or found["cause_share"] == pytest.approx(share, abs=0.01)
    )
    if found["kind"] == "farm":
        of_worker = f"""SELECT min(sent) AS tasks FROM (
            SELECT CASE WHEN rank = {rank} THEN peer ELSE rank END AS worker, sum(sent_messages) AS sent
            FROM peers WHERE (rank = {rank}) <> (peer = {rank}) AND sent_messages > 0 GROUP BY worker, rank)
            GROUP BY worker"""
        assert found["calls"] == tables.one(f"SELECT sum(tasks) FROM ({of_worker})")


def unexpected_are_borne_out(tables: Tables, found: Finding) -> None:
    """So many messages were sent before the receives of the line were posted, to the ranks that it names."""
    names = ("file", "line", "caller")
    of_line = " AND ".join(f"receive_{name} IS NOT DISTINCT FROM {text(found[name])}" for name in names)
    rows = f"messages WHERE {of_line} AND send_enter_ns < receive_enter_ns"
    assert found["calls"] == pytest.approx(tables.one(f"SELECT count(*) FROM {rows}"), rel=0.15)
    ranks = set(tables.column(f"SELECT DISTINCT destination FROM {rows}"))
    assert set(found["ranks"]) <= ranks and int(found["detail"]) not in found["ranks"]


BORNE_OUT: dict[str, Callable[[Tables, Finding], None]] = {
    **dict.fromkeys(OF_WAITS, waits_are_borne_out), **dict.fromkeys(OF_CALLS, calls_are_borne_out),
    "not explained": rest_is_borne_out, "oversubscription": processors_are_borne_out,
    "descheduled": processors_are_borne_out,
    "cost of measuring": cost_is_borne_out,
    "slow iterations": iterations_are_borne_out, "needless barrier": barrier_is_borne_out,
    "unexpected messages": unexpected_are_borne_out, "hot spot": hub_is_borne_out, "farm": hub_is_borne_out,
}  # fmt: skip


def debian(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is not installed (run `make test`)", pytrace=False)
    return path


def smg(_: Path) -> list[Path | str]:
    return [ROOT / "build" / "release" / "workloads" / "diffusion", "-n", "20", "20", "20", "-s", "2"]


def amg(to: Path) -> list[Path | str]:
    return [
        compile_c(openmpi4(), [PROGRAMS / "amg.c"], to / "amg", "-I/usr/include/hypre", "-lHYPRE"),
        "150",
        "4",
    ]


def lammps(to: Path) -> list[Path | str]:
    script = (INPUTS / "lennard_jones.in").read_text().replace("run 200", "run 60")
    (to / "in").write_text(script)
    return [debian("lmp"), "-in", to / "in", "-log", "none"]


def hpcc(to: Path) -> list[Path | str]:
    # A smaller matrix has fewer updates at random: for each of these messages, both ranks need a processor.
    text = (INPUTS / "hpccinf.txt").read_text()
    (to / "hpccinf.txt").write_text(text.replace("\n1000\n", "\n200\n"))
    return [debian("hpcc")]


def of_mpi4py(_: Path) -> list[Path | str]:
    (chain,) = (each for each in planted.programs() if each.name == "python chain")
    return chain.command(Path())


@pytest.mark.flaky(reruns=1)  # how a machine shares its processors among programs changes what is found
@pytest.mark.parametrize(
    "program",
    [pytest.param(each, id=each.__name__) for each in (smg, amg, of_mpi4py)]
    + [pytest.param(each, id=each.__name__, marks=pytest.mark.long) for each in (lammps, hpcc)],
)
def test_each_sentence_is_borne_out(
    program: Callable[[Path], list[Path | str]], tare: Path, tmp_path: Path
) -> None:
    ranks = 3 if program is of_mpi4py else RANKS
    run = tmp_path / "run"
    measured = measure(
        tare, openmpi4(), ranks, program(tmp_path), run, "--trace", cwd=tmp_path, timeout_s=300
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    said = planted.what_is_said(measured)
    # On a machine that has nothing else to do, nothing limits some of them.
    assert said["is_traced"] and said["sentences"]
    tables = Tables(run)
    totals_are_borne_out(tables, said)
    tables.are_descheduled_apart = any(
        each["kind"] in ("descheduled", "oversubscription") and each["lost_ns"] > 0
        for each in said["findings"]
    )
    for each in said["findings"]:
        BORNE_OUT[each["kind"]](tables, each)
