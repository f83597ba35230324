"""The text of wrappers: no logic, they name the function and its arguments by role and call measure() or
measure_apart() (src/mpi/calls/measure.h), or poll() or acting_poll() (src/mpi/calls/measured_poll.h)."""

import re

from standard import Function

# Conversions of handles and statuses between languages.
_CONVERSION = re.compile(r"_(f2c|c2f|f2f08|f082f|f082c|c2f08|fromint|toint)$")


def wrapper(
    function: Function,
    roles: list[str],
    is_idle: str | None = None,
    *,
    acts_if_idle: bool = False,
    frequent: bool = False,
) -> str:
    """The text of a wrapper; `is_idle`: of a poll, the condition that it found nothing; `acts_if_idle`: roles
    have something to do then, too; `frequent`: it has all steps of a measured call itself."""
    parameters = ", ".join(p.declaration for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    names = []
    used = ""  # by the call, beside the parameters, which it has by value: they stay in registers then
    for role in roles:
        name = role.split("{")[0].split()[-1]
        names.append(name)
        # A role may have to look at a status where the program passes MPI_STATUS_IGNORE.
        if re.match(r"(Receives|AlsoReceives|Probes|Completes\w+)<", role):
            arguments = re.sub(r"\b(status|array_of_statuses)\b", f"{name}.status()", arguments)
            used = f", &{name}" if ".status()" in arguments else ""
    lines = [f"static {function.returns} {function.name}({parameters}) {{"]
    lines += [f"  {role};" for role in roles]
    call = f"real(&{function.name}, Function::{function.name})({arguments})"
    if is_idle is None:
        lines += [
            f"  return {'measure' if frequent else 'measure_apart'}<Function::{function.name}>(TARE_CALLER,",
            f"      [={used}]() __attribute__((always_inline)) {{ return {call}; }}",
        ]
    else:
        path = "acting_poll" if acts_if_idle else "poll"
        lines += [
            f"  return {path}<A, Function::{function.name}>(TARE_CALLER,",
            f"      [={used}]() __attribute__((always_inline)) {{ return {call}; }},",
            f"      [=] {{ return {is_idle}; }}",
        ]
    lines[-1] += "".join(", " + n for n in names) + ");"
    return "\n".join([*lines, "}"])


def counted_wrapper(function: Function, *, calls_others: bool) -> str:
    """The text of the wrapper that only counts. Bindings convert handles of their own accord."""
    caller = "stack::Caller::converts" if _CONVERSION.search(function.name) else "stack::Caller::asks"
    parameters = ", ".join(p.declaration for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    call = f"real(&{function.name}, Function::{function.name})({arguments})"
    is_whole = "true" if calls_others else "around_tool"
    return (
        f"static {function.returns} {function.name}({parameters}) {{\n"
        f"  return counted<Function::{function.name}, {caller}, {is_whole}>(\n"
        "      __builtin_return_address(0),\n"
        f"      [=]() __attribute__((always_inline)) {{ return {call}; }});\n}}"
    )
