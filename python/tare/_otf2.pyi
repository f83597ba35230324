"""Traces in OTF2: there only where tare was built with libotf2."""

from collections.abc import Sequence

from tare._native import Exported, Run

def export_otf2(
    run: Run,
    path: str,
    start_ns: int,
    shown: Sequence[int],
    ranks: list[int] | None = None,
    from_ns: int | None = None,
    to_ns: int | None = None,
) -> Exported:
    """Writes the archive `path`/traces.otf2; the rest as Run.export_perfetto()."""
