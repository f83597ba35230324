"""Questions to profiles: what is expected to be asked is read together."""

from __future__ import annotations

from typing import Any, cast

import fake_native
from tare.runs.sums import Sums, tables_query


class Asked:
    """Answers like the reader, and keeps what it was asked."""

    def __init__(self) -> None:
        self.readings: list[dict[str, int]] = []
        self._run = fake_native.Run("/no/such/run")

    def __call__(self, questions: Any) -> Any:
        self.readings.append({kind: len(each) for kind, each in questions.items()})
        return self._run.sums(questions)


BY_RANK: Any = {"by": ["rank"]}
BY_FUNCTION: Any = {"by": ["function"], "untimed": ["MPI_Recv"]}


def test_what_is_expected_is_read_with_what_is_asked() -> None:
    asked = Asked()
    sums = Sums(asked)
    sums.expect({"profile": [BY_RANK, BY_FUNCTION], "exchanges": [64]})
    sums.expect({"phases": [tables_query([])], "profile": [BY_RANK]})
    assert asked.readings == []
    by_site: Any = {"by": ["site"]}
    (sites,) = sums.profile([by_site])
    assert asked.readings == [{"profile": 3, "exchanges": 1, "phases": 1}], "each once"
    assert sites == fake_native.summed(fake_native.PROFILE, by_site)
    functions, ranks = sums.profile([dict(BY_FUNCTION), BY_RANK])  # type: ignore[list-item]
    assert functions == fake_native.summed(fake_native.PROFILE, BY_FUNCTION)
    assert ranks == fake_native.summed(fake_native.PROFILE, BY_RANK)
    assert cast(Any, sums.exchanges(64)) == fake_native.EXCHANGES
    assert cast(Any, sums.phases(tables_query([]))) == fake_native.PHASES
    assert len(asked.readings) == 1, "all of it was known"


def test_what_was_not_expected_is_read_each_time() -> None:
    """Rows of 100,000 ranks are not kept."""
    asked = Asked()
    sums = Sums(asked)
    assert sums.peers(tables_query(["rank"], ranks=[1])) == sums.peers(tables_query(["rank"], ranks=[1]))
    assert asked.readings == [{"peers": 1}, {"peers": 1}]
    assert len(sums.peers(tables_query(["rank"], ranks=[0]))) == 1


def test_only_what_is_expected_is_read_ahead() -> None:
    asked = Asked()
    sums = Sums(asked)
    sums.read_expected()
    assert asked.readings == []
    sums.expect({"profile": [BY_RANK]})
    sums.read_expected()
    sums.read_expected()
    assert asked.readings == [{"profile": 1}]


def test_nothing_recorded_has_no_sums() -> None:
    sums = Sums(None)
    sums.expect({"exchanges": [64]})
    assert sums.profile([BY_RANK, BY_FUNCTION]) == [[], []]
    assert sums.exchanges(64) == []
