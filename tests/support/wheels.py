"""The wheels of `make wheel`, and what must be in them."""

from __future__ import annotations

import platform
import re
import subprocess
import zipfile
from pathlib import Path

from environments import ROOT

GLIBC = (2, 28)
# Beside these there is the loader, whose name has the processor's.
OF_GLIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
MAX_BYTES = 15e6
MODULES = ["_native", "_otf2", "_record"]


def wheel(tag: str, machine: str = platform.machine()) -> Path:
    """That for a Python and a processor; `make wheel` has built it."""
    (found,) = (ROOT / "dist").glob(f"tare_mpi-*-{tag}-*_{machine}.whl")
    return found


def check_content(of: Path, modules: str, into: Path, machine: str = platform.machine()) -> None:
    """It needs nothing but this C library, and has the licences of what is linked in.

    `modules`: the ends of the names of its modules.
    """
    assert of.name.endswith(f"-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}.whl")
    assert of.stat().st_size <= MAX_BYTES
    with zipfile.ZipFile(of) as content:
        content.extractall(into)
    objects = [path for path in into.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    names = {path.name for path in objects}
    assert {"libtare.so", "libtare_record.so.0", "libtare-reader.so.0", "tared"} <= names
    assert {name for name in names if name.startswith("_")} == {f"{name}.{modules}" for name in MODULES}
    loaders = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
    for path in objects:
        said = subprocess.run(["readelf", "-hdVW", path], capture_output=True, text=True, check=True).stdout
        assert re.search(r"Machine: .*" + machine.replace("_", "[-_]"), said, re.IGNORECASE), path
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", said))
        assert needed <= OF_GLIBC | {loaders[machine]}, path
        assert "PATH)" not in said, path
        versions = [tuple(map(int, v.split("."))) for v in re.findall(r"Name: GLIBC_([\d.]+)", said)]
        assert max(versions, default=GLIBC) <= GLIBC, path
        assert str(ROOT).encode() not in path.read_bytes(), path
    (licences,) = into.glob("*.dist-info/licenses/linked")
    texts = {path.name: path.read_text(errors="replace") for path in licences.iterdir()}
    for linked in ("zeromq3", "elfutils", "nanobind", "libzstd-dev", "libotf2-trace-dev", "libstdc++-12-dev"):
        assert "opyright" in texts[linked]
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in texts["LGPL-3"]
