"""Analyses of the tables of a run, each written once with Ibis, for DuckDB and for Spark (docs/queries.md).

A query takes `Tables` and returns an Ibis table. Nothing is read until that is executed. Times are
nanoseconds.
"""

from __future__ import annotations

from tare.queries.calls import calls_by_line, imbalance, slowest_intervals
from tare.queries.collectives import arrivals
from tare.queries.messages import communication_matrix, message_rate, message_sizes
from tare.queries.tables import Tables, of_parquet, of_run
from tare.queries.waits import causes, wait_states

__all__ = [
    "Tables",
    "arrivals",
    "calls_by_line",
    "causes",
    "communication_matrix",
    "imbalance",
    "message_rate",
    "message_sizes",
    "of_parquet",
    "of_run",
    "slowest_intervals",
    "wait_states",
]
