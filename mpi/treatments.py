"""What the referee (src/mpi/referee) does with calls of a function, and the argument that it reads."""

from table import Meaning

# Words of `waits` of the collective operations that only move data or wait. Others make or change objects.
_MOVES = ("all", "contributors", "root", "at_root", "lower", "neighbours")


def treatment(of: Meaning) -> tuple[str, int]:
    """A word of Treatment (src/mpi/referee/treatment.h), and the number of the argument."""
    word = _word(of)
    kind = {"anchors": "COMMUNICATOR"}.get(word, "REQUEST")
    if word in ("passes", "ends", "routed", "ticks"):
        return word, 0
    return word, next(i for i, each in enumerate(of.function.parameters) if each.kind == kind)


def _word(of: Meaning) -> str:
    if of.ends in ("world", "session"):
        return "ends"
    if of.frees == "request":
        return "frees"
    if of.makes or of.frees or of.form == "persistent" or of.function.parameter("message") is not None:
        return "passes"
    if of.form == "nonblocking":
        return "starts" if of.kind != "request" else "passes"
    if of.kind == "start":
        return "begins_all" if of.function.bare_name == "Startall" else "begins_one"
    if of.kind == "completion":
        return f"{'tests' if of.poll else 'waits'}_{of.completes}"
    if of.kind in ("send", "receive", "exchange"):
        return "ticks"
    if of.kind == "collective" and of.waits in _MOVES:
        return "anchors" if of.waits == "all" else "ticks"
    return "routed" if of.kind in ("lookup", "probe", "request", "one_sided") else "passes"
