"""What `tare export` says that a trace in the format of other tools lacks."""

from __future__ import annotations

import pytest
from made import made
from tare._native import Exported
from tare.exporters import Part
from tare.exporters.traces import _tell_what_lacks


@pytest.mark.parametrize(
    ("ends", "part", "said"),
    [
        (1, Part(), "1 end of a region or phase was left out: what it ends has no begin in the trace"),
        (8, Part(), "8 ends of regions or phases were left out: what they end has no begin in the trace"),
        (
            2,
            Part(end_ns=5),
            "2 ends of regions or phases were left out: what they end has no begin in this part",
        ),
    ],
)
def test_ends_that_are_left_out_have_no_begin_or_are_wrongly_nested(
    ends: int, part: Part, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _tell_what_lacks(made(Exported, ends=ends), part, has_ranks=True)
    told = capsys.readouterr().err
    assert told.startswith(f"tare: {said}")
    assert told.endswith(", or ended before, with the region or phase around it\n")


def test_messages_are_missing_only_of_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    lacking = made(Exported, obstacle="records are missing")
    _tell_what_lacks(lacking, Part(), has_ranks=False)
    assert capsys.readouterr().err == ""
    _tell_what_lacks(lacking, Part(), has_ranks=True)
    assert capsys.readouterr().err == "tare: not all messages are shown: records are missing\n"
