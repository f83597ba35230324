"""The notebooks in examples/ run from the first cell to the last, and show what they promise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from environments import PYTHON, ROOT, openmpi4
from nbclient import NotebookClient

EXAMPLES = ROOT / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))

# What their outputs have in them: of a run its tables, of a table a column, of a verb a sentence.
SHOWN = {
    "where_does_the_time_go": ("tables</th>", ">mpi_share<", ">imbalance_ns<", "solver-run.html"),
    "messages_and_waits": ("tables</th>", ">destination<", ">p99_us<", "late sender", ">wait_ns<"),
    "compare_two_runs": ("tables</th>", "net", ">longer<", ">spread_ns<", ">in_mpi_s<"),
}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def everything_shown(book: Any) -> str:
    """Texts and HTML of all outputs."""
    texts = []
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            texts.append(output.get("text", ""))
            texts += [output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")]
    return "\n".join(texts)


def test_each_notebook_is_known() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    book = read(path)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in a directory like the top of the sources, where nothing has run yet."""
    mpi = openmpi4()
    for name, program in {"tare": tare, "mpiexec": Path(mpi.mpiexec[0])}.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "build").symlink_to(ROOT / "build")
    environment = {
        **mpi.environ(),
        "PATH": os.pathsep.join([str(tmp_path / "bin"), str(PYTHON.parent), os.environ["PATH"]]),
        "JUPYTER_PATH": str(PYTHON.parents[1] / "share" / "jupyter"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    book = read(path)
    client = NotebookClient(book, timeout=240, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()  # CellExecutionError names the cell
    shown = everything_shown(book)
    assert [part for part in SHOWN[path.stem] if part not in shown] == []
    assert "stderr" not in {output.get("name") for cell in book.cells for output in cell.get("outputs", ())}
