"""A known number of mpi4py calls, from known lines; 2 ranks; prints "ok".

For "expect" see c_calls.c. mpi4py may call the form for large counts (MPI_Send_c for MPI_Send), which
counts as the same. Lower-case methods send pickles, whose sizes are not compared.
"""

# fmt: off
# ruff: noqa: E501
from array import array

from mpi4py import rc

rc.initialize = False
rc.finalize = False
from mpi4py import MPI  # noqa: E402


def main() -> None:
    MPI.Init()  # expect: MPI_Init calls=1
    world = MPI.COMM_WORLD
    for _ in range(3):
        rank = world.Get_rank()  # expect: MPI_Comm_rank calls=3+ lookup
    assert world.Get_size() == 2
    peer = 1 - rank
    out, into = array("d", [1.0] * 1000), array("d", [0.0] * 1000)
    upper_case(world, rank, peer, out, into)
    lower_case(world, rank, peer)
    if rank == 0:
        print("ok")
    MPI.Finalize()  # expect: MPI_Finalize calls=1


def upper_case(world: MPI.Intracomm, rank: int, peer: int, out: "array[float]", into: "array[float]") -> None:
    hundred, ten = memoryview(out)[:100], memoryview(out)[:10]
    if rank == 0:
        for _ in range(10):
            world.Send(hundred, peer, 1)  # expect: MPI_Send calls=10 bytes=8000 rank=0
    else:
        for _ in range(10):
            world.Recv(into, peer, 1)  # expect: MPI_Recv calls=10 bytes=8000 rank=1
    for _ in range(5):
        world.Sendrecv(ten, peer, 2, recvbuf=into, source=peer, recvtag=2)  # expect: MPI_Sendrecv calls=5 bytes=400
    receives = [
        world.Irecv(memoryview(into)[100 * i : 100 * i + 100], peer, i)  # expect: MPI_Irecv calls=4 bytes=320
        for i in range(4)
    ]
    sends = [world.Isend(ten, peer, i) for i in range(4)]  # expect: MPI_Isend calls=4 bytes=320
    MPI.Request.Waitall(receives + sends)  # expect: MPI_Waitall calls=1 bytes=0 completes=320
    for _ in range(7):
        world.Barrier()  # expect: MPI_Barrier calls=7 bytes=0
    for _ in range(4):
        world.Bcast(hundred, 0)  # expect: MPI_Bcast calls=4 bytes=3200
    world.Allreduce(ten, memoryview(into)[:10], MPI.SUM)  # expect: MPI_Allreduce calls=1 bytes=80
    copy = world.Dup()  # expect: MPI_Comm_dup calls=1
    copy.Alltoall(memoryview(out)[:20], memoryview(into)[:20])  # expect: MPI_Alltoall calls=1 bytes=160
    copy.Free()  # expect: MPI_Comm_free calls=1


def lower_case(world: MPI.Intracomm, rank: int, peer: int) -> None:
    if rank == 0:
        for i in range(6):
            world.send({"number": i}, peer, 3)  # expect: MPI_Send calls=6 rank=0
    else:
        for _ in range(6):
            world.recv(source=peer, tag=3)  # expect: MPI_Mprobe calls=6 rank=1; MPI_Mrecv calls=6 rank=1
    sent = world.isend([1, 2, 3], peer, 4)  # expect: MPI_Isend calls=1
    assert world.recv(source=peer, tag=4) == [1, 2, 3]  # expect: MPI_Mprobe calls=1; MPI_Mrecv calls=1
    sent.wait()  # expect: MPI_Wait calls=1
    assert world.bcast("word", 0) == "word"  # expect: MPI_Bcast calls=2
    world.barrier()  # expect: MPI_Barrier calls=1 bytes=0


main()
