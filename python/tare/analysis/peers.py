"""The part of a run that counts messages between ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from tare._native import Table
    from tare._tables import PeersRow

_Row = TypeVar("_Row")


class CountsMessages(Protocol):
    """Implemented by runs.run.Run."""

    def rows(self, table: Table[_Row]) -> list[_Row]:
        """All rows of a table."""

    def peer_table(
        self,
        by: Sequence[str],
        worlds: Sequence[int] | None = None,
        ranks: Sequence[int] | None = None,
        communicators: Sequence[str] | None = None,
    ) -> Table[PeersRow]:
        """See `Run.peer_table`."""
