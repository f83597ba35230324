"""Programs by name, as shells find them; without shutil, which takes its time to load."""

from __future__ import annotations

import os


def find(name: str) -> str | None:
    """The file of this name that may be started, in PATH where the name has no folder."""
    for folder in [""] if "/" in name else os.get_exec_path():
        path = os.path.join(folder, name)  # noqa: PTH118
        if os.path.isfile(path) and os.access(path, os.X_OK):  # noqa: PTH113
            return path
    return None
