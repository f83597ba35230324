"""The module that reads and writes OTF2, which is there where tare was built with libotf2."""

from __future__ import annotations

from types import ModuleType

from tare import packages
from tare.errors import CommandError


def module() -> ModuleType:
    """tare._otf2; one clear line with what to install if it cannot be loaded."""
    packages.require_library("an OTF2 archive", "OTF2")
    try:
        from tare import _otf2
    except ImportError as error:
        raise CommandError(
            f"cannot load libotf2 (Debian: apt install libopen-trace-format2-10): {error}"
        ) from error
    return _otf2
