"""How the numbers of a study's report are shown."""

from __future__ import annotations

import math

import pytest
from tare.lab.study.sections import RATIO, NotSignificant, P, plain, shown
from tare.units import NOTHING


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "< 0.0001"),
        (1e-320, "< 0.0001"),
        (0.00099, "0.0010"),
        (0.0001, "0.0001"),
        (1.0, "1.0000"),
        (math.nan, NOTHING),
    ],
)
def test_no_p_is_shown_as_nought(p: float, text: str) -> None:
    assert shown(p, P) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.7712, "0.77"),
        (30886.811, "30886.81"),
        (-30886.811, "-30886.81"),
        (13459580684992043187367405682688.0, "1.35e+31"),
        (math.nan, NOTHING),
    ],
)
def test_ratios_have_a_sensible_width(ratio: float, text: str) -> None:
    assert shown(ratio, RATIO) == text


def test_what_is_not_known_is_null() -> None:
    assert plain(math.nan) is None
    assert plain((math.nan, NotSignificant(0.5))) == [None, 0.5]
