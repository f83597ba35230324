"""Queries of an exported trace on a Spark cluster.

    tare export RUN --to parquet -o /shared/run
    spark-submit --master spark://HOST:7077 queries_on_spark.py file:///shared/run /shared/results

Each result becomes RESULTS/NAME.json, an object a line.
"""

import sys
from pathlib import Path

import ibis
from pyspark.sql import SparkSession
from tare import queries

QUERIES = {
    "communication_matrix": queries.communication_matrix,
    "message_sizes": queries.message_sizes,
    "message_rate": lambda tables: queries.message_rate(tables, interval_ns=1_000_000),
    "calls_by_line": queries.calls_by_line,
    "imbalance": queries.imbalance,
    "slowest_iterations": lambda tables: queries.slowest_intervals(tables, "MPI_Allreduce"),
    "arrivals": queries.arrivals,
    "wait_states": queries.wait_states,
    "causes": queries.causes,
}


def write(tables: queries.Tables, results: Path) -> None:
    results.mkdir(parents=True, exist_ok=True)
    for name, query in QUERIES.items():
        query(tables).to_pandas().to_json(results / f"{name}.json", orient="records", lines=True)


if __name__ == "__main__":
    session = SparkSession.builder.appName("tare queries").getOrCreate()
    write(queries.of_parquet(ibis.pyspark.connect(session), sys.argv[1]), Path(sys.argv[2]))
    session.stop()
