"""tare._native on a small run: native_test.py MODULE_DIR WRITER."""

import struct
import subprocess
import sys
import tempfile
import unittest

module_dir, writer = sys.argv[1:3]
sys.path.insert(0, module_dir)
from tare import _native  # noqa: E402

ALL_KEYS = ["rank", "function", "site", "communicator", "size"]


class NativeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        subprocess.run([writer, self.directory.name], check=True)
        self.run_ = _native.Run(self.directory.name)

    def test_objects_have_the_fields_of_their_structs(self) -> None:
        call = _native.CurrentCall()
        self.assertEqual(call.__match_args__[:3], ("world", "rank", "process"))
        self.assertEqual((call.rank, call.peer, call.pending), (-1, None, []))
        self.assertEqual(repr(_native.LineCode()),
                         "LineCode(ranges=[], file_known=False, before=None, after=None)")  # fmt: skip
        self.assertEqual((_native.Process().host, _native.Process().cost.call_ns), ("", 0))
        with self.assertRaises(AttributeError):
            call.function = "MPI_Send"

    def test_a_collection(self) -> None:
        collected = _native.collect(self.directory.name, "/dev/shm", "0" * 16)
        self.assertEqual((collected.processes, collected.running, collected.messages), (0, 0, []))

    def test_values(self) -> None:
        (process,) = self.run_.processes()
        self.assertEqual((process.rank, process.state, process.exit_code), (1, "finished", None))
        self.assertEqual(process.mpi, "An MPI 1.0")
        timed, counted = sorted(self.run_.profile(ALL_KEYS).rows(), key=lambda row: row.calls)
        self.assertEqual((timed.function, timed.calls, timed.timed), ("MPI_Send", 1, True))
        self.assertEqual((counted.function, counted.calls, counted.timed), ("MPI_Wtime", 3, False))
        self.assertEqual((timed.caller, timed.file, timed.line), ("solve", "solve.py", 12))
        site = self.run_.sites()[timed.site]
        self.assertEqual((site.caller, site.file, site.line), ("solve", "solve.py", 12))
        self.assertEqual({"MPI_Send", "MPI_Wtime", "other"} - set(self.run_.functions()), set())
        self.assertEqual(self.run_.warnings(), [])

    def test_rows_of_tables(self) -> None:
        (send,) = self.run_.profile(["function"], functions=["MPI_Send"], ranks=[1]).rows()
        self.assertEqual((send.function, send.calls, send.rank, send.site), ("MPI_Send", 1, None, None))
        self.assertEqual(send.__match_args__[:2], ("world", "function"))
        self.assertEqual(self.run_.profile(["function"], ranks=[0]).rows(), [])
        self.assertEqual(self.run_.profile(["function"], worlds=[1]).rows(), [])
        (process,) = self.run_.table("ranks").rows()
        self.assertEqual((process.rank, process.state, process.exit_code), (1, "finished", None))
        self.assertIs(type(process), type(self.run_.table("ranks").rows()[0]))
        self.assertEqual(self.run_.peers(["rank"]).rows(), [])
        self.assertEqual(self.run_.phases([], ranks=[9]).rows(), [])
        for name, _ in _native.tables():
            self.assertIsInstance(self.run_.table(name).rows(), list)
            self.assertIn("arrow_schema", str(self.run_.table(name).__arrow_c_schema__()))
            self.assertEqual(_native.empty_run().table(name).rows(), [])
        self.assertEqual(_native.empty_run().warnings(), [])
        with self.assertRaisesRegex(ValueError, "the profile has no key colour"):
            self.run_.profile(["colour"])
        with self.assertRaisesRegex(ValueError, "the reader makes no table colours"):
            self.run_.table("colours")

    def test_exchanges(self) -> None:
        self.run_.expect_exchanges(4)
        self.run_.expect_profile(["line"])
        (exchange,) = self.run_.exchanges(4)
        (process,) = self.run_.processes()
        self.assertEqual((exchange.size, exchange.cells), (process.size, []))
        for groups in (0, 1025):
            with self.assertRaisesRegex(ValueError, "an exchange is of 1 to 1024 groups"):
                self.run_.exchanges(groups)

    def test_totals(self) -> None:
        (process,) = self.run_.processes()
        self.assertEqual(self.run_.process_count(), 1)
        cost = self.run_.total_cost()
        for name in ("call_ns", "lookup_ns", "wrapper_ns", "net_share", "flush_ns", "hook_init_ns"):
            self.assertEqual(getattr(cost, name), getattr(process.cost, name), name)  # of one process
        self.assertEqual((cost.calls, cost.counted), (process.calls, process.counted))
        self.assertEqual(repr(self.run_.total_trace()), repr(process.trace))
        self.assertEqual(repr(self.run_.total_cost(process.world)), repr(cost))
        self.assertEqual(self.run_.total_cost(7).calls, 0)
        self.assertIsNone(self.run_.total_trace(7).policy)

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
        self.assertEqual((row.rank, row.thread, row.world), (1, 0, 0))
        self.assertEqual((row.threads, row.observed), ([(2000, 0)], None))
        length = timeline.end_ns - timeline.start_ns
        self.assertEqual(length, 8000)
        self.assertEqual(len(_native.ACTIVITIES), 12)
        # Twelve shares and a function for each of 16 bins.
        self.assertEqual(len(timeline.bins(0, 1, 1, 0, length, 16)), 16 * (12 + 2))
        with self.assertRaisesRegex(ValueError, "too many bins"):
            timeline.bins(0, 2**40, 1, 0, length, 2**40)
        count, columns = timeline.calls(0, 1, 0, length, 10) or (0, b"")
        self.assertEqual(count, 3)  # and a flush
        self.assertEqual(struct.unpack_from("<3d", columns), (2000.0, 3000.0, 4000.0))
        self.assertIsNone(timeline.calls(0, 1, 0, length, 1))
        least, count, columns = timeline.longest(10)
        self.assertEqual((least, count), (0, 2))  # these are all
        functions = [int(name == "MPI_Bcast") for name in self.run_.functions()]
        every, count, columns = timeline.find(functions, [], 1, 0, 1, most=10)
        self.assertEqual((every, count, struct.unpack_from("<d", columns)), (1, 1, (3000.0,)))
        self.assertEqual(timeline.find([], [], 1, 0, 1), (0, 0, b""))
        count, columns = timeline.around(0, 2500)
        self.assertEqual((count, struct.unpack_from("<2d", columns)), (2, (2000.0, 3000.0)))
        timeline.find_waits()
        self.assertEqual(timeline.waits(0, 1, 0, length, 10), (0, b""))  # there is one rank
        self.assertEqual(timeline.path(0, 1, 0, length, 10)[0], 1)
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
