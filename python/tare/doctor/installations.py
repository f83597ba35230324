"""Finds the MPIs of this machine: launchers with the compiler wrappers beside them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tare import loader_cache, programs

Family = Literal["openmpi", "mpich", "intel", "unknown"]
VERSION_TIMEOUT_S = 20
C_WRAPPERS = ("mpicc", "mpiicx", "mpiicc")
ABI_WRAPPERS = ("mpicc_abi",)
FORTRAN_WRAPPERS = ("mpifort", "mpif90", "mpiifx", "mpiifort")
# Debian installs several MPIs side by side as mpiexec.openmpi, mpiexec.mpich.
LAUNCHER = re.compile(r"mpiexec(\.(?!hydra|gforker|remshell|py)\w+)?")
LIBRARY = re.compile(r"lib(mpi|mpich|mpi_abi)\.so\.\d+")
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI", "unknown": "MPI"}


@dataclass(frozen=True)
class Installation:
    """An installed MPI library."""

    family: Family
    version: str  # as the library or its launcher says it
    launcher: Path  # its mpiexec
    prefix: Path | None  # where it is installed; None: the loader finds its libraries without help

    @property
    def name(self) -> str:
        """Name and version of the MPI, as shown."""
        return f"{NAMES[self.family]} {self.version}".strip()

    def wrapper(self, names: Iterable[str]) -> Path | None:
        """The first of the compiler wrappers `names` that belongs to this launcher."""
        for name in names:
            path = self.launcher.with_name(name + self.launcher.suffix)
            if path.is_file() and os.access(path, os.X_OK):
                return path
        return None

    def environment(self) -> dict[str, str]:
        """Variables under which its wrappers, launcher and programs run, also as root."""
        result = dict(os.environ)
        result |= {
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        }
        if os.geteuid() == 0:
            for program in ("OMPI", "PRTE"):
                result[f"{program}_ALLOW_RUN_AS_ROOT"] = "1"
                result[f"{program}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        if self.prefix:
            result |= self._prefix_variables(self.prefix)
        return result

    def _prefix_variables(self, prefix: Path) -> dict[str, str]:
        lib = str(prefix / "lib")
        before = os.environ.get("LD_LIBRARY_PATH")
        result = {
            "PATH": f"{prefix / 'bin'}:{os.environ.get('PATH', os.defpath)}",
            "LD_LIBRARY_PATH": f"{lib}:{before}" if before else lib,
        }
        if self.family == "openmpi":
            result["OPAL_PREFIX"] = str(prefix)
        if self.family == "intel":
            result["I_MPI_ROOT"] = str(prefix)
            if not any((prefix / "lib").glob("libfabric*")):
                result["I_MPI_FABRICS"] = "shm"
        return result


def find(prefixes: Sequence[Path]) -> list[Installation]:
    """Every MPI below `prefixes`, in Python's own prefix and in PATH, each once."""
    found: dict[tuple[Path, str], Installation] = {}
    for launcher in _launchers(_bin_dirs(prefixes)):
        # Debian's mpiexec is a link to mpiexec.openmpi, which has the better name.
        target = launcher.resolve()
        if any(known == target for known, _ in found):
            continue
        family, version = identify(launcher)
        found[target, str(launcher)] = Installation(family, version, launcher, _prefix(launcher))
    return list(found.values())


def _bin_dirs(prefixes: Sequence[Path]) -> list[Path]:
    wanted = [prefix / "bin" for prefix in (*prefixes, Path(sys.prefix))]
    path = [Path(folder) for folder in programs.absolute_folders()]
    existing = [folder.absolute() for folder in [*wanted, *path] if folder.is_dir()]
    return list({folder.resolve(): folder for folder in reversed(existing)}.values())[::-1]


def _launchers(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        matching = [path for path in folder.glob("mpiexec*") if LAUNCHER.fullmatch(path.name)]
        yield from sorted(matching, key=lambda path: (not path.suffix, path.name))


def _prefix(launcher: Path) -> Path | None:
    prefix = launcher.parent.parent
    if prefix in (Path("/"), Path("/usr")):
        return None
    return prefix if any((prefix / "lib").glob("libmpi*.so*")) else None


def identify(launcher: str | Path) -> tuple[Family, str]:
    """Family and version of the MPI that a launcher belongs to, as it says itself."""
    text = programs.output([str(launcher), "--version"], VERSION_TIMEOUT_S)
    family: Family = "unknown"
    if "Intel(R) MPI" in text:
        family = "intel"
    elif re.search(r"OpenRTE|Open MPI|prte", text, re.IGNORECASE):
        family = "openmpi"
    elif re.search(r"HYDRA|MPICH", text, re.IGNORECASE):
        family = "mpich"
    version = re.search(r"\d+\.\d+(\.\d+)*", text)
    return family, version[0] if version else ""


def libraries_of_loader() -> list[Path]:
    """The MPI libraries in the loader's cache."""
    return sorted({path.resolve() for _, path in loader_cache.entries() if LIBRARY.fullmatch(path.name)})
