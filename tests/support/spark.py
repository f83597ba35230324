"""A standalone Spark cluster of two workers on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
WORKERS = 2
START_TIMEOUT_S = 240
HERE = "127.0.0.1"


@dataclass(frozen=True)
class Cluster:
    master: str  # spark://…
    environment: dict[str, str]

    def submit(self, *program: str | Path) -> subprocess.CompletedProcess[str]:
        """spark-submit, with what keeps it on this machine and small."""
        settings = {"spark.driver.host": HERE, "spark.ui.enabled": "false", "spark.executor.memory": "512m",
                    "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false"}  # fmt: skip
        options = [option for name, value in settings.items() for option in ("--conf", f"{name}={value}")]
        command = [HOME / "bin" / "spark-submit", "--master", self.master, *options, *program]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600)


@contextmanager
def cluster(directory: Path) -> Iterator[Cluster]:
    """Runs until the block ends; its logs are in `directory`."""
    environment = os.environ | {
        "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": HERE, "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_DIRS": str(directory / "local"),
        # They live for seconds: the second compiler of the virtual machine would not pay.
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }  # fmt: skip
    with ExitStack() as running:

        def start(name: str, deployed: str, *arguments: str) -> Path:
            log = directory / f"{name}.log"
            address = ("--host", HERE, "--port", "0", "--webui-port", "0")
            command: list[str | Path] = [
                HOME / "bin" / "spark-class",
                f"org.apache.spark.deploy.{deployed}",
                *address,
                *arguments,
            ]
            with log.open("w") as file:
                process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
            running.callback(process.wait)
            running.callback(process.terminate)
            return log

        master = said(start("master", "master.Master"), r"Starting Spark master at (spark://\S+)")
        limits = ("--cores", "1", "--memory", "1g", "--work-dir", str(directory))
        logs = [start(f"worker{i}", "worker.Worker", *limits, master) for i in range(WORKERS)]
        for log in logs:
            said(log, "Successfully registered with master (.*)")
        yield Cluster(master, environment)


def said(log: Path, pattern: str) -> str:
    """What the group of the pattern is, once the log has it."""
    until = time.monotonic() + START_TIMEOUT_S
    while not (found := re.search(pattern, log.read_text())):
        if time.monotonic() > until:
            raise TimeoutError(log.read_text())
        time.sleep(0.05)
    return found.group(1)


def number_of_executors(output: Sequence[str]) -> int:
    """How many executors a program of spark-submit got, from what it wrote to standard error."""
    return len(
        {match.group(1) for line in output if (match := re.search(r"Executor added: app-\S+/(\d+)", line))}
    )
