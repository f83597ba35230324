"""Each rank works on a piece of what is to be done: pieces.py root|own

root  rank 0 prepares all pieces, one after the other, and sends each to its rank
own   each rank prepares its own
"""

import sys

from mpi4py import MPI

ROUNDS, SIZE = 20, 100_000


def prepare(piece: int) -> list[float]:
    """What is read and converted before the work can begin."""
    return [(piece + i) % 97 / 97.0 for i in range(SIZE)]


def work(piece: list[float]) -> float:
    """What the program is for."""
    return sum(value * value for value in piece)


def main(way: str) -> None:
    """Prints the sum over all pieces."""
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    total = 0.0
    for number in range(ROUNDS):
        if way == "own":
            piece = prepare(number * size + rank)
        elif rank == 0:
            for other in range(1, size):
                comm.send(prepare(number * size + other), dest=other)
            piece = prepare(number * size)
        else:
            piece = comm.recv(source=0)
        total += comm.allreduce(work(piece))
    if rank == 0:
        print(f"total {total:.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
