"""The silence of ranks, compared with what a table of all ranks would say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some
from tare._native import Ranks
from tare.monitor.silence import Silence

RANKS = range(24)


def stretches(ranks: set[int]) -> Ranks:
    return Ranks([(rank, 1) for rank in ranks])


@given(some.lists(some.sets(some.sampled_from(RANKS)), max_size=8))
def test_a_rank_is_silent_since_the_first_round_without_it(rounds: list[set[int]]) -> None:
    silence, known = Silence(), dict[int, int]()
    for time_ns, lost in enumerate(rounds):
        silence = silence.after(stretches(lost), time_ns)
        known = {rank: known.get(rank, time_ns) for rank in lost}
        assert {rank: since for rank in RANKS if (since := silence.since(rank)) is not None} == known
        assert len(silence.spans) <= len(lost)


def test_all_ranks_that_there_can_be_are_one_stretch() -> None:
    silence = Silence().after(Ranks(((0, 1 << 31),)), 5).after(Ranks(((1, 1 << 30),)), 7)
    assert silence.spans == ((1, 1 + (1 << 30), 5),)
    assert (silence.since(0), silence.since(1), silence.since(1 << 30)) == (None, 5, 5)
