"""Iterations until all ranks know the BOI of the monitored run that they are in, and its delay; prints it."""

import sys
import time

import tare
from mpi4py import MPI

assert tare.sweet_spot().boi is None
everyone = MPI.COMM_WORLD
while not everyone.allreduce(
    tare.sweet_spot().boi is not None and tare.sweet_spot().delay is not None, MPI.LAND
):
    time.sleep(0.001)
spot = tare.sweet_spot()
assert tare.sweet_spot(1_000_000).boi is None and tare.sweet_spot(1_000_000).direct_cost is None
assert spot.overall_cost is None, "the clock makes points"
assert tare.sweet_spot(1_000_000).source == "unknown"
# Ranks write into one pipe: print() writes a line in two pieces.
sys.stdout.write(f"asked {spot.events} {spot.boi} {spot.delay} {spot.direct_cost} {spot.source}\n")
