"""`tare run` and `tare info` name the processes that used MPI without a call that was seen, and say why."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, mpich4
from measured import PROGRAMS
from on_mpi import both_debian, on
from verbs import ask


def unseen(tare: Path, directory: Path, argv: list[Path | str], **environment: str) -> tuple[str, Any]:
    """What `tare run` prints, and what `tare info` says in full, of a process without a launcher."""
    variables = [f"{name}={value}" for name, value in environment.items()]
    command = [tare, "run", "-o", directory, "--", "env", *variables, *argv]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    text = ask(tare, "info", directory, check=True).stdout
    done = ask(tare, "info", "--json", directory, check=True)
    rows = json.loads(done.stdout)["unseen"]
    assert ("UNSEEN" in text) == bool(rows)
    return " ".join(ended.stderr.split()), rows


def build(out: Path, source: str, *flags: str) -> Path:
    subprocess.run(["gcc", "-g", *flags, "-o", out, PROGRAMS / source], check=True)
    return out


@both_debian
def test_references_bound_past_tare(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    plugin = compile_c(mpi, [PROGRAMS / "dlopened_plugin.c"], tmp_path / "libplugin.so", "-shared", "-fPIC")
    program = compile_c(mpi, [PROGRAMS / "dlopened.c"], tmp_path / "dlopened", "-Wl,--as-needed")
    argv: list[Path | str] = [program, "past", mpi.library, plugin]
    said, rows = unseen(tare, tmp_path / "run", argv, **mpi.env)
    (row,) = rows
    assert (row["reason"], row["executable"], row["about"]) == ("bypassed", str(program), str(plugin))
    assert row["processes"] == 1
    assert "1 process of dlopened" in said and "RTLD_DEEPBIND" in said


@both_debian
def test_a_library_that_is_only_loaded(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "dlopened.c"], tmp_path / "dlopened", "-Wl,--as-needed")
    said, rows = unseen(tare, tmp_path / "run", [program, "only", mpi.library], **mpi.env)
    assert rows == []
    assert "no process of this command recorded a call of MPI" in said


@on(mpich4())
def test_mpi_in_a_namespace_of_its_own(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Open MPI does not work there, with or without tare."""
    program = compile_c(mpi, [PROGRAMS / "dlopened.c"], tmp_path / "dlopened", "-Wl,--as-needed")
    said, rows = unseen(tare, tmp_path / "run", [program, "namespace", mpi.library], **mpi.env)
    (row,) = rows
    assert (row["reason"], row["executable"]) == ("namespace", str(program))
    assert Path(row["about"]).samefile(mpi.library)
    assert "in a namespace of its own" in said and "dlmopen" in said


def test_mpi_in_the_executable(tare: Path, tmp_path: Path) -> None:
    program = build(tmp_path / "own_mpi", "own_mpi.c")
    said, rows = unseen(tare, tmp_path / "run", [program], PMI_RANK="0")
    assert [(row["reason"], row["executable"]) for row in rows] == [("linked-in", str(program))]
    assert "MPI is linked into the executable" in said


def test_a_static_executable(tare: Path, tmp_path: Path) -> None:
    program = build(tmp_path / "own_mpi", "own_mpi.c", "-static")
    said, rows = unseen(tare, tmp_path / "run", [program], PMI_RANK="0")
    assert [(row["reason"], row["executable"]) for row in rows] == [("static", str(program))]
    assert "own_mpi: is statically linked" in said


def test_a_setuid_executable(tare: Path, tmp_path: Path) -> None:
    """The loader preloads nothing into a program that gets the rights of another user."""
    if os.geteuid() != 0:
        pytest.skip("needs to give a file to another user")
    program = build(tmp_path / "own_mpi", "own_mpi.c")
    os.chown(program, 65534, -1)
    program.chmod(0o4755)
    if os.statvfs(program).f_flag & os.ST_NOSUID:
        pytest.skip(f"{tmp_path} is on a file system without setuid programs")
    said, rows = unseen(tare, tmp_path / "run", [program], PMI_RANK="0")
    assert [(row["reason"], row["executable"]) for row in rows] == [("setuid", str(program))]
    assert "own_mpi: is setuid or setgid" in said
    program.chmod(0o755)  # it is that alone
    said, rows = unseen(tare, tmp_path / "again", [program], PMI_RANK="0")
    assert [row["reason"] for row in rows] == ["linked-in"]
