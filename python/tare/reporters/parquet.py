"""Tables as Parquet files, written by DuckDB."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare import databases, interrupts, private_files
from tare.errors import unwritable

if TYPE_CHECKING:
    from tare._native import Table
    from tare._tables import EventsRow


def write(table: Table[EventsRow], to: Path) -> None:
    """All rows of the table, in their order; a file that cannot be written whole is removed."""
    part = private_files.part_of(to.parent.resolve() / to.name)
    duckdb = databases.module()
    try:
        with interrupts.of_duckdb(), databases.in_memory(writes_to=part.parent) as connection:
            connection.register("events", table)
            connection.sql("FROM events").write_parquet(str(part), compression="zstd")
        part.replace(to)
    except (duckdb.Error, OSError) as error:
        raise unwritable(to, error) from error
    finally:
        with suppress(OSError):
            part.unlink()
