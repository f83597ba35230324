"""What other tools cost, measured on another 2-core machine (AMD EPYC, Debian 12) in runs of their own.

Absolute times move from machine to machine: for the order of magnitude, not for a comparison.
"""

# A call of MPI_Send or MPI_Recv with MPI_PROC_NULL, ns over the bare call.
NULL_PROFILE = "IPM +66, mpiP +1734, TAU +286"
NULL_TRACE = "EZTrace +150, Caliper +233, TAU +559"
# A pair of MPI_Bcast and MPI_Barrier, 2 ranks, ns over bare.
PAIR_PROFILE = "IPM +50, mpiP +1913, TAU +665"
PAIR_TRACE = "EZTrace +225 to +308, Caliper +280, TAU +1384"
# hpcc's MPIRandomAccess, 2 ranks, Open MPI: % more (times slower: 70, 6.7, 4.8, 4).
RANDOM_ACCESS_PROFILE = "mpiP +6877 %, without call sites +295 %"
RANDOM_ACCESS_TRACE = "EZTrace +574 %, Extrae +377 %"
# LAMMPS, with 3.8 thousand calls.
LAMMPS = "none is visible"
# hypre StructSMG, 2 ranks, Open MPI.
SOLVER_PROFILE = "IPM +1 %, Caliper +7 %, mpiP +103 %"
SOLVER_TRACE = "Caliper +60 %, EZTrace +61 %, TAU +134 %"
SOLVER_BYTES = "Recorder 8, EZTrace 33, Caliper 107, TAU 126"
# MPI_Init and MPI_Finalize, and what else the tool adds to the launcher's time.
HOOK = "IPM 32, TAU 40, EZTrace 122 to 345"
WHOLE = "mpiP 0.05, EZTrace 0.14 to 0.41, Extrae 2.8"
