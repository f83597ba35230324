"""There is one way to open what lies in a run directory, in each language, and one to open DuckDB.

Every other place that opens a file is named here, with what it opens: it is a file that the user names, or of
the system, or of tare itself, and none that somebody else has put into a run.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from environments import ROOT

PACKAGE = ROOT / "python" / "tare"
METHODS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
FUNCTIONS = {"open", "os.open", "io.open", "shutil.copy", "shutil.copyfile", "shutil.move"}
# Methods of these names that open by the one way.
OF_TARE = {"self.open", "webbrowser.open"}
# By file: what it opens.
PYTHON = {
    "private_files.py": "the one way",
    "commands/__init__.py": "the output that the user has named",
    "lab/study/verbs.py": "the new description that the user names; tare's own template",
    "doctor/machine.py": "/proc and /sys",
    "loader_cache.py": "the loader's cache",
    "measuring/fan_out.py": "the node file of a batch system",
    "measuring/source_sites.py": "the executable that the user starts",
    "measuring/sweet_spots.py": "the cache in the user's home",
    "measuring/unseen.py": "the executable that the user has started",
    "page/document.py": "tare's own scripts",
    "reporters/stacks.py": "the output that the user names",
    "runs/archive.py": "the archive that the user names",
    "runs/runner.py": "/proc",
    "registry.py": "what tare registers; the metadata of installed packages",
    "streams.py": "/dev/null",
    "lab/study/document.py": "the description that the user names",
    "lab/study/provenance.py": "programs and libraries, when a study runs; /proc",
    "tables/dataset.py": "the output that the user names, a new directory",
    "lab/study/page.py": "tare's own script",
    "lab/study/runner.py": "the new directory of a run of a study; /proc",
    "viewers/perfetto.py": "the first page of an installed package",
}
NATIVE = {
    "format/liveness.cpp": "/proc",
    "format/machine.cpp": "/proc",
    "exporters/output_file.cpp": "the output that the user names, a new file",
    "importers/run_file.cpp": "the file of the new run directory",
    "keeper/keeper.cpp": "/dev/null",
    "mpi/interposition/unseen.cpp": "the executables that the process has loaded",
    "reader/run/endings.cpp": "/proc",
    "reader/store/archive.cpp": "the archive that the user names, and what is taken out of it",
    "reader/store/mapped_file.cpp": "the archive or trace that the user names",
    "reader/store/run_directory.cpp": "the one way",
    "reader/store/segment_file.cpp": (
        1,
        "segments, which lie where everybody may make files: O_NOFOLLOW, Owners",
    ),
    "reader/symbols/debug_file.cpp": "executables, which lie anywhere: O_NONBLOCK",
    "files/descriptors.cpp": "what the program opens: its own calls, which are passed on",
    "recorder/kept_directories.cpp": "the directories of the run, for a program that calls chroot",
    "recorder/system.cpp": "the one way in the measured process: O_NOFOLLOW, is_ours()",
    "tared/boi/spot_book.cpp": "the meeting place of the run that goes on, which only this user can enter",
    "tared/open_segment.cpp": "segments: O_NOFOLLOW, and only this user's",
    "tared/own_file.cpp": "the one way in the meeting place: O_NOFOLLOW, and only this user's",
    "tared/sweetspot/main.cpp": "/proc",
    "tared/tared.cpp": "/dev/null",
    "tared/tree/rendezvous.cpp": "/proc, and the directory of sockets: O_NOFOLLOW",
    "timing/timing.cpp": "the new directory of a run of a study",
}
OPENS = re.compile(
    r"\b(?:open|openat|creat)\([^;{}]*?\bO_[A-Z]+|\bf(?:re)?open\(|\bSYS_openat2?\b|\bstd::[io]?fstream\b"
)
CONNECTS = re.compile(r"duckdb\.connect\(|module\(\)\.connect\(|ATTACH ")


def opens(file: Path) -> bool:
    calls = [node.func for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return any(
        ast.unparse(each) in FUNCTIONS or (isinstance(each, ast.Attribute) and each.attr in METHODS)
        for each in calls
        if isinstance(each, ast.Name | ast.Attribute) and ast.unparse(each) not in OF_TARE
    )


def test_python_opens_files_in_known_places() -> None:
    found = {str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py") if opens(file)}
    assert found == set(PYTHON)


def test_native_code_opens_files_in_known_places() -> None:
    found = set()
    for file in (ROOT / "src").rglob("*"):
        if (
            file.suffix in (".cpp", ".h", ".c")
            and not file.stem.endswith("_test")
            and "testing" not in file.parts
        ):
            code = re.sub(r"//.*", "", file.read_text("utf-8"))
            if OPENS.search(code):
                found.add(str(file.relative_to(ROOT / "src")))
    assert found == set(NATIVE)


def test_one_module_opens_duckdb() -> None:
    connecting = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        if CONNECTS.search(re.sub(r'""".*?"""', "", file.read_text("utf-8"), flags=re.DOTALL))
    }
    assert connecting == {"databases.py"}
