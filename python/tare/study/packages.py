"""The packages of the extra `study`, which the other verbs do without."""

from __future__ import annotations

from importlib.util import find_spec

from tare.errors import CommandError

NEEDED = ("duckdb", "pandas", "statsmodels", "matplotlib")


def require() -> None:
    """Says in one line what is missing, before anything has been run."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(
            f"tare study needs {', '.join(missing)}: pip install 'tare[study]', "
            "or in a checkout: tools/venv.sh study"
        )
