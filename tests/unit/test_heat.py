"""How ranks differ, round by round: from the histograms of rounds to the picture of `tare top`."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import made_rounds
from hypothesis import given
from hypothesis import strategies as some
from made_rounds import key_of
from tare import _native
from tare._native import Bins, Round
from tare.monitor import heat
from tare.monitor.heat import Column, Columns

MAX_MERGED_BINS = 4096
HALF_S = 500_000_000


def packed(bins: Bins) -> bytes:
    return struct.pack(f"<HHQ{len(bins.counts)}I", bins.exponent, len(bins.counts), bins.first, *bins.counts)


def reduced(of: Mapping[str, Sequence[Bins]]) -> bytes:
    events = sorted(of, key=key_of)
    head = struct.pack(f"<II{len(of)}Q", 16, len(of), *map(key_of, events))
    return head + b"".join(packed(bins) for event in events for bins in of[event])


def payload(number: int, first_ns: int, used: str, content: bytes) -> bytes:
    names = made_rounds.names("MPI_Send", "counter residual")
    return names + made_rounds.a_round(number, first_ns, content, used.encode())


def a_round(number: int, first_ns: int, used: str, content: bytes) -> Round:
    (made,) = made_rounds.decoded(payload(number, first_ns, used, content))
    return made


def with_times(number: int, first_ns: int, times: Bins) -> Round:
    """A round of the default filter: statistics of no event, and a histogram of one."""
    histogram = reduced({"MPI_Send": [times]})
    nothing = struct.pack("<I", 0)
    content = b"".join(struct.pack("<I", len(part)) + part for part in (nothing, histogram))
    return a_round(number, first_ns, "statistics+histogram:16:time", content)


def test_histograms_are_read_from_all_filters_that_give_them() -> None:
    calls, times, size = Bins(0, 3, (4,)), Bins(4, 10, (1, 0, 3)), Bins(2, 0, (4,))
    of = {"MPI_Send": [calls, times, size], "counter residual": [calls, calls, size]}
    three = a_round(1, 0, "histogram:16", reduced(of))
    assert three.histograms() == {("function", "MPI_Send"): times, ("counter", "residual"): size}
    one = a_round(1, 0, "histogram:16:time", reduced({"MPI_Send": [times], "counter residual": [size]}))
    assert one.histograms() == three.histograms()
    assert with_times(1, 0, times).histograms() == {("function", "MPI_Send"): times}


def test_what_is_damaged_or_no_histogram_is_none() -> None:
    whole = reduced({"MPI_Send": [Bins(4, 10, (1, 0, 3))]})
    for cut in range(len(whole)):
        assert a_round(1, 0, "histogram:16:time", whole[:cut]).histograms() == {}
    assert a_round(1, 0, "quantiles", b"").histograms() == {}
    assert a_round(1, 0, "", b"").histograms() == {}
    assert a_round(1, 0, "/a+b.so", b"any").histograms() == {}
    assert made_rounds.decoded(payload(1, 0, "quantiles+histogram", b"any")) == []


bins = some.builds(
    Bins,
    some.integers(0, 20),
    some.integers(0, 1000),
    some.lists(some.integers(1, 9), min_size=1, max_size=16).map(tuple),
)


@given(some.lists(bins, min_size=1, max_size=4))
def test_no_rank_is_lost_where_bins_are_widened(parts: list[Bins]) -> None:
    whole = _native.merged_bins(parts)
    assert sum(whole.counts) == sum(sum(part.counts) for part in parts)
    assert whole.exponent == max(part.exponent for part in parts)
    for part in parts:
        assert whole.low(0) <= part.low(0) and part.low(len(part.counts)) <= whole.low(len(whole.counts))


def column(number: int, of: Bins) -> Column:
    return Column(number, 0, of)


def test_times_are_counted_from_the_rank_in_the_middle() -> None:
    """Ranks have 8, 9, 9 and 12 units; later 1,008, 1,010, 1,010 and 1,016: the sums grow, and the spread."""
    early = column(1, Bins(0, 8, (1, 2, 0, 0, 1)))
    late = column(2, Bins(1, 504, (1, 2, 0, 0, 1)))
    found = heat.picture("function", [early, late])
    assert found.is_relative and found.width == 2
    assert [(line.low, line.ranks) for line in found.lines] == [
        (6, [0, 1]), (4, [1, 0]), (2, [0, 0]), (0, [3, 2]), (-2, [0, 1]),
    ]  # fmt: skip
    assert found.totals == [4, 4]


def test_values_of_counters_are_what_they_are() -> None:
    found = heat.picture("counter", [column(1, Bins(0, 8, (4,))), column(2, Bins(0, 10, (1, 3)))])
    assert not found.is_relative
    assert [(line.low, line.ranks) for line in found.lines] == [
        (11, [0, 3]),
        (10, [0, 1]),
        (9, [0, 0]),
        (8, [4, 0]),
    ]


@given(some.lists(bins, min_size=1, max_size=5), some.sampled_from(["function", "counter"]))
def test_a_picture_has_all_ranks_of_all_columns_in_few_rows(parts: list[Bins], kind: Any) -> None:
    found = heat.picture(kind, [column(i, each) for i, each in enumerate(parts)])
    assert len(found.lines) <= heat.ROWS
    assert [sum(line.ranks[i] for line in found.lines) for i in range(len(parts))] == found.totals
    assert found.totals == [sum(each.counts) for each in parts]


def test_the_darker_the_more_ranks() -> None:
    line = heat.Line(0, [0, 1, 2, 6, 8])
    assert heat.shades_of(line, [8] * 5) == " ░▒██"
    assert heat.shades_of(line, [8] * 5, heat.PLAIN_SHADES) == " .:##"


def test_columns_are_rounds_that_are_half_a_second_apart() -> None:
    columns = Columns()
    for number in range(200):
        columns.take(with_times(number, number * HALF_S // 2, Bins(4, number, (4,))))
    found = columns.of("function", "MPI_Send")
    assert [each.round for each in found] == list(range(80, 200, 2)) and len(found) == heat.MAX_COLUMNS
    assert found[-1].bins.first == 198
    assert columns.events() == [("function", "MPI_Send")] and columns.of("region", "MPI_Send") == []


def test_the_function_with_most_time_comes_first() -> None:
    columns = Columns()
    events = ("MPI_Recv", "counter level", "MPI_Send", "region all", "phase (none)")
    content = reduced({event: [Bins(0, 10 * i, (4,))] for i, event in enumerate(events, 1)})
    names = made_rounds.names(*events)
    (made,) = made_rounds.decoded(names + made_rounds.a_round(1, 0, content, b"histogram:16:time"))
    columns.take(made)
    # The time outside all phases is none.
    assert [event for _, event in columns.events()] == ["MPI_Send", "MPI_Recv", "all", "level"]


def test_rounds_of_several_files_are_one_column() -> None:
    columns = Columns()
    columns.take(with_times(7, 0, Bins(4, 10, (4,))))
    columns.take(with_times(7, 1, Bins(3, 24, (1, 1))))
    (found,) = columns.of("function", "MPI_Send")
    assert found.bins == Bins(4, 10, (4, 0, 2))


def test_a_picture_as_text() -> None:
    times = [column(5, Bins(20, 8, (1, 2, 0, 1))), column(6, Bins(20, 20, (4,)))]
    assert heat.text_lines("function", "MPI_Send", times) == [
        "MPI_Send: time since the start; the middle is 21.0 ms",
        "    +2.10 ms ▒",
        "    +1.05 ms",
        "  the middle ▓█     4",
        "    -1.05 ms ▒",
        "             rounds 5 to 6; darker: more ranks; at the right: the last round",
    ]
    assert heat.text_lines("counter", "residual", [column(1, Bins(0, 3, (2,)))])[:2] == [
        "residual: its value",
        "           3 █     2",
    ]
    assert heat.text_lines("function", "MPI_Send", []) == []


def test_bins_that_lie_far_apart_take_little() -> None:
    """Somebody made the files: as many counts as there are widths between them would be no memory."""
    far = [Bins(0, 0, (1,)), Bins(0, (1 << 63) - 1, (2, 3)), Bins(62, 5, (4,))]
    for parts in (far, far[:2], far[1:]):
        found = _native.merged_bins(parts)
        assert len(found.counts) <= MAX_MERGED_BINS
        assert sum(found.counts) == sum(sum(bins.counts) for bins in parts)
    picture = heat.picture("counter", [column(1, far[0]), column(2, far[1])])
    assert picture.totals == [1, 5]
