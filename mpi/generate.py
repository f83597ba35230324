"""Generates the interposition layer, and the tables of what functions mean.

    generate.py FUNCTIONS_TOML OUTPUT_DIR [SOURCE_TOML...]

reads the MPI Forum's machine-readable API (standard.py), the table of functions (table.py), and those of
other sources of events (source.py), and writes into OUTPUT_DIR

    functions.inc   TARE_FUNCTION(name, counted) for every C function, in order of its number (1, 2, ...)
    meanings.inc    TARE_MEANING(name, class, form, waits, ...) in the same order, for C++ (meanings.py)
    sources.inc     TARE_SOURCE(name, number of its first function, number of functions), MPI first
    source_functions.inc  TARE_SOURCE_FUNCTION(name, arguments) for the functions of other sources
    source_meanings.inc   TARE_MEANING of these
    source_roles.inc      TARE_SOURCE_ROLE of those whose OTF2 role is given
    _functions.py   the table for Python (tare/_functions.py)
    wrappers.inc    one member function of Wrappers<A> per MPI function (wrappers.py)
    counted.inc     the same for look-up functions, whose calls are only counted
    sampled.inc     the same for functions whose messages can be sampled, with the roles for that
    sampled_functions.inc  TARE_SAMPLED(name) for each of them
    treatments.inc  TARE_TREATMENT(name, treatment, argument) by number, for the referee (treatments.py)
    types.inc       MPI's type names as aliases of those of an ABI page A
    stubs.inc       TARE_STUB name, number for every function: the exported symbols (src/arch/*/stubs.S)
    fortran_stubs.inc  the same for the names by which Fortran calls them
    not_wrapped.txt the pattern of symbols that are not to be wrapped, for tests

The output depends on the API and the tables alone.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import meanings as outputs
from roles import acts_if_idle, is_frequent, is_idle, is_sampled, roles, roles_where_sampled
from source import Source, of_sources, source_of
from standard import Function, functions, without_varargs
from table import TableError, checked, meanings
from treatments import treatment
from wrappers import counted_wrapper, wrapper


def types(of: list[Function]) -> list[str]:
    """Names of all MPI types that occur in prototypes."""
    text = " ".join(f.returns + " " + " ".join(p.declaration for p in f.parameters) for f in of)
    return sorted(set(re.findall(r"\bMPI_\w+", text)))


def generated(table: dict[str, Any], others: Sequence[Source] = ()) -> dict[str, list[str]]:
    """The lines of each file, by its name."""
    all_functions = functions(table["libraries"]["prototypes"])
    known = meanings(table["functions"], all_functions)
    counted = [each for each in known if each.kind == "lookup"]
    sampled = [each for each in known if is_sampled(each)]
    return {
        "functions.inc": [
            f"TARE_FUNCTION({each.function.name}, {str(each.kind == 'lookup').lower()})" for each in known
        ],
        "meanings.inc": outputs.for_cpp(known),
        **of_sources(len(known), others),
        "_functions.py": outputs.for_python(known, others),
        "wrappers.inc": [
            wrapper(without_varargs(each.function), roles(each), is_idle(each), frequent=is_frequent(each))
            for each in known
        ],
        "counted.inc": [
            counted_wrapper(without_varargs(each.function), calls_others=bool(each.calls)) for each in counted
        ],
        "sampled.inc": [
            wrapper(
                each.function,
                roles_where_sampled(each),
                is_idle(each),
                acts_if_idle=acts_if_idle(each),
                frequent=is_frequent(each),
            )
            for each in sampled
        ],
        "sampled_functions.inc": [f"TARE_SAMPLED({each.function.name})" for each in sampled],
        "treatments.inc": [
            "TARE_TREATMENT({}, {}, {})".format(each.function.name, *treatment(each)) for each in known
        ],
        "types.inc": [
            f"using {name} = typename A::{name.removeprefix('MPI_')};" for name in types(all_functions)
        ],
        "stubs.inc": [f"TARE_STUB {f.name}, {number}" for number, f in enumerate(all_functions, 1)],
        "fortran_stubs.inc": [
            f"TARE_STUB {f.name.lower()}_, {number}" for number, f in enumerate(all_functions, 1)
        ],
        "not_wrapped.txt": [table["libraries"]["not_wrapped"]],
    }


def write(path: Path, lines: list[str]) -> None:
    """Writes a file, and leaves an equal one untouched so that nothing is built again for it."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    at = source
    try:
        table = checked(tomllib.loads(source.read_text()))
        others = []
        for at in map(Path, sys.argv[3:]):
            others.append(source_of(tomllib.loads(at.read_text())))
        files = generated(table, others)
    except (TableError, ValueError) as error:
        raise SystemExit(f"{at.name}: {error}") from None
    output.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        write(output / name, lines)


if __name__ == "__main__":
    main()
