"""What packages register: found, named where it is broken, and never in the way of the rest."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fake_tare import fake_command, fake_environment
from tare import registry
from tare.analysis.explain import explain
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.losses import Losses
from tare.errors import CommandError

Package = Callable[..., None]

STENCIL = Path(__file__).parent.parent / "data" / "v1" / "stencil"


def write_package(place: Path, name: str, entry_points: str, code: str = "", version: str = "1.0") -> None:
    metadata = place / f"{name}-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text(entry_points)
    (place / f"{name}.py").write_text(code)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Installs a package for this process, and only these."""
    caches = (registry._registered, registry._of_packages)
    monkeypatch.setattr("sys.path", [str(tmp_path / "first"), str(tmp_path / "second")])

    def install(name: str, entries: str, code: str = "", place: str = "first", version: str = "1.0") -> None:
        write_package(tmp_path / place, name, entries, code, version)
        for cache in caches:
            cache.cache_clear()

    yield install
    for cache in caches:
        cache.cache_clear()


def run_with(place: Path, *arguments: str | Path) -> tuple[int, str, str]:
    environment = fake_environment()
    environment["PYTHONPATH"] += f":{place}"
    done = subprocess.run(
        fake_command(*arguments), env=environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


def test_all_that_tare_registers_can_be_loaded() -> None:
    groups = (registry.VERBS, registry.EXPORTERS, registry.FINDINGS, registry.PAGES)
    found = [entry for group in groups for entry in registry.entries(group).values() if not entry.package]
    assert len(found) > 30
    assert all(entry.load() is not None for entry in found)


def test_entries_are_read_as_they_are_written(package: Package) -> None:
    package(
        "some_tool",
        "[console_scripts]\nx = y:z\n[ tare.verbs ]\nhello = some_tool : hello [extra]\n; a = b:c\n"
        "[tare.exporters]\nmine=some_tool:Formats.mine\n",
        "class Formats:\n    mine = 7\n",
    )
    assert list(registry.entries(registry.VERBS))[-1] == "hello"
    mine = registry.find(registry.EXPORTERS, "mine")
    assert mine is not None
    assert (mine.package, mine.load()) == ("some-tool", 7)
    assert registry.find(registry.VERBS, "x") is None


def test_of_two_copies_of_a_package_the_first_counts(package: Package) -> None:
    package("one", "[tare.verbs]\nnew = one:new\n", version="2.0")
    package("one", "[tare.verbs]\nold = one:old\n", place="second")
    assert registry.find(registry.VERBS, "new") is not None
    assert registry.find(registry.VERBS, "old") is None


def test_a_name_that_is_taken_is_not_used(package: Package) -> None:
    package("first", "[tare.verbs]\ninfo = first:info\nmine = first:mine\n")
    package("second", "[tare.verbs]\nmine = second:mine\n")
    assert registry.entries(registry.VERBS)["info"].package == ""
    assert registry.entries(registry.VERBS)["mine"].package == "first"
    assert registry.taken(registry.VERBS) == [
        "the verb 'info' of the package 'first' is not used: tare has one of that name",
        "the verb 'mine' of the package 'second' is not used: first has one of that name",
    ]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nowhere", "cannot be loaded: ModuleNotFoundError: No module named 'nowhere' ({place}:1)"),
        ("x =", "cannot be loaded: SyntaxError: invalid syntax (broken.py, line 1)"),
        ("raise SystemExit(7)", "cannot be loaded: SystemExit: 7 ({place}:1)"),
        ("", "cannot be loaded: AttributeError: module 'broken' has no attribute 'hello'"),
        ("hello = 3", "failed: TypeError: 3 is not a "),
        ("def hello(x): pass", "failed: KeyError: 'x'"),
        ("def hello():\n    raise ValueError('two\\nlines')", "failed: ValueError: two lines ({place}:2)"),
        ("def hello():\n    return 'text'", "failed: TypeError: 'text' is no exit code"),
    ],
)
def test_a_broken_verb_is_named_in_one_line_and_breaks_no_other(tmp_path: Path, code: str, why: str) -> None:
    write_package(tmp_path, "broken", "[tare.verbs]\nhello = broken:hello\n", code)
    status, shown, said = run_with(tmp_path, "hello")
    line = f"tare: the verb 'hello' of the package 'broken' {why.format(place=tmp_path / 'broken.py')}"
    assert (status, shown, len(said.splitlines())) == (1, "", 1)
    assert said.startswith(line)
    status, shown, said = run_with(tmp_path, "--help")
    assert (status, said) == (0, "")
    assert "\n  info " in shown
    assert "\n  hello " in shown
    assert run_with(tmp_path, "--version")[0] == 0


def test_a_verb_of_a_package_ends_as_it_says(tmp_path: Path) -> None:
    code = "from tare.errors import UsageError\n\ndef hello():\n    raise UsageError('not so')\n"
    write_package(tmp_path, "polite", "[tare.verbs]\nhello = polite:hello\n", code)
    assert run_with(tmp_path, "hello") == (2, "", "tare: not so\n")
    status, _, said = run_with(tmp_path, "helo")
    assert (status, said) == (2, "tare: no such command: 'helo'; do you mean 'hello'?\n")


class NothingYet:
    """A basis without waits, of which tare's own analyses find nothing."""

    waits: tuple[()] = ()


def limits(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[str]]:
    """What the analyses of packages find, and what is noted."""
    own = {key: entry for key, entry in registry._own().items() if key[0] != registry.FINDINGS}
    monkeypatch.setattr(registry, "_own", lambda: own)
    notes: list[str] = []
    told = Told([], Losses([]))
    explain._look(cast(Basis, SimpleNamespace()), told, notes)
    return told.findings, notes


def test_findings_of_packages_are_found_in_their_order(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "from tare.analysis.explain.finding import Finding\n"
        "def first(basis, told):\n yield Finding(kind='a', sentence='A.', share=1, lost_ns=2.5, ranks=[0])\n"
        "def second(basis, told):\n    return [Finding(kind='b', sentence=told.findings[0].kind)]\n"
    )
    package("finds", "[tare.findings]\na = finds:first\nb = finds:second\n", code)
    found, notes = limits(monkeypatch)
    assert [(each.kind, each.sentence) for each in found] == [("a", "A."), ("b", "a")]
    assert notes == []


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("return 3", "TypeError: 'int' object is not iterable"),
        ("return ['late']", "TypeError: 'late' is no Finding"),
        ("return [Finding(kind='x')]", "ValueError: a finding has no sentence"),
        (
            "return [Finding(kind='x', sentence='X.', share=float('nan'))]",
            "ValueError: share of a finding is nan",
        ),
        (
            "return [Finding(kind='x', sentence='X.', share=1.5)]",
            "ValueError: share of a finding is 1.5, which",
        ),
        ("return [Finding(kind='x', sentence='X.', share='5 %')]", "TypeError: share of a finding is '5 %'"),
        ("return [Finding(kind='x', sentence='X.', share=None)]", "TypeError: share of a finding is None"),
        ("return [Finding(kind='x', sentence='X.', lost_ns=-1)]", "ValueError: lost_ns of a finding is -1"),
        (
            "return [Finding(kind='x', sentence='X.', lost_ns=1e999)]",
            "ValueError: lost_ns of a finding is inf",
        ),
        ("return [Finding(kind='x', sentence=3)]", "TypeError: sentence of a finding is 3, and no str"),
        ("return [Finding(kind='x', sentence='X.', at=3)]", "TypeError: at of a finding is 3, and no Placed"),
        (
            "return [Finding(kind='x', sentence='X.', ranks=('1',))]",
            "TypeError: ranks of a finding is ('1',), and",
        ),
        ("return [Finding(kind={1}, sentence='X.')]", "TypeError: kind of a finding is {1}, and no str"),
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("raise CommandError('no such thing')", "no such thing"),
    ],
)
def test_a_broken_finding_is_a_note_and_the_others_are_found(
    package: Package, monkeypatch: pytest.MonkeyPatch, code: str, why: str
) -> None:
    module = f"broken_finding_{abs(hash(code))}"
    imports = "from tare.analysis.explain.finding import Finding\nfrom tare.errors import CommandError\n"
    good = "def good(basis, told):\n    return [Finding(kind='a', sentence='A.')]\n"
    package(
        module,
        f"[tare.findings]\nbad = {module}:bad\ngood = {module}:good\n",
        f"{imports}def bad(basis, told):\n    {code}\n{good}",
    )
    found, notes = limits(monkeypatch)
    assert [each.kind for each in found] == ["a"]
    assert len(notes) == 1
    assert notes[0].startswith("The finding 'bad' of the package 'broken-finding-")
    assert f"' failed: {why}" in notes[0]


def test_an_exporter_that_is_not_there_is_named(package: Package) -> None:
    package("half", "[tare.exporters]\nhalf = half:HALF\n")
    entry = registry.entries(registry.EXPORTERS)["half"]
    with pytest.raises(CommandError, match="the exporter 'half' of the package 'half' cannot be loaded"):
        entry.load()


EXPORTERS = """
from tare.exporters import Exporter

def crashing(run, to, part):
    to.write_text("half")
    raise OSError(28, "No space left on device", str(to))

def whole(run, to, part):
    to.write_text("all of it")
    return "1 line"

CRASHING, WHOLE = Exporter(".x", crashing), Exporter(".x", whole)
SILENT = Exporter(".x", lambda run, to, part: "nothing")
STRAY = whole
"""


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Exports a stored run to `out.x`, in the format of a package."""
    names = ("crashing", "whole", "silent", "stray")
    entries = "".join(f"{name} = formats:{name.upper()}\n" for name in names)
    write_package(tmp_path / "packages", "formats", f"[tare.exporters]\n{entries}", EXPORTERS)
    (tmp_path / "new").mkdir()

    def run(kind: str) -> tuple[int, str, str]:
        out = tmp_path / "new" / "out.x"
        return run_with(tmp_path / "packages", "export", STENCIL, "--to", kind, "-o", out)

    return run


def test_what_an_exporter_has_half_written_does_not_stay(
    export: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out.x"
    code, shown, error = export("crashing")
    assert (code, shown) == (1, "")
    assert "the exporter 'crashing' of the package 'formats' failed: OSError" in error
    assert f"No space left on device: '{out}'" in error
    assert not list(out.parent.iterdir())
    assert export("whole")[:2] == (0, f"{out}: 1 line, 9 B\n")
    assert [file.name for file in out.parent.iterdir()] == ["out.x"]


def test_an_exporter_that_writes_nothing_has_failed(
    export: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out.x"
    what = f"tare: the exporter 'silent' of the package 'formats' has not written {out}\n"
    assert export("silent") == (1, "", what)
    assert not list(out.parent.iterdir())


def test_what_is_no_exporter_is_refused(export: Callable[..., tuple[int, str, str]]) -> None:
    what = "tare: the exporter 'stray' of the package 'formats' is no tare.exporters.Exporter\n"
    assert export("stray") == (1, "", what)
