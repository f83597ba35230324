"""The program of steered.c, in Python: prints each message."""

import sys
import time
from pathlib import Path

import tare
from mpi4py import MPI

everyone = MPI.COMM_WORLD
while not everyone.allreduce(Path(sys.argv[1]).exists(), MPI.LAND):
    time.sleep(0.002)
    tare.offload()
    while (message := tare.control()) is not None:
        sys.stdout.write(f"{everyone.rank} {message.name} {message.value!r} {message.lost}\n")
        sys.stdout.flush()
