"""The marks of tests that run on some of the MPI libraries only: what they test is the same on all."""

from __future__ import annotations

import pytest
from environments import MpiEnvironment, mpich4, mpich5, openmpi4


def on(*libraries: MpiEnvironment) -> pytest.MarkDecorator:
    """The mark of tests that run on these."""
    return pytest.mark.parametrize("mpi", libraries, ids=lambda env: env.name, indirect=True)


on_openmpi = on(openmpi4())
on_mpich = on(mpich5())
both_families = on(openmpi4(), mpich5())
both_debian = on(openmpi4(), mpich4())
