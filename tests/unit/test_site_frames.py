"""Which frame stands for a call site."""

from __future__ import annotations

from typing import Any

from fake_native import frame, site
from tare.runs import site_frames

LIBRARY = "/lib/libapp.so"
SOLVER = "/lib/libsolver.so"
FUNCTIONS = ("MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Allreduce")


def chosen(sites: list[Any], functions: list[str]) -> list[tuple[str | None, int | None]]:
    """Caller and line of each; the sites are called by the functions, one each."""
    asked = []

    def sums(queries: Any) -> Any:
        asked.append(queries)
        return [[{"function": function, "site": number} for number, function in enumerate(functions)]]

    found = site_frames.with_chosen_frames(sites, sums)
    for each in found:
        assert each["path"][each["shown"]]["caller"] == each["caller"]
    return [(each["caller"], each["line"]) for each in found]


def in_library(caller: str, offset: int, where: str = LIBRARY) -> Any:
    return frame(offset, caller, None, where)


def test_an_application_in_a_library_of_its_own() -> None:
    """As LAMMPS: main() has one line, and the path a gap before it."""
    main = frame(1, "main", 10)
    sites = [
        site(in_library(caller, 10 * at), in_library("run", 5), main, shown=2, left_out=True)
        for at, caller in enumerate(("forward", "reverse", "exchange"), 1)
    ]
    # Its functions, also where a solver below it calls, or a wrapper of the solver.
    sites.append(site(in_library("solver_MPI_Allreduce", 3, SOLVER), in_library("dot", 77), main, shown=2))
    found = chosen(sites, ["MPI_Send", "MPI_Send", "MPI_Irecv", "MPI_Allreduce"])
    assert [caller for caller, _ in found] == ["forward", "reverse", "exchange", "dot"]


def test_wrappers_in_the_library_say_nothing() -> None:
    main = frame(1, "main", 10)
    sites = [
        site(in_library("app_MPI_Send", 7), in_library(caller, 10 * at), main, shown=2)
        for at, caller in enumerate(("a", "b", "c"), 1)
    ]
    assert [caller for caller, _ in chosen(sites, ["MPI_Send"] * 3)] == ["main"] * 3  # one row is too few
    more = [*sites, *(site(in_library(name, 50 + at), main, shown=1) for at, name in enumerate(("d", "e")))]
    found = chosen(more, [*["MPI_Send"] * 3, "MPI_Barrier", "MPI_Allreduce"])
    assert [caller for caller, _ in found] == ["a", "b", "c", "d", "e"]


def test_lines_of_the_program_that_differ_stay() -> None:
    """As with a solver library: the program calls it in several places."""
    sites = [
        site(in_library("solve", 10 * at, SOLVER), frame(at, "step", 100 + at), frame(9, "main", 5), shown=1)
        for at in range(1, 5)
    ]
    assert chosen(sites, list(FUNCTIONS)) == [("step", 101), ("step", 102), ("step", 103), ("step", 104)]


def wrapper(function: str, line: int) -> Any:
    return {**frame(line, f"comm_{function.lower()}", line), "file": "/src/comm.c"}


def test_a_file_of_wrappers() -> None:
    sites = [
        site(wrapper(function, 10 + at), frame(100 * at + call, "step", 100 * at + call), frame(1, "main", 5))
        for at, function in enumerate(FUNCTIONS[:3], 1)
        for call in (1, 2)
    ]
    functions = [function for function in FUNCTIONS[:3] for _ in (1, 2)]
    assert chosen(sites, functions) == [("step", 100 * at + call) for at in (1, 2, 3) for call in (1, 2)]


def test_a_file_of_functions_that_do_something_is_none() -> None:
    """exchange() sends, receives and waits: its lines say more than that of its caller."""
    exchange = [{**frame(line, "exchange", line), "file": "/src/comm.c"} for line in (20, 21, 22)]
    sites = [site(each, frame(call, "step", call)) for each in exchange for call in (100, 200)]
    functions = [function for function in FUNCTIONS[:3] for _ in (1, 2)]
    assert {caller for caller, _ in chosen(sites, functions)} == {"exchange"}


def test_functions_of_one_file_that_call_one_another_are_no_wrappers() -> None:
    sites = [
        site(frame(at, f"f{at}", at), frame(50 + at + call, "main", 50 + at + call))
        for at in range(1, 4)
        for call in (0, 10)
    ]
    functions = [function for function in FUNCTIONS[:3] for _ in (1, 2)]
    assert [line for _, line in chosen(sites, functions)] == [1, 1, 2, 2, 3, 3]


def test_paths_of_one_frame_need_no_look() -> None:
    sites: Any = [site(frame(1, "main", 10))]
    assert site_frames.with_chosen_frames(sites, lambda _: [][0]) is sites
