"""Questions to the profiles of a run: reading these takes most of the time, so several share one reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tare._native import (
        Answers,
        Exchange,
        PeerSum,
        PhaseSum,
        ProfileSum,
        Questions,
        SumsQuery,
        TablesQuery,
    )


class Sums:
    """Asks the reader, and remembers the answers to what was expected to be asked."""

    def __init__(self, ask: Callable[[Questions], Answers] | None) -> None:
        """`ask`: Run.sums of the native reader; None: nothing was recorded."""
        self._ask = ask
        self._expected: dict[str, list[Any]] = {}
        self._known: dict[tuple[str, str], Any] = {}

    def expect(self, questions: Questions) -> None:
        """What is going to be asked: the next reading of the profiles answers that, too."""
        for kind, each in cast("dict[str, list[Any]]", questions).items():
            self._expected.setdefault(kind, []).extend(each)

    def read_expected(self) -> None:
        """Reads the profiles if anything is expected that is not known."""
        self._read({})

    def profile(self, queries: Sequence[SumsQuery]) -> list[list[ProfileSum]]:
        """The profile added up, one list of rows for each query, in their order."""
        return self._answers("profile", queries)

    def peers(self, query: TablesQuery) -> list[PeerSum]:
        """Messages by peer, added up."""
        rows: list[PeerSum]
        (rows,) = self._answers("peers", [query])
        return rows

    def phases(self, query: TablesQuery) -> list[PhaseSum]:
        """Phases, added up."""
        rows: list[PhaseSum]
        (rows,) = self._answers("phases", [query])
        return rows

    def exchanges(self, most: int) -> list[Exchange]:
        """What ranks sent to one another, by at most `most` groups of neighbours."""
        rows: list[Exchange]
        (rows,) = self._answers("exchanges", [most])
        return rows

    def _answers(self, kind: str, questions: Sequence[Any]) -> list[Any]:
        keys = [(kind, _text(each)) for each in questions]
        is_known = all(key in self._known for key in keys)
        answers = self._known if is_known else self._known | self._read({kind: list(questions)})
        return [answers[key] for key in keys]

    def _read(self, asked: dict[str, list[Any]]) -> dict[tuple[str, str], Any]:
        """What is asked, and in the same reading what is expected, which is remembered."""
        wanted: dict[str, dict[str, Any]] = {}
        for kind, questions in (*self._expected.items(), *asked.items()):
            for each in questions:
                if (kind, _text(each)) not in self._known:
                    wanted.setdefault(kind, {})[_text(each)] = each
        expected = {(kind, _text(each)) for kind, questions in self._expected.items() for each in questions}
        self._expected = {}
        answers = self._asked(wanted) if wanted else {}
        self._known |= {key: rows for key, rows in answers.items() if key in expected}
        return answers

    def _asked(self, wanted: dict[str, dict[str, Any]]) -> dict[tuple[str, str], Any]:
        if self._ask is None:
            return {(kind, text): [] for kind, questions in wanted.items() for text in questions}
        found = self._ask(cast("Questions", {kind: list(each.values()) for kind, each in wanted.items()}))
        return {
            (kind, text): rows
            for kind, questions in wanted.items()
            for text, rows in zip(questions, cast("dict[str, Any]", found)[kind], strict=True)
        }


def tables_query(
    by: list[str],
    worlds: list[int] | None = None,
    ranks: list[int] | None = None,
    communicators: list[int] | None = None,
) -> TablesQuery:
    """None: all."""
    chosen = {"worlds": worlds, "ranks": ranks, "communicators": communicators}
    return cast(
        "TablesQuery", {"by": by, **{key: value for key, value in chosen.items() if value is not None}}
    )


def _text(question: Any) -> str:
    """The same for equal questions."""
    return repr(sorted(question.items()) if isinstance(question, dict) else question)
