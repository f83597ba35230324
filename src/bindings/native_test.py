"""tare._native on a small run, and against its stub: native_test.py MODULE_DIR STUB WRITER."""

import ast
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

module_dir, stub, writer = sys.argv[1:4]
sys.path.insert(0, module_dir)
import _native  # noqa: E402

ALL_KEYS = ["world", "rank", "function", "site", "communicator", "size_class"]


def keys_of(name: str) -> tuple[set[str], set[str]]:
    """Required and optional keys of a TypedDict of the stub."""
    tree = ast.parse(Path(stub).read_text("utf-8"))
    found = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name)
    fields = {f.target.id: ast.unparse(f.annotation) for f in found.body if isinstance(f, ast.AnnAssign)}
    optional = {key for key, type_ in fields.items() if type_.startswith("NotRequired[")}
    return set(fields) - optional, optional


class NativeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        subprocess.run([writer, self.directory.name], check=True)
        self.run_ = _native.Run(self.directory.name)

    def assert_keys(self, row: dict, name: str) -> None:
        required, optional = keys_of(name)
        self.assertEqual(required - set(row), set(), name)
        self.assertEqual(set(row) - required - optional, set(), name)

    def sums(self, **query: list) -> list[dict]:
        (rows,) = self.run_.sums({"profile": [query]})["profile"]
        return rows

    def test_rows_are_what_the_stub_says(self) -> None:
        (process,) = self.run_.processes()
        self.assert_keys(process, "Process")
        self.assert_keys(process["cost"], "Cost")
        self.assert_keys(process["trace"], "Trace")
        for row in (*self.sums(), *self.sums(by=ALL_KEYS)):
            self.assert_keys(row, "ProfileSum")
        self.assert_keys(self.run_.locations()[0], "Location")
        self.assert_keys(self.run_.sites()[0], "Site")
        self.assert_keys(self.run_.communicators()[0], "Communicator")
        for row in next(self.run_.events()):
            self.assert_keys(row, "EventRow")
        self.assert_keys(_native.collect(self.directory.name, "/dev/shm", "0" * 16), "Collected")

    def test_values(self) -> None:
        (process,) = self.run_.processes()
        self.assertEqual((process["rank"], process["state"], process["exit_code"]), (1, "finished", None))
        self.assertEqual(process["mpi"], "An MPI 1.0")
        timed, counted = sorted(self.sums(by=ALL_KEYS), key=lambda row: row["calls"])
        self.assertEqual((timed["function"], timed["calls"], timed["timed_calls"]), ("MPI_Send", 1, 1))
        self.assertEqual((counted["function"], counted["calls"], counted["timed_calls"]), ("MPI_Wtime", 3, 0))
        site = self.run_.sites()[timed["site"]]
        self.assertEqual((site["caller"], site["file"], site["line"]), ("solve", "solve.py", 12))
        self.assertEqual({"MPI_Send", "MPI_Wtime", "other"} - set(self.run_.functions()), set())
        self.assertEqual(self.run_.warnings(), [])

    def test_sums(self) -> None:
        (everything,) = self.sums()
        self.assertEqual((everything["calls"], everything["ranks"]), (4, 1))
        self.assertEqual((everything["rank_time_min_at"], everything["rank_time_max_at"]), (1, 1))
        (send,) = self.sums(by=["rank", "function"], ranks=[1], functions=["MPI_Send"])
        self.assertEqual((send["rank"], send["function"], send["calls"]), (1, "MPI_Send", 1))
        self.assertEqual(self.sums(by=["world"], ranks=[0]), [])
        self.assertEqual(self.sums(worlds=[1]), [])
        of = {row["function"]: row for row in self.sums(by=["function"], untimed=["MPI_Send"])}
        self.assertEqual((of["MPI_Send"]["calls"], of["MPI_Send"]["time_ns"]), (1, 0))
        self.assertEqual(of["MPI_Wtime"]["calls"], 3)
        (moved,) = self.sums(by=["site", "communicator"], site_of=[7], communicator_of=[5], communicators=[5])
        self.assertEqual((moved["site"], moved["communicator"]), (7, 5))
        both = self.run_.sums({"profile": [{"by": []}, {"ranks": [0]}]})
        self.assertEqual(both, {"profile": [[everything], []], "peers": [], "phases": [], "exchanges": []})
        with self.assertRaisesRegex(ValueError, "profiles are not summed by colour"):
            self.sums(by=["colour"])
        with self.assertRaisesRegex(ValueError, "no part of a query: colours"):
            self.sums(colours=[])

    def test_other_sums(self) -> None:
        (exchange,) = self.run_.sums({"exchanges": [4]})["exchanges"][0]
        self.assert_keys(exchange, "Exchange")
        (process,) = self.run_.processes()
        self.assertEqual((exchange["size"], exchange["cells"]), (process["size"], []))
        found = self.run_.sums({"peers": [{"by": ["rank"]}], "phases": [{"by": [], "ranks": [9]}]})
        self.assertEqual((found["peers"], found["phases"]), ([[]], [[]]))
        for wrong, why in (
            ({"peer": [{}]}, "no kind of question: peer"),
            ({"peers": [{"by": ["colour"]}]}, "peers and phases are not summed by colour"),
            ({"phases": [{"colours": []}]}, "no part of a query: colours"),
            ({"exchanges": [0]}, "an exchange is of 1 to 1024 groups"),
            ({"exchanges": [1025]}, "an exchange is of 1 to 1024 groups"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                self.run_.sums(wrong)

    def test_totals(self) -> None:
        (process,) = self.run_.processes()
        self.assertEqual(self.run_.process_count(), 1)
        cost = self.run_.total_cost()
        self.assert_keys(cost, "TotalCost")
        for name in ("call_ns", "lookup_ns", "wrapper_ns", "net_share", "flush_ns", "hook_init_ns"):
            self.assertEqual(cost[name], process["cost"][name], name)  # of one process
        self.assertEqual((cost["calls"], cost["counted"]), (process["calls"], process["counted"]))
        self.assertEqual(self.run_.total_trace(), process["trace"])
        self.assertEqual(self.run_.total_cost(process["world"]), cost)
        self.assertEqual(self.run_.total_cost(7)["calls"], 0)
        self.assertIsNone(self.run_.total_trace(7)["policy"])

    def test_events(self) -> None:
        ((send, bcast, flush, *_),) = list(self.run_.events())
        self.assertEqual((send["function"], send["peer"], send["tag"], send["bytes"]), ("MPI_Send", 0, 9, 64))
        self.assertEqual((send["duration_ns"], send["request"], send["communicator"]), (100, 1, 0))
        self.assertEqual((bcast["root"], "peer" in bcast, "tag" in bcast), (0, False, False))
        self.assertEqual((flush["function"], flush["bytes"], "site" in flush), ("tare:flush", 99, False))
        self.assertEqual(list(self.run_.events(ranks=[0])), [])
        self.assertEqual(list(self.run_.events(functions=["MPI_Bcast"], limit=1)), [[bcast]])
        between = self.run_.events(start_ns=bcast["start_ns"], end_ns=flush["start_ns"])
        self.assertEqual(list(between), [[bcast]])

    def test_events_of_the_api(self) -> None:
        ((_, _, flush, *rows),) = list(self.run_.events())
        shared = {"rank": 1, "world": 0, "thread": 0}
        for nanoseconds, row in enumerate(rows):
            self.assertEqual(row.pop("start_ns"), flush["start_ns"] + 1000 + nanoseconds)
            self.assertEqual({key: row.pop(key) for key in shared}, shared)
        step = [-1, -1, 65535, -1, 2**64 - 1, 1.5, -0.1]
        self.assertEqual(
            rows,
            [
                {"kind": "region", "name": "solve", "begin": True},
                {"kind": "counter", "name": "heap", "value": 2.5, "unit": "bytes"},
                {"kind": "marker", "name": "here"},
                {"kind": "phase", "name": "setup", "begin": False},
                {"kind": "event", "name": "step", "parameters": step},
                {"kind": "packed", "name": "pack", "parameters": [3, 2**64 - 1]},
                {"kind": "raw", "name": "note\\xff", "text": "ä\\xff"},
                {"kind": "packed", "name": "other", "parameters": [9]},
            ],
        )
        named = self.run_.events(functions=["solve", "heap"])
        self.assertEqual([row["name"] for batch in named for row in batch], ["solve", "heap"])

    def test_a_timeline(self) -> None:
        timeline = self.run_.timeline()
        (row,) = timeline.rows()
        self.assertEqual((row["rank"], row["thread"], row["world"]), (1, 0, 0))
        length = timeline.end_ns - timeline.start_ns
        self.assertEqual(length, 8000)
        self.assertEqual(len(_native.ACTIVITIES), 9)
        # Nine shares and a function for each of 16 bins.
        self.assertEqual(len(timeline.bins(0, 1, 1, 0, length, 16)), 16 * (9 + 2))
        with self.assertRaisesRegex(ValueError, "too many bins"):
            timeline.bins(0, 2**40, 1, 0, length, 2**40)
        count, columns = timeline.calls(0, 1, 0, length, 10) or (0, b"")
        self.assertEqual(count, 3)  # and a flush
        self.assertEqual(struct.unpack_from("<3d", columns), (2000.0, 3000.0, 4000.0))
        self.assertIsNone(timeline.calls(0, 1, 0, length, 1))
        least, count, columns = timeline.longest(10)
        self.assertEqual((least, count), (0, 2))  # these are all
        self.assertIsNone(timeline.messages(0, 1, 0, length, 10))
        self.assertEqual(timeline.match(10), (0, 0))
        self.assertEqual(timeline.messages(0, 1, 0, length, 10), (0, b""))

    def test_the_iterator_keeps_its_run(self) -> None:
        events = _native.Run(self.directory.name).events()
        self.assertEqual(len(next(events)), 11)
        self.assertRaises(StopIteration, next, events)

    def test_failures_are_errors(self) -> None:
        with self.assertRaisesRegex(_native.Error, "cannot read the run directory /no/such"):
            _native.Run("/no/such")
        with self.assertRaises(_native.Error):
            _native.collect("/no/such", "/dev/shm", "0" * 16)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
