"""Command lines made from the signatures of verbs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
from tare import parser
from tare.errors import UsageError
from tare.options import Argument, Option


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


def paint(
    what: Annotated[list[Path], Argument("FILE...", "What is painted.")],
    color: Annotated[Color, Option(help="In which color.")] = Color.RED,
    coats: Annotated[int | None, Option("-c", "--coats", min=1, max=3)] = None,
    rank: Annotated[list[int] | None, Option(help="100 % of them.")] = None,
    dry: Annotated[bool, Option("--dry")] = False,
) -> int:
    """Paint a file."""
    called.append({"what": what, "color": color, "coats": coats, "rank": rank, "dry": dry})
    return 3


def start(
    command: Annotated[list[str], Argument("COMMAND", "What is started.", rest=True)],
    output: Annotated[str | None, Option("-o", "--output")] = None,
    quiet: Annotated[bool, Option("-q", "--quiet")] = False,
    watch: Annotated[str | None, Option("--watch", bare="1s")] = None,
) -> None:
    """Start a command."""
    watched = {"watch": watch} if watch else {}
    called.append({"command": command, "output": output, "quiet": quiet} | watched)


called: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def nothing_called() -> None:
    called.clear()


def test_values_have_the_types_of_the_signature() -> None:
    assert (
        parser.call(paint, ["--color=blue", "a b", "-c2", "c", "--rank", "1", "--rank", "0"], "tare paint")
        == 3
    )
    assert parser.call(paint, ["--", "-c"], "tare paint") == 3
    assert called == [
        {"what": [Path("a b"), Path("c")], "color": Color.BLUE, "coats": 2, "rank": [1, 0], "dry": False},
        {"what": [Path("-c")], "color": Color.RED, "coats": None, "rank": None, "dry": False},
    ]


@pytest.mark.parametrize(
    ("words", "command", "output", "quiet"),
    [
        (["-o", "x", "--", "p", "-o", "y"], ["p", "-o", "y"], "x", False),
        (["-o", "x", "p", "--", "-q"], ["p", "--", "-q"], "x", False),
        (["-qo", "x", "p"], ["p"], "x", True),
        (["-oq", "p", "-q"], ["p", "-q"], "q", False),
        (["--output=x", "p", "-h"], ["p", "-h"], "x", False),
        (["--", "-q"], ["-q"], None, False),
        (["-"], ["-"], None, False),
    ],
)
def test_a_command_begins_with_the_first_word_that_is_no_option(
    words: list[str], command: list[str], output: str | None, quiet: bool
) -> None:
    assert parser.call(start, words, "tare start") == 0
    assert called == [{"command": command, "output": output, "quiet": quiet}]


def test_a_value_that_is_optional_follows_an_equals_sign() -> None:
    for words, watch in ((["--watch", "sh", "--", "q"], "1s"), (["--watch=auto", "--", "sh"], "auto")):
        assert parser.call(start, words, "tare start") == 0
        assert called[-1]["watch"] == watch and called[-1]["command"][0] == "sh"
    for rest in (["--", "sh"], ["-o", "x", "--", "sh"], ["sh"]):
        with pytest.raises(UsageError, match="if it is the value of --watch, write --watch=auto-50"):
            parser.call(start, ["--watch", "auto-50", *rest], "tare start")


def test_help_shows_the_equals_sign(capsys: pytest.CaptureFixture[str]) -> None:
    parser.call(start, ["--help"], "tare start")
    assert "  --watch[=TEXT]\n" in capsys.readouterr().out


def test_only_what_is_missing_and_must_be_there_is_named() -> None:
    def watch(
        run: Annotated[str, Argument("RUN", "What is watched.")],
        command: Annotated[list[str] | None, Argument("COMMAND", "What is started.", rest=True)] = None,
    ) -> None:
        """Watch a run."""
        called.append({"run": run, "command": command})

    with pytest.raises(UsageError, match="missing argument 'RUN'; see tare watch --help"):
        parser.call(watch, [], "tare watch")
    for words, command in (["r"], None), (["r", "--", "c", "-x"], ["c", "-x"]):
        parser.call(watch, words, "tare watch")
        assert called[-1] == {"run": "r", "command": command}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "missing argument 'FILE...'"),
        (["f", "--colour", "red"], "no such option: --colour"),
        (["f", "--col", "red"], "no such option: --col"),
        (["f", "--color", "green"], "--color: 'green' is none of red, blue"),
        (["f", "--coats"], "-c/--coats needs a value"),
        (["f", "--coats", "many"], "-c/--coats: 'many' is not a whole number"),
        (["f", "--coats", "0"], "-c/--coats: 0 is less than 1"),
        (["f", "--coats", "4"], "-c/--coats: 4 is more than 3"),
        (["f", "--dry=yes"], "--dry takes no value"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        parser.call(paint, words, "tare paint")
    assert str(error.value) == f"{message}; see tare paint --help"
    assert not called


def test_help_has_all_there_is_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert parser.call(paint, ["--help"], "tare paint") == 0
    said = capsys.readouterr().out
    for part in ("Usage: tare paint [OPTIONS] FILE...", "Paint a file.", "What is painted.", "100 % of them.",
                 "--color red|blue", "(default: red)"):  # fmt: skip
        assert part in said
