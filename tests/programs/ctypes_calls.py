"""ctypes_calls LIBRARY: a known number of calls of MPI from ctypes, which opens the library locally."""

import ctypes
import sys
from ctypes import byref, c_char_p, c_int, c_void_p

BARRIERS, ROUNDS = 5, 7

library = ctypes.CDLL(sys.argv[1])
assert not hasattr(library, "MPI_No_such_function")
assert not hasattr(ctypes.CDLL(None), "MPI_Init"), "MPI is nowhere in the program's own search order"

version, subversion = c_int(), c_int()
assert library.MPI_Get_version(byref(version), byref(subversion)) == 0
assert version.value >= 3


def handle(openmpi: str, mpich: int, standard: int) -> object:
    if hasattr(library, "ompi_mpi_comm_world"):
        return c_void_p(ctypes.addressof(c_void_p.in_dll(library, openmpi)))
    return c_void_p(standard) if "libmpi_abi" in sys.argv[1] else c_int(mpich)


world = handle("ompi_mpi_comm_world", 0x44000000, 0x101)
byte = handle("ompi_mpi_byte", 0x4C00010D, 0x207)
status = ctypes.create_string_buffer(64)
rank, size = c_int(), c_int()

assert library.MPI_Init(None, None) == 0
assert library.MPI_Comm_rank(world, byref(rank)) == 0
assert library.MPI_Comm_size(world, byref(size)) == 0
for _ in range(BARRIERS):
    assert library.MPI_Barrier(world) == 0
mine, other = c_char_p(b"abcde"), ctypes.create_string_buffer(5)
after, before = (rank.value + 1) % size.value, (rank.value - 1) % size.value
for _ in range(ROUNDS):
    send = (mine, c_int(5), byte, c_int(after), c_int(1))
    receive = (other, c_int(5), byte, c_int(before), c_int(1))
    assert library.MPI_Sendrecv(*send, *receive, world, status) == 0
assert other.raw == b"abcde"
assert library.MPI_Finalize() == 0
