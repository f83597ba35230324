"""Commands that keep the preloaded library from their program."""

from __future__ import annotations

import pytest
from tare import preloading


@pytest.mark.parametrize(
    ("command", "taken"),
    [
        ("mpiexec -n 2 ./app -env", ""),
        ("mpiexec -x LD_PRELOAD=libjemalloc.so -n 2 ./app", "LD_PRELOAD=libjemalloc.so"),
        ("mpiexec -genv LD_PRELOAD libjemalloc.so -n 2 ./app", "-genv LD_PRELOAD"),
        ("mpiexec -env OMP_NUM_THREADS 2 ./app", ""),
        ("/usr/bin/srun --export=NONE ./app", "--export=NONE"),
        ("srun --export=A,B=c ./app", "--export=A,B=c"),
        ("srun --export=ALL,B=c ./app", ""),
        ("srun --export=ALL,LD_PRELOAD=libm.so ./app", "--export=ALL,LD_PRELOAD=libm.so"),
        ("mpiexec ./app --export=vtk", ""),
        ("mpiexec /bin/env -i ./app", "/bin/env -i"),
        ("env -u LD_PRELOAD ./app", "env -u LD_PRELOAD"),
        ("env --unset=LD_PRELOAD ./app", "env --unset=LD_PRELOAD"),
    ],
)
def test_what_in_a_command_takes_the_environment_is_named(command: str, taken: str) -> None:
    assert preloading.taken_by(command.split()) == taken
