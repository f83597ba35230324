"""Files of another Debian, its roots (tools/root.sh), and Debian's MPI libraries there.

With TARE_TEST_MACHINE=aarch64 tests run on that processor, which is emulated, after `make test-aarch64` has
made what is needed. Programs are compiled here, by Debian's cross compiler, and run in a root, under qemu. So
does the verb run, of the wheel for it; the others are those of this machine, and read what it recorded.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from environments import MACHINE, ROOT, MpiEnvironment
from wheels import wheel

ROOTS = ROOT / "build" / "roots"
IN_ROOT = ROOT / "tests" / "support" / "in_root.sh"
EMULATED = ROOTS / MACHINE
PREFIX = ROOTS / f"{MACHINE}-prefix"  # of what is installed for tests
TARE = """#!/bin/sh
case $1 in
    run) exec {in_root} env PYTHONPATH={packages} python3 -m tare "$@" ;;
    *) exec {here} "$@" ;;
esac
"""


def emulated(env: MpiEnvironment) -> MpiEnvironment:
    """The same library of Debian for the processor that is emulated."""
    triple = f"{MACHINE}-linux-gnu"
    library = EMULATED / "usr/lib" / triple
    if env.family == "openmpi":
        flags = [f"-isystem{library}/openmpi/include", f"-L{library}/openmpi/lib", "-lmpi"]
    else:
        flags = [
            f"-isystem{EMULATED}/usr/include/{triple}/mpich",
            f"-L{_beside_nothing(library / 'libmpich.so')}",
            "-lmpich",
        ]
    flags.append(f"-Wl,-rpath-link,{library}")
    return replace(
        env,
        cc=[f"/usr/bin/{triple}-gcc", *flags],
        cxx=[f"/usr/bin/{triple}-g++", *flags],
        fc=None,
        fortran_bindings=(),
        mpi4py=False,
        mpiexec=[str(IN_ROOT), str(EMULATED), *env.mpiexec],
        library=library / env.library.name,
        env={name: value for name, value in env.env.items() if name.startswith("OMPI")},
    )


def _beside_nothing(library: Path) -> Path:
    """A folder in which it is alone: beside it is the C library of the root, which is not linked here."""
    folder = PREFIX / "link"
    link = folder / library.name
    if not link.is_symlink():
        folder.mkdir(parents=True, exist_ok=True)
        link.symlink_to(library)
    return folder


def compiled_in(root: Path, env: MpiEnvironment, scripts: Path) -> MpiEnvironment:
    """The same library of another Debian of this processor, whose compiler makes programs there."""
    script = scripts / f"mpicc-{env.name}"
    script.write_text(f'#!/bin/sh\nexec {IN_ROOT} {root} {env.cc[0]} "$@"\n')
    script.chmod(0o755)
    return replace(
        env,
        cc=[str(script)],
        env={name: value for name, value in env.env.items() if name.startswith("OMPI")},
    )


def tare() -> Path:
    """A command that is `tare` there, as the docstring of this file says; of the newest wheel."""
    of = wheel("cp311-cp311", MACHINE)
    packages, script = PREFIX / "lib/python3.11/site-packages", PREFIX / "bin/tare"
    if not script.exists() or script.stat().st_mtime < of.stat().st_mtime:
        platforms = (f"--platform=manylinux_2_{glibc}_{MACHINE}" for glibc in (28, 27, 17))
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", f"--target={packages}",
             "--only-binary=:all:", "--python-version=3.11", *platforms, of],
            check=True,
        )  # fmt: skip
        here = ROOT / ".venv" / "bin" / "tare"
        script.parent.mkdir(exist_ok=True)
        script.write_text(TARE.format(in_root=f"{IN_ROOT} {EMULATED}", packages=packages, here=here))
        script.chmod(0o755)
    return script
