"""No two types of a namespace have the same name: that would violate the one-definition rule."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from environments import ROOT

COMMENT, TEXT, LETTER = r"//[^\n]*|/\*.*?\*/", r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])'"
NO_CODE = re.compile(rf"{COMMENT}|{TEXT}|{LETTER}|^[ \t]*#[^\n]*", re.S | re.M)
TOKEN = re.compile(r"\w+|::|\S")
NAMESPACE = re.compile(r"(?:inline )?namespace(?: (.+))?$")
KEYWORD = r"(?:struct|class|union|enum(?: class)?)"
TYPE = re.compile(rf"(?:template <.*> )?{KEYWORD} ([\w: ]+?)(?: final)?(?: : .*)?$")
UNNAMED = "(unnamed)"


def types(code: str) -> Iterator[str]:
    """Full names of the types that the code defines outside of functions; specialisations have none."""
    scopes: list[str | None] = []  # "" of extern "C", None of a function or an initialiser
    words: list[str] = []
    for token in TOKEN.findall(NO_CODE.sub(" ", code)):
        if token == "{":
            text = re.sub(r"\[ \[.*?\] \] ?|alignas \(.*?\) ", "", " ".join(words))
            scope: str | None = "" if text == "extern" else None
            if found := NAMESPACE.match(text):
                scope = (found[1] or UNNAMED).replace(" ", "")
            elif (found := TYPE.match(text)) and None not in scopes:
                scope = found[1].replace(" ", "")
                yield "::".join([*filter(None, scopes), scope])
            scopes.append(scope)
        elif token == "}" and scopes:
            scopes.pop()
        if token in "{};" or (token == ":" and words[-1:] in (["public"], ["protected"], ["private"])):
            words = []
        else:
            words.append(token)


def defined_twice(files: dict[str, str]) -> dict[str, list[str]]:
    places: dict[str, list[str]] = defaultdict(list)
    for name, code in files.items():
        for each in types(code):
            if UNNAMED not in each:
                places[each].append(name)
    return {name: found for name, found in places.items() if len(found) > 1}


def sources(folder: Path) -> dict[str, str]:
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".hpp", ".cpp")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


def test_each_type_is_defined_once() -> None:
    files = sources(ROOT / "src")
    # A library has the files of one processor.
    files = {name: code for name, code in files.items() if not name.startswith("src/arch/aarch64/")}
    assert sum(1 for code in files.values() for _ in types(code)) > 1000
    assert defined_twice(files) == {}


def test_types_are_found_in_their_scopes() -> None:
    code = """
    #include "x.h"  // struct No {
    namespace a::b {
    namespace { struct Hidden {}; }
    template <class T> struct Box final : Base<T> {
      enum class Kind : int { one };
      void f() { struct Local {}; }
    };
    template <> struct Box<int> {};
    struct alignas(64) Line { int x[2] = {}; };
    class [[nodiscard]] Last {
     public:
      struct Inner { int y; } inner;
    };
    }
    extern "C" { struct plain { const char* text = "{"; }; }
    """
    assert list(types(code)) == [
        "a::b::(unnamed)::Hidden",
        "a::b::Box",
        "a::b::Box::Kind",
        "a::b::Line",
        "a::b::Last",
        "a::b::Last::Inner",
        "plain",
    ]


def test_a_second_definition_is_noticed() -> None:
    one, other = "namespace a { struct X { int x; }; }", "namespace a { enum class X { one }; }"
    assert defined_twice({"x.h": one, "y.h": other}) == {"a::X": ["x.h", "y.h"]}
    assert defined_twice({"x.h": one, "y.h": f"namespace b {{ {one} }}"}) == {}
