"""The meta.json of a run that never was."""

from __future__ import annotations

from typing import Any

from tare.runs.metadata import Metadata


def metadata(**given: Any) -> Metadata:
    """The metadata of a run of ./app that has ended well, but for what is given."""
    usual: dict[str, Any] = {
        "format": 1, "tare": "0.1.0", "run_id": "0123456789abcdef", "name": "app", "command": ["./app"],
        "cwd": "/tmp", "host": "node", "start_ns": 10**18, "segment_dir": "/dev/shm", "state": "ended",
        "exit_code": 0, "wall_ns": 10**9,
    }  # fmt: skip
    return Metadata(**usual | given)
