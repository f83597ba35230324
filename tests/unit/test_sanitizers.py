"""The options of sanitizers that a measured command gets."""

from __future__ import annotations

import pytest
from tare.measuring.sanitizers import variables, words


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("ASAN_OPTIONS", "", "verify_asan_link_order=0"),
        ("ASAN_OPTIONS", "detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"),
        ("ASAN_OPTIONS", "verify_asan_link_order=1", "verify_asan_link_order=1"),
        ("TSAN_OPTIONS", "", "ignore_noninstrumented_modules=1"),
        ("TSAN_OPTIONS", "exitcode=3", "exitcode=3:ignore_noninstrumented_modules=1"),
        ("TSAN_OPTIONS", "ignore_noninstrumented_modules=0", "ignore_noninstrumented_modules=0"),
    ],
)
def test_what_the_user_has_chosen_stays(name: str, before: str, after: str) -> None:
    assert variables({name: before} if before else {})[name] == after
    assert words(["env", f"{name}={before}", "./a"]) == ["env", f"{name}={after}", "./a"]
    assert words(["mpiexec", "-genv", name, before]) == ["mpiexec", "-genv", name, after]


@pytest.mark.parametrize(
    "command", [["./a", "ASAN_OPTIONS"], ["mpirun", "-x", "ASAN_OPTIONS", "./a"], ["mpiexec", "-genv"]]
)
def test_other_words_stay(command: list[str]) -> None:
    assert words(command) == command
