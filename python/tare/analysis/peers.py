"""The part of a run that counts messages between ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tare._native import PeerSum


class CountsMessages(Protocol):
    """Implemented by runs.run.Run."""

    def peer_sums(
        self,
        by: list[str],
        worlds: list[int] | None,
        ranks: list[int] | None,
        communicators: list[int] | None,
    ) -> list[PeerSum]:
        """See `ProfiledRun.peer_sums`."""
