"""The options of AddressSanitizer that a measured command gets."""

from __future__ import annotations

import pytest
from tare.measuring.sanitizers import variables, words


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "verify_asan_link_order=0"),
        ("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"),
        ("verify_asan_link_order=1", "verify_asan_link_order=1"),
    ],
)
def test_what_the_user_has_chosen_stays(before: str, after: str) -> None:
    assert variables({"ASAN_OPTIONS": before} if before else {}) == {"ASAN_OPTIONS": after}
    assert words(["env", f"ASAN_OPTIONS={before}", "./a"]) == ["env", f"ASAN_OPTIONS={after}", "./a"]
    assert words(["mpiexec", "-genv", "ASAN_OPTIONS", before]) == ["mpiexec", "-genv", "ASAN_OPTIONS", after]


@pytest.mark.parametrize(
    "command", [["./a", "ASAN_OPTIONS"], ["mpirun", "-x", "ASAN_OPTIONS", "./a"], ["mpiexec", "-genv"]]
)
def test_other_words_stay(command: list[str]) -> None:
    assert words(command) == command
