"""Shared objects of the user's, as options name them: FILE.so[:ARGUMENTS]."""

from __future__ import annotations

from pathlib import Path


def is_object(text: str) -> bool:
    """Whether it names a shared object."""
    return ".so:" in text or text.endswith(".so")


def located(option: str, text: str) -> str:
    """The same with the absolute path, because it is loaded in another directory.

    ValueError if there is no such file; `option` is the text of which `text` is a part.
    """
    path, end, arguments = text.partition(".so:")
    file = Path(f"{path}.so" if end else text).absolute()
    if not file.is_file():
        raise ValueError(f"{option}: there is no file {file}")
    return f"{file}:{arguments}" if end else str(file)
