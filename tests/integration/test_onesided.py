"""Windows and files: who they belong to, and what is put into and taken out of them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure

RANKS = 4
DOUBLE = 8
# bytes, received of each call on a window, as in onesided.c.
MOVED = {
    "MPI_Put": (10 * DOUBLE, None),
    "MPI_Get": (5 * DOUBLE, None),
    "MPI_Accumulate": (3 * DOUBLE, None),
    "MPI_Get_accumulate": (4 * DOUBLE, 4 * DOUBLE),
    "MPI_Fetch_and_op": (DOUBLE, DOUBLE),
}
SHARED = {"MPI_Put", "MPI_Get"}  # on the window that is not "halo"
# Rank in the world that a rank reaches: the next one, in each communicator.
TARGETS = {
    "MPI_COMM_WORLD": {0: 1, 1: 2, 2: 3, 3: 0},
    "even": {0: 2, 2: 0},
    "odd": {1: 3, 3: 1},
}


def test_windows_and_files(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "onesided.c"], tmp_path / "program")
    data = tmp_path / "data"
    measured = measure(tare, mpi, RANKS, [program, str(data)], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    info = measured.info()

    windows = {row["key"]: row for row in info["windows"]}
    assert len(windows) == len(info["windows"])
    assert sorted((row["flavour"], row["communicator"]) for row in windows.values()) == sorted(
        (flavour, communicator) for communicator in TARGETS for flavour in ("shared", "allocate")
    )
    for number, row in enumerate(info["windows"]):
        assert row["name"] == {"shared": f"#{number}", "allocate": "halo"}[row["flavour"]]
    communicators = {row["key"]: row["name"] for row in info["communicators"]}
    assert all(communicators[row["communicator_key"]] == row["communicator"] for row in windows.values())

    rows = measured.events()
    users = defaultdict(set)
    for row in rows:
        if row["function"] not in MOVED:
            continue
        assert (row["bytes"], row.get("received")) == MOVED[row["function"]]
        assert (row["window"] == "halo") == (row["function"] not in SHARED)
        window = windows[row["window_key"]]
        assert (window["name"], window["communicator"]) == (row["window"], row["communicator"])
        assert row["peer_world"] == TARGETS[row["communicator"]][row["rank"]]
        if "received" in row:
            assert (row["source"], row["source_world"]) == (row["peer"], row["peer_world"])
        users[row["window_key"]].add(row["rank"])
    assert {key: set(TARGETS[row["communicator"]]) for key, row in windows.items()} == users
    for function in ("MPI_Win_fence", "MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_free"):
        assert {row["window_key"] for row in rows if row["function"] == function} <= windows.keys()
    assert {row["window_key"] for row in rows if row["function"] == "MPI_Win_free"} == windows.keys()

    files = {row["key"]: row for row in info["files"]}
    assert sorted(row["name"] for row in files.values()) == [str(data)] + [
        f"{data}.{rank}" for rank in range(RANKS)
    ]
    assert {row["communicator"] for row in files.values()} == {"MPI_COMM_WORLD", "MPI_COMM_SELF"}
    on_files = [row for row in rows if row["function"].startswith("MPI_File_") and "mpi_file" in row]
    assert all(files[row["mpi_file_key"]]["name"] == row["mpi_file"] for row in on_files)
    for rank in range(RANKS):
        found = [
            (row["function"], row["mpi_file"], row.get("bytes")) for row in on_files if row["rank"] == rank
        ]
        own = f"{data}.{rank}"
        assert found == [
            ("MPI_File_open", str(data), None),
            ("MPI_File_write_at_all", str(data), 800),
            ("MPI_File_read_at", str(data), 80),
            ("MPI_File_close", str(data), None),
            ("MPI_File_open", own, None),
            ("MPI_File_write", own, 80),
            ("MPI_File_close", own, None),
            ("MPI_File_open", own, None),
            ("MPI_File_write", own, 88),
            ("MPI_File_close", own, None),
        ]
    # The profile has them under the communicators.
    sums = {
        (row["function"], row["communicator"]): row["bytes"]
        for row in measured.profile("function,communicator")
    }
    assert sums["MPI_Put", "MPI_COMM_WORLD"] == RANKS * 80
    assert sums["MPI_Put", "even"] == sums["MPI_Put", "odd"] == 2 * 80
