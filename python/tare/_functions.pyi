"""What MPI functions mean: a module that the build generates from mpi/functions.toml (mpi/meanings.py)."""

# By name: class, form, waits, parameter of the peer, of the root, of a poll; lock, begins, ends, operation,
# source.
TABLE: dict[str, tuple[str, ...]]
