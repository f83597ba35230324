"""The functions of the MPI standard, from the MPI Forum's machine-readable API (PyPI: pympistandard)."""

import re
from dataclasses import dataclass

import pympistandard as std


@dataclass(frozen=True)
class Parameter:
    """A C parameter: its declaration as the standard writes it, its name, and the standard's kind."""

    declaration: str
    name: str
    kind: str = ""
    is_output: bool = False  # only that: what it points to is not read

    @property
    def is_pointer(self) -> bool:
        return "*" in self.declaration or "[" in self.declaration


@dataclass(frozen=True)
class Function:
    name: str
    returns: str
    parameters: tuple[Parameter, ...]

    @property
    def bare_name(self) -> str:
        """The name without MPI_ and without the _c of a large-count form."""
        name = self.name.removeprefix("MPI_")
        return name[:-2] if name.endswith("_c") else name

    @property
    def form(self) -> str:
        """Whether the call does it ("blocking"), or makes a request: "nonblocking", "persistent"."""
        if not any(p.kind == "REQUEST" and p.is_output for p in self.parameters):
            return "blocking"
        return "persistent" if self.bare_name.endswith("_init") else "nonblocking"

    @property
    def blocking_name(self) -> str:
        """What the blocking form would be called: "Bcast" for MPI_Ibcast and MPI_Bcast_init_c."""
        name = self.bare_name
        if self.form == "persistent":
            return name.removesuffix("_init")
        if self.form == "nonblocking":
            started = re.fullmatch(r"([A-Z][a-z]+_)?(?:i|I|R)([a-z]\w*)", name)
            if started is not None:
                return started[1] + started[2] if started[1] else started[2].capitalize()
        return name

    def parameter(self, name: str) -> Parameter | None:
        return next((p for p in self.parameters if p.name == name), None)


def functions(further: list[str]) -> list[Function]:
    """Every C function of the standard, large-count forms included, and those of the prototypes `further`, by
    name; no callbacks, no predefined functions."""
    found = [_parsed(prototype, {"comm": ("COMMUNICATOR", False)}) for prototype in further]
    std.use_api_version(1)
    for procedure in std.PROCEDURES.values():
        express = procedure.express
        forms = [express.iso_c]
        if procedure.has_embiggenment():
            forms.append(express.embiggen.iso_c)
        for form in forms:
            if form is not None:
                kinds = {
                    p.name: (str(p.kind.name), p.direction is not None and p.direction.name == "OUT")
                    for p in form.parameters
                }
                found.append(_parsed(str(form), kinds))
    return sorted(found, key=lambda function: function.name)


def without_varargs(function: Function) -> Function:
    """MPI_Pcontrol(level, ...): what follows level is passed on in registers, as a call of six words."""
    if not any(p.name == "..." for p in function.parameters):
        return function
    words = tuple(Parameter(f"std::uintptr_t word{i}", f"word{i}") for i in range(1, 6))
    return Function(function.name, function.returns, function.parameters[:-1] + words)


def _parsed(prototype: str, kinds: dict[str, tuple[str, bool]]) -> Function:
    """A function from a C prototype; `kinds`: by name of a parameter, its kind and whether it is output."""
    match = re.fullmatch(r"(\w+)\s+(\w+)\((.*)\)", prototype)
    if match is None:
        raise ValueError(f"cannot read the prototype {prototype!r}")
    returns, name, inside = match.groups()
    parameters = []
    for declaration in inside.split(", ") if inside != "void" else []:
        if "ldots" in declaration or declaration == "...":
            parameters.append(Parameter("...", "..."))
            continue
        parameter = re.search(r"(\w+)(\[[^\]]*\])*$", declaration)
        if parameter is None:
            raise ValueError(f"cannot read the parameter {declaration!r} of {name}")
        parameters.append(Parameter(declaration, parameter[1], *kinds.get(parameter[1], ("", False))))
    return Function(name, returns, tuple(parameters))
