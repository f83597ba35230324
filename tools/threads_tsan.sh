#!/bin/sh
# tools/threads_tsan.sh : MPI_THREAD_MULTIPLE under TSan: tests/programs/threads.c, built with TSan, below a libtare.so
# that is built with it too (preset tsan), on Debian's two MPIs, 1 and 2 ranks, with a buffer that is drained often.
# The MPI libraries are not instrumented, so that TSan does not see how they hand memory on, and reports races of
# theirs: only reports with a function of tare in them count.
set -eu
cd "$(dirname "$0")/.."
library=$PWD/build/tsan/src/mpi/libtare.so
runtime=$(readlink -f "$(gcc -print-file-name=libtsan.so)")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# UCX, which both may use, replaces mmap and madvise below TSan, which then crashes.
export UCX_MEM_EVENTS=n UCX_MEM_MMAP_HOOK_MODE=none

fail() {
    echo "tools/threads_tsan.sh: $1" >&2
    exit 1
}

for mpi in openmpi mpich; do
    program=$scratch/threads.$mpi
    "mpicc.$mpi" -g -O1 -fsanitize=thread -pthread tests/programs/threads.c -o "$program"
    for ranks in 1 2; do
        run=$scratch/run.$mpi.$ranks
        mkdir "$run"
        for extra in "" TARE_LOOKUPS=time; do
            if ! "mpiexec.$mpi" -n $ranks env LD_PRELOAD="$runtime $library" \
                TSAN_OPTIONS="exitcode=0 detect_deadlocks=0 log_path=$scratch/report" \
                TARE_RUN_DIR="$run" TARE_RUN_ID=0123456789abcdef TARE_SEGMENT_DIR="$run" \
                TARE_TRACE=1 TARE_BUFFER=65536 $extra "$program" >"$scratch/out" 2>&1 ||
                ! grep -qx ok "$scratch/out" || [ -z "$(ls "$run")" ]; then
                cat "$scratch/out" >&2
                fail "$mpi, $ranks ranks: the program failed, or nothing was recorded"
            fi
            if grep -qs 'tare::' "$scratch"/report.*; then
                cat "$scratch"/report.* >&2
                fail "$mpi, $ranks ranks: a data race, see above"
            fi
        done
        echo "MPI_THREAD_MULTIPLE under TSan, $mpi, ranks $ranks: clean"
    done
done
