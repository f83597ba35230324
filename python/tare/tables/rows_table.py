"""Tables of rows that Python makes: typed, and made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tare._native import ColumnType

# The columns of a table in their order, each with its type.
Schema = Mapping[str, "ColumnType"]


class RowsTable:
    """For anything that reads Arrow; every stream of it makes the rows anew."""

    def __init__(self, schema: Schema, rows: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
        """Rows have a value, or None, for each column; more fields are left out."""
        self.schema = dict(schema)
        self._rows = rows

    def _repr_html_(self) -> str:
        """In notebooks; makes all rows, and shows the first."""
        from tare.tables import html

        return html.table(list(self.schema), list(self._rows()))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from tare._native import RowTable

        rows = list(self._rows())
        columns = [[row[name] for row in rows] for name in self.schema]
        made = RowTable(list(self.schema), list(self.schema.values()), columns)
        return made.__arrow_c_stream__(requested_schema)
