"""api_page.py: prints the page of the API's functions, which docstrings and headers describe."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import tare
from tare import api

HEADERS = Path(__file__).parents[1] / "include" / "tare"
# arrow.h is Arrow's own, and what tare.hpp has repeats tare.h.
OF_C = ("tare.h", "reader.h", "sampling.h", "filter.h")
READING = ("open", "send", "request_round")
TYPES = (api.ControlMessage, api.SweetSpot)
BEGIN, END = 'extern "C" {\n#endif\n', "#ifdef __cplusplus\n}"
EXPORTED = re.compile(r"\bTARE_(?:READER_)?API ")
COMMENT = re.compile(r"/\*(.*?)\*/\n*", re.DOTALL)
FUNCTION = re.compile(r"^\w.*?\b(tare_\w+)\(", re.MULTILINE)
TYPE = re.compile(r"^typedef (?:struct|enum) (tare_\w+)", re.MULTILINE)


def prose(comment: str) -> str:
    """The text of a comment in Markdown."""
    lines = [re.sub(r"^ \* ?", "", line).rstrip() for line in comment.strip().splitlines()]
    return re.sub(r"[*<]", r"\\\g<0>", "\n".join(lines))


def of_header(name: str) -> Iterator[str]:
    """What a header says of itself, and of each group of declarations."""
    text = (HEADERS / name).read_text("utf-8")
    about = COMMENT.match(text)
    assert about, name
    yield f"## tare/{name}\n\n{prose(about[1])}"
    for block in text.partition(BEGIN)[2].partition(END)[0].strip().split("\n\n"):
        said = COMMENT.match(block)
        code = EXPORTED.sub("", block[said.end() :] if said else block).strip()
        names = [*TYPE.findall(code), *FUNCTION.findall(code)]
        if names:
            yield "### " + ", ".join(f"`{each}`" for each in names)
        if said:
            yield prose(said[1])
        if code:
            yield f"```c\n{code}\n```"


def signature(function: Callable[..., object]) -> str:
    """What stands in the source, as far as it says how the function is called."""
    found = ast.parse(inspect.getsource(function)).body[0]
    assert isinstance(found, ast.FunctionDef) and found.returns
    called = f"{found.name}({ast.unparse(found.args)}) -> {ast.unparse(found.returns)}"
    return called.replace("_record.", "")


def of_python() -> Iterator[str]:
    """What each function of the package says of itself."""
    yield f"## Python\n\n{inspect.getdoc(api)}"
    for name in (*READING, *tare.__all__):
        function = getattr(tare, name)
        yield f"### `tare.{name}`\n\n```python\n{signature(function)}\n```\n\n{inspect.getdoc(function)}"
    for type_ in TYPES:
        yield f"### `{type_.__name__}`\n\n```python\n{inspect.getsource(type_).rstrip()}\n```"


def main() -> None:
    """Prints the page."""
    about = "[api.md](api.md) shows how they are used, and names those of C++ and Fortran."
    print(f"# Functions of the API\n\nThis is what docstrings and headers say. {about}")
    for part in (*of_python(), *(part for name in OF_C for part in of_header(name))):
        print(f"\n{part}")


if __name__ == "__main__":
    main()
