from __future__ import annotations

import pytest
from tare import units


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("65536", 65536),
        ("512K", 524288),
        ("4M", 4194304),
        ("4MiB", 4194304),
        ("1.5 kb", 1536),
        ("1G", 1 << 30),
    ],
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [("500ms", 500_000_000), ("30s", 30_000_000_000), ("1.5 min", 90_000_000_000), ("1h", 3_600_000_000_000)],
)
def test_durations_have_a_unit(text: str, time_ns: int) -> None:
    assert units.parse_duration(text) == time_ns
    with pytest.raises(ValueError, match="write it like"):
        units.parse_duration(text.rstrip("minsh"))


@pytest.mark.parametrize(("text", "share"), [("20%", 0.2), ("0.2", 0.2), (" 1.5% ", 0.015), ("-5%", -0.05)])
def test_shares_are_numbers_or_percentages(text: str, share: float) -> None:
    assert units.parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "half", "5%%"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="float"):
        units.parse_share(text)


@pytest.mark.parametrize("text", ["", "M", "-4M", "4X", "four"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like"):
        units.parse_size(text)


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1500, "1.50 µs"), (45_600_000, "45.6 ms"), (12_345_678_901, "12.3 s"),
     (99_960_000_000, "100 s"), (7_200_000_000_000, "7,200 s")],
)  # fmt: skip
def test_durations_have_three_digits(time_ns: int, text: str) -> None:
    assert units.duration(time_ns) == text


def test_sizes_and_counts_are_short() -> None:
    assert [units.size(size) for size in (0, 1023, 1536, 5 << 30)] == [
        "0 B",
        "1023 B",
        "1.50 KiB",
        "5.00 GiB",
    ]
    assert [units.count(n) for n in (0, 999_999, 12_345_678)] == ["0", "999,999", "12.3 M"]


def test_ranges_of_sizes_share_their_unit() -> None:
    ranges = {(0, 1): "0 B", (1, 2): "1 B", (8, 16): "8-16 B", (512, 1024): "512 B-1 KiB"}
    ranges |= {(1024, 2048): "1-2 KiB", (512 << 20, 1 << 30): "512 MiB-1 GiB"}
    assert {each: units.size_range(*each) for each in ranges} == ranges


@pytest.mark.parametrize(
    ("code", "how"),
    [(0, "exit code 0"), (3, "exit code 3"), (-11, "killed by SIGSEGV"), (-99, "killed by signal 99")],
)
def test_the_end_of_a_program_in_words(code: int, how: str) -> None:
    assert units.ending(code) == how
