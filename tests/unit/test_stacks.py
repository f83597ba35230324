"""What samples of stacks say, of samples that are made up."""

from __future__ import annotations

from math import sqrt
from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis import code_diff, code_times, profile, rank_differences, stack_tree, stacks
from tare.analysis.explain.finding import Finding
from tare.analysis.profile import Chosen
from tare.reporters import code_times as code_reporter
from tare.reporters import explanation
from tare.reporters import stacks as stack_reporter

MS = 1_000_000


def frame(caller: str, file: str = "app.c", object: str = "/bin/app") -> SimpleNamespace:
    return SimpleNamespace(caller=caller, file=file, object=object, line=1, tail_call=None)


def sample(rank: int, site: int, number: int, caller: str | None = None, **fields: Any) -> SimpleNamespace:
    """So many samples of 10 ms each."""
    known = {
        "world": 0,
        "pid": 100 + rank,
        "thread": 0,
        "activity": "program",
        "file": "app.c",
        "line": 1,
        "object": None,
    }
    of = {"rank": rank, "site": site, "samples": number, "time_ns": 10 * MS * number, "caller": caller}
    return SimpleNamespace(**(known | of | fields))


def run_of(rows: list[SimpleNamespace], sites: list[SimpleNamespace], ranks: int = 2) -> Any:
    processes = [SimpleNamespace(world=0, rank=rank, has_results=True) for rank in range(ranks)]
    return SimpleNamespace(
        stack_samples=rows,
        rows=lambda table: table if isinstance(table, list) else [],
        sites=sites,
        processes=processes,
        profile=lambda *_, **__: [],
    )


def site(*path: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(path=path, shown=0, left_out=False, cut=False)


SITES = [
    site(frame("sqrt", "math.c"), frame("smooth"), frame("main")),
    site(frame("inner (inlined in smooth)", "inner.h"), frame("main")),
    site(frame("walk"), frame("walk"), frame("main")),
]


def test_time_in_a_function_itself_and_with_what_it_calls() -> None:
    rows = [
        sample(0, 0, 10),
        sample(1, 0, 30),
        sample(1, 1, 20),
        sample(1, 2, 5),
        sample(1, 0, 7, activity="call"),
    ]
    found = {each.function: each for each in code_times.by(run_of(rows, SITES), ["function"])}
    assert found["sqrt"].time_ns == found["sqrt"].with_callees_ns == 400 * MS
    assert (found["smooth"].time_ns, found["smooth"].with_callees_ns) == (0, 600 * MS)
    assert found["main"].with_callees_ns == 650 * MS
    assert found["walk"].with_callees_ns == 50 * MS  # once, though it calls itself
    assert found["inner (inlined in smooth)"].time_ns == 200 * MS
    assert (found["sqrt"].rank_mean_ns, found["sqrt"].rank_max_ns, found["sqrt"].rank_max) == (
        200 * MS,
        300 * MS,
        1,
    )
    assert {each.more_ns for each in found.values()} == {None}
    # 40 of 72 samples: 1.96 sqrt(40 (1 - 40 / 72)) of 10 ms each.
    assert found["sqrt"].error_ns == pytest.approx(82.64 * MS, rel=1e-3)


def test_the_whole_of_a_function_has_the_calls_that_it_makes_as_in_the_flame_graph() -> None:
    def call(function: str, site: int, time_ns: int, rank: int) -> SimpleNamespace:
        return SimpleNamespace(
            world=0, rank=rank, site=site, function=function, time_ns=time_ns, timed=True, calls=1,
            estimated_calls=0, time_error_ns=None, pid=None, **dict.fromkeys(profile.OF_WHOLE_RUN),
        )  # fmt: skip

    calls = [call("MPI_Send", 0, 70 * MS, 0), call("omp_parallel", 0, 10_000 * MS, 0)]
    made = SimpleNamespace(**vars(run_of([sample(0, 0, 10)], SITES)) | {"profile": lambda *_, **__: calls})
    found = {each.function: each for each in code_times.by(made, ["function"])}  # type: ignore[arg-type]
    tree = stack_tree.of_run(made, max_ranks=0)  # type: ignore[arg-type]
    assert tree is not None
    whole = {node.function: time.time_ns for node, time in zip(tree.nodes, tree.times, strict=True)}
    assert found["main"].with_callees_ns == whole["main"] == 170 * MS
    assert found["smooth"].with_callees_ns == whole["smooth"] == 170 * MS
    assert found["MPI_Send"].with_callees_ns == whole["MPI_Send"] == 70 * MS


def test_processes_without_a_rank_are_told_apart() -> None:
    rows = [sample(-1, 0, 10, pid=7), sample(-1, 0, 30, pid=8)]
    for keys in (["function", "rank"], ["function", "thread"]):
        found = code_times.by(run_of(rows, SITES, 0), keys)
        times = {each.pid: each.time_ns for each in found if each.function == "sqrt"}
        assert times == {7: 100 * MS, 8: 300 * MS}
        lines = code_reporter.sheet(found, keys, 1, 1).rows
        assert {"process 7", "process 8"} <= {cell for line in lines for cell in line}
    (path, _), *_ = stack_reporter.of_run(run_of(rows, SITES, 0), Chosen())[0].paths
    assert [each.name for each in stack_reporter.of_run(run_of(rows, SITES, 0), Chosen())] == [
        "process 7",
        "process 8",
    ]
    assert [place[0] for place in path] == ["main", "smooth", "sqrt"]


def test_samples_of_unknown_places_have_no_function() -> None:
    (found,) = code_times.by(run_of([sample(0, None, 3)], SITES), ["function"])  # type: ignore[arg-type]
    assert (found.function, found.time_ns) == (stacks.UNKNOWN, 30 * MS)


def test_the_function_in_which_a_rank_computes_longer() -> None:
    rows = [
        sample(0, 0, 50, "smooth"),
        sample(1, 0, 250, "smooth"),
        sample(0, 2, 40, "walk"),
        sample(1, 2, 42, "walk"),
    ]
    found = stacks.more_than_others(stacks.times_of_ranks(run_of(rows, SITES), 0), 1)
    assert found == stacks.More("smooth", 2_000 * MS)
    # The other one spends less there; two samples more in `walk` are chance; and a rank alone has no others.
    assert stacks.more_than_others(stacks.times_of_ranks(run_of(rows, SITES), 0), 0) is None
    assert stacks.more_than_others(stacks.times_of_ranks(run_of(rows[2:], SITES), 0), 1) is None
    assert stacks.more_than_others(stacks.times_of_ranks(run_of(rows, SITES, ranks=1), 0), 1) is None
    assert stacks.more_than_others(stacks.times_of_ranks(run_of([], SITES), 0), 1) is None


def test_of_a_program_without_symbols_functions_of_its_library_are_compared() -> None:
    """LAMMPS: all that its executable does is to call a library, which calls others."""
    lammps = [
        site(
            frame("", "", "/lib/libm.so.6"),
            frame("PairLJCut::compute", "", "/lib/liblammps.so.0"),
            frame("Verlet::run", "", "/lib/liblammps.so.0"),
            frame("", "", "/bin/lmp"),
            frame("__libc_start_main", "", "/lib/libc.so.6"),
        ),
        site(frame("", "", "/bin/lmp"), frame("__libc_start_main", "", "/lib/libc.so.6")),
    ]
    rows = [
        sample(rank, number, samples, object="/bin/lmp")
        for rank, number, samples in ((0, 0, 50), (1, 0, 250), (0, 1, 10), (1, 1, 10))
    ]
    found = stacks.more_than_others(stacks.times_of_ranks(run_of(rows, lammps), 0), 1)
    assert found == stacks.More("PairLJCut::compute", 2_000 * MS)
    of_ranks = rank_differences.of_functions(rows, {0: 2}, lammps)  # type: ignore[arg-type]
    assert {each.function for each in of_ranks} == {"PairLJCut::compute"}


@pytest.mark.parametrize(
    ("spins", "said"),
    [("", stacks.IN_OPENMP), ("__kmp_hyper_barrier_release", "__kmp_hyper_barrier_release")],
)
def test_who_waits_in_openmp_is_in_none_of_the_functions_of_the_program(spins: str, said: str) -> None:
    runtime = "/lib/libgomp.so.1" if not spins else "/lib/libomp5.so"
    waiting = [site(frame(spins, "", runtime), frame("smooth"), frame("main"))]
    rows = [sample(0, 0, 50, "smooth"), sample(1, 0, 250, "smooth")]
    found = stacks.more_than_others(stacks.times_of_ranks(run_of(rows, waiting), 0), 1)
    assert found == stacks.More(said, 2_000 * MS)
    [inner, *_] = code_times.by(run_of(rows, waiting), ["function"])
    assert inner.function == said


def test_a_runtime_of_openmp_that_called_the_program_does_not_wait() -> None:
    runtime = "/lib/libgomp.so.1"
    worker = [site(frame("burn"), frame("solve"), frame("", "", runtime))]
    found = code_times.by(run_of([sample(0, 0, 50)], worker), ["function"])
    assert [each.function for each in found] == ["burn", "solve"]


def test_stacks_and_call_paths_have_the_same_functions_around_openmp() -> None:
    """Runtimes of OpenMP that called others are in no path; what is innermost waits there."""
    runtime, outlined = frame("__kmpc_fork_call", "", "/lib/libomp5.so"), frame("solve")
    paths = [
        site(frame("light"), outlined, frame("", "", "/lib/libomp5.so"), runtime, frame("main")),
        site(frame("light"), outlined, frame("", "", "/lib/libomp5.so")),
        site(frame("", "", "/lib/libgomp.so.1"), frame("GOMP_barrier", "", "/lib/libgomp.so.1"), outlined),
    ]
    shown = [
        [each.caller or each.object for each in stacks.frames(number, paths)]  # type: ignore[arg-type]
        for number in range(3)
    ]
    assert shown == [
        ["light", "solve", "main"],
        ["light", "solve"],
        ["/lib/libgomp.so.1", "GOMP_barrier", "solve"],
    ]


@pytest.mark.parametrize("keys", [["function"], ["function", "rank"]])
def test_processes_without_ranks_are_compared_with_no_mean(keys: list[str]) -> None:
    rows = [sample(-1, 0, 10, pid=pid) for pid in (7, 8, 9)]
    run = run_of(rows, SITES, 0)
    run.processes = [SimpleNamespace(world=0, rank=-1, has_results=True, pid=pid) for pid in (7, 8, 9)]
    found = [each for each in code_times.by(run, keys) if each.time_ns]
    assert len(found) == (3 if "rank" in keys else 1)
    assert {(each.rank_mean_ns, each.rank_max_ns, each.rank_max) for each in found} == {(None, None, None)}
    titles = [column.title for column in code_reporter.sheet(found, keys, 1, 300 * MS).headings]
    assert not {"Rank mean", "Longest", "Of rank", "More"} & {*titles}


def test_time_by_rank_is_beside_the_mean_of_all_ranks() -> None:
    rows = [sample(0, 0, 50), sample(1, 0, 250), sample(0, 2, 40), sample(1, 2, 42)]
    found = {
        (each.function, each.rank): each for each in code_times.by(run_of(rows, SITES), ["rank", "function"])
    }
    late = found["sqrt", 1]
    assert (late.time_ns, late.rank_mean_ns, late.more_ns) == (2_500 * MS, 1_500 * MS, 1_000 * MS)
    # 250 of 292 samples, and 50 of 90, each with half of its weight.
    samples = 1.96 * sqrt((252 * (1 - 252 / 296) + 52 * (1 - 52 / 94)) / 4)
    assert late.more_error_ns == round(samples * 10 * MS)
    assert late.more_is_certain
    assert found["sqrt", 0].more_ns == -1_000 * MS
    assert (found["walk", 1].more_ns, found["walk", 1].more_is_certain) == (10 * MS, False)
    assert found["main", 0].with_callees_ns == 900 * MS
    (chosen,) = (
        each
        for each in code_times.by(run_of(rows, SITES), ["function", "rank"], Chosen(ranks=frozenset({1})))
        if each.function == "sqrt"
    )
    assert chosen == late, "the mean is that of all ranks, also if only some are chosen"


def test_time_by_line_is_that_of_the_program_and_by_thread_that_of_each() -> None:
    rows = [
        sample(0, 0, 10, "smooth", line=7),
        sample(0, 0, 5, "smooth", line=8, thread=1),
        sample(0, 1, 3, "smooth", line=7),
    ]
    by_line = {(each.function, each.line): each for each in code_times.by(run_of(rows, SITES), ["line"])}
    assert by_line["smooth", 7].time_ns == 130 * MS
    assert by_line["smooth", 8].time_ns == 50 * MS
    assert by_line["main", 1].with_callees_ns == 180 * MS
    by_thread = {
        (each.function, each.thread): each.time_ns
        for each in code_times.by(run_of(rows, SITES), ["function", "thread"])
    }
    assert (by_thread["sqrt", 0], by_thread["sqrt", 1]) == (100 * MS, 50 * MS)


def test_differences_of_ranks_are_told_if_they_are_no_chance() -> None:
    rows = [
        sample(0, 0, 50, "smooth"),
        sample(1, 0, 250, "smooth"),
        sample(0, 2, 40, "walk"),
        sample(1, 2, 42, "walk"),
    ]
    ranks = {0: 2}
    found = rank_differences.of_functions(rows, ranks, SITES)  # type: ignore[arg-type]
    assert [(each.rank, each.function, each.more_ns) for each in found] == [
        (0, "smooth", -1_000 * MS),
        (1, "smooth", 1_000 * MS),
    ]
    assert round(found[0].error_ns / MS) == 76
    said = list(code_reporter.sentences(found, ranks, most=1))
    assert said == [
        "Rank 0 spends 1.00 s (± 76.3 ms) less in smooth than the mean of the 2 ranks",
        "There is 1 more such difference",
    ]
    # Two samples more are chance, and one rank has no others.
    assert rank_differences.of_functions(rows[2:], ranks, SITES) == []  # type: ignore[arg-type]
    assert rank_differences.of_functions(rows, {0: 1}, SITES) == []  # type: ignore[arg-type]


def tree_of(rows: list[SimpleNamespace], nodes: int, ranks: int = 2) -> stack_tree.StackTree:
    found = stack_tree.of_run(run_of(rows, SITES, ranks), nodes)
    assert found is not None
    return found


def paths(tree: stack_tree.StackTree, times: list[stack_tree.Time]) -> dict[str, float]:
    """Times in ms by path."""

    def path(node: int) -> str:
        of = tree.nodes[node]
        name = f"{of.merged} smaller" if of.merged else of.function
        return f"{path(of.parent)};{name}" if node else name

    return {path(node): time.time_ns / MS for node, time in enumerate(times)}


def test_a_tree_of_stacks_has_times_of_all_ranks_and_of_each() -> None:
    rows = [sample(0, 0, 10), sample(1, 0, 30), sample(1, 1, 20), sample(0, 2, 5), sample(0, None, 1)]  # type: ignore[arg-type]
    tree = tree_of(rows, 100)
    assert paths(tree, tree.times) == {
        "all": 660,
        "all;main": 650,
        "all;main;smooth": 600,
        "all;main;smooth;sqrt": 400,
        "all;main;smooth;inner (inlined in smooth)": 200,
        "all;main;walk": 50,
        "all;main;walk;walk": 50,
        f"all;{stacks.UNKNOWN}": 10,
    }
    late = tree.of_ranks[1]
    assert (late.world, late.rank) == (0, 1)
    assert paths(tree, late.times)["all;main;smooth;sqrt"] == 300
    more = dict(zip(paths(tree, late.times), late.differences, strict=True))
    assert more["all;main;smooth;sqrt"].more_ns == 100 * MS
    assert all(node.parent < number for number, node in enumerate(tree.nodes) if number)


def test_a_tree_is_bounded_and_loses_no_time() -> None:
    rows = [sample(0, 0, 10), sample(1, 0, 30), sample(1, 1, 20), sample(0, 2, 5)]
    tree = tree_of(rows, 3)
    assert paths(tree, tree.times) == {
        "all": 650,
        "all;main": 650,
        "all;main;smooth": 600,
        "all;main;smooth;2 smaller": 600,
        "all;main;2 smaller": 50,
    }
    assert paths(tree, tree.of_ranks[0].times)["all;main;2 smaller"] == 50


def test_of_many_ranks_those_that_differ_most_are_chosen() -> None:
    rows = [sample(rank, 0, 100 + (50 if rank == 70 else rank % 3), "smooth") for rank in range(100)]
    rows += [sample(33, 2, 90, "walk")]
    tree = stack_tree.of_run(run_of(rows, SITES, 100), max_ranks=2)
    assert tree is not None
    assert [each.rank for each in tree.of_ranks] == [33, 70]
    assert tree.chosen_of == 100
    assert stack_tree.of_run(run_of([], SITES)) is None


def test_functions_of_two_runs() -> None:
    base = run_of([sample(0, 0, 100, "smooth"), sample(0, 2, 50, "walk")], SITES)
    new = run_of([sample(0, 0, 400, "smooth"), sample(0, 2, 52, "walk")], SITES)
    smooth, walk = code_diff.changes([base], [new])
    assert (smooth.function, smooth.file, smooth.more_ns) == ("smooth", "app.c", 3_000 * MS)
    assert smooth.error_ns == pytest.approx(
        1.96 * sqrt(402 * (1 - 402 / 456) + 102 * (1 - 102 / 154)) * 10 * MS
    )
    assert (smooth.beyond_sampling, smooth.differs) == (True, None), "one run does not tell how times vary"
    assert (walk.beyond_sampling, walk.differs) == (False, False)
    assert code_diff.changes([base], [run_of([], SITES)]) == []
    # Repeated runs tell it.
    again = run_of([sample(0, 0, 404, "smooth"), sample(0, 2, 47, "walk")], SITES)
    base_again = run_of([sample(0, 0, 102, "smooth"), sample(0, 2, 49, "walk")], SITES)
    smooth, walk = code_diff.changes([base, base_again], [new, again])
    assert (smooth.differs, walk.differs) == (True, False)
    assert smooth.more_ns == 3_010 * MS


def test_who_spins_in_openmp_does_not_slow_down_the_function_that_waits() -> None:
    spinning = [site(frame("", "", "/lib/libgomp.so.1"), frame("tasks"), frame("main")), site(frame("tasks"))]
    base = run_of([sample(0, 0, 50, "tasks"), sample(0, 1, 100, "tasks")], spinning)
    new = run_of([sample(0, 0, 450, "tasks"), sample(0, 1, 100, "tasks")], spinning)
    found = {each.function: each.more_ns for each in code_diff.changes([base], [new])}
    assert found == {stacks.IN_OPENMP: 4_000 * MS, "tasks": 0}


def test_several_functions_of_which_none_explains_half_are_not_told() -> None:
    names = ("a", "b", "c")
    rows = [sample(1, 0, 100, name) for name in names] + [sample(0, 0, 10, name) for name in names]
    assert stacks.more_than_others(stacks.times_of_ranks(run_of(rows, SITES), 0), 1) is None


def test_a_finding_says_where_its_cause_computes() -> None:
    found = Finding(
        kind="late sender",
        share=0.5,
        time_ns=100,
        ranks=(0,),
        function="MPI_Recv",
        cause_rank=1,
        cause_share=1.0,
        cause_function="MPI_Send",
        cause_blocked=0.0,
        cause_code="smooth\x1b",
        cause_code_ns=2_000 * MS,
    )
    said = explanation.sentence(found)
    assert "rank 1 computes longer before MPI_Send" in said
    assert said.endswith(
        "By samples of the stacks, rank 1 spends 2.00 s more in smooth\\x1b than the others on average."
    )


def test_calls_of_which_some_were_only_counted_are_of_the_whole_run_too() -> None:
    """The columns are those of the profile without samples, and the code has none of it."""
    run = run_of([sample(0, 0, 9, caller="burn")], [site(frame("burn"))], ranks=1)
    found = {
        "function": "pread", "rank": 0, "world": 0, "site": 0, "timed": 90, "calls": 1000, "time_ns": 90 * MS,
        "estimated_calls": 0, "whole_calls": 1000, "whole_calls_error": 0, "whole_time_ns": 1000 * MS,
        "whole_time_error_ns": None, "whole_bytes": 64_000, "whole_bytes_error": 0, "pid": None,
    }  # fmt: skip
    run.profile = lambda *_, **__: [SimpleNamespace(**found)]
    rows = code_times.by(run, ["function"])
    sheet = code_reporter.sheet(rows, ["function"], 1, code_reporter.total_ns(rows))
    titles = [heading.title for heading in sheet.headings]
    at = titles.index("All calls")
    assert titles[at : at + 6] == ["All calls", "±", "All time", "±", "All bytes", "±"]
    assert {row[0]: row[at : at + 4] for row in sheet.rows} == {
        "pread": ["1,000", "0.0 %", "1.00 s", "?"],
        "burn": ["-", "-", "-", "-"],
    }
