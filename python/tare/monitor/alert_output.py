"""Alerts leave tare: as lines, and to a command of the user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from queue import Queue
from typing import Any

from tare import streams
from tare.measuring.launch import check_startable
from tare.monitor.alerts import Alert

SCHEMA = "tare.alert/1"


class AlertOutput:
    """Prints alerts, and starts the command for each: one at a time, in their order, beside the watching.

    CommandError if there is no such command.
    """

    def __init__(self, run: Path, command: list[str] | None, *, json: bool) -> None:
        self._run = run
        self._command = command
        self._json = json
        self._queue: Queue[tuple[Alert, str] | None] = Queue()
        self._worker: threading.Thread | None = None
        if command:
            check_startable(command)
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()

    def write(self, alert: Alert) -> None:
        """Prints an alert at once. A thread runs the command, if there is one."""
        time = datetime.now().astimezone().isoformat(timespec="seconds")
        content = self._content(alert, time)
        streams.say(content if self._json else f"{time} {alert.message}")
        sys.stdout.flush()
        if self._worker is not None:
            self._queue.put((alert, content))

    def close(self) -> None:
        """Ends when the commands of all alerts have ended; Ctrl-C does not wait for them."""
        if self._worker is not None:
            self._queue.put(None)
            with suppress(KeyboardInterrupt):
                self._worker.join()

    def _content(self, alert: Alert, time: str) -> str:
        content: dict[str, Any] = {"schema": SCHEMA, "run": str(self._run), "time": time, **alert.content()}
        return json.dumps(content)

    def _work(self) -> None:
        while (next_one := self._queue.get()) is not None:
            self._start(*next_one)

    def _start(self, alert: Alert, content: str) -> None:
        assert self._command is not None
        environment = {**os.environ, "TARE_ALERT_RUN": str(self._run), **alert.variables()}
        try:
            done = subprocess.run(
                self._command, env=environment, input=content + "\n", text=True, check=False
            )
        except OSError as error:
            return streams.tell(f"tare: cannot start {self._command[0]}: {error.strerror}")
        if done.returncode != 0:
            streams.tell(f"tare: {self._command[0]} failed for an alert: exit code {done.returncode}")
        return None
