"""What a verb says of its parameters, in their annotations; tare.parser makes a command line of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Argument:
    """A parameter without a name, in its place; `rest`: from there on everything belongs to it."""

    def __init__(self, metavar: str, help: str, *, rest: bool = False) -> None:
        self.metavar = metavar
        self.help = help
        self.rest = rest


class Option:
    """A parameter by name: `names`, or the parameter's own. A list takes it repeatedly."""

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        parser: Callable[[str], Any] | None = None,  # raises ValueError
        bare: str | None = None,  # what it is given without a value; a value follows `=` then
        hidden: bool = False,
    ) -> None:
        self.names = names
        self.help = help
        self.metavar = metavar
        self.min = min
        self.max = max
        self.parser = parser
        self.hidden = hidden
        self.bare = bare


class Group:
    """A verb that has verbs of its own."""

    def __init__(self, about: str, *verbs: Callable[..., int | None]) -> None:
        self.about = about
        self.verbs = {verb.__name__: verb for verb in verbs}
