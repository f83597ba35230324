#!/bin/sh
# tools/threads_tsan.sh : MPI_THREAD_MULTIPLE under TSan: tests/programs/threads.c, built with TSan, below a libtare.so
# that is built with it too (preset tsan), on Debian's two MPIs, 1 and 2 ranks, with a buffer that is drained often, by the
# threads or by a tared that the first rank starts; tests/programs/handover.c, whose requests one thread starts and another
# completes; and tests/programs/pattern_threads.c, whose messages are sampled, on one node and on two, while the spec changes.
# The MPI libraries are not instrumented, so that TSan does not see how they hand memory on, and reports races of
# theirs, also in calls that tare makes: only reports of what tare itself accesses count (has_race).
set -eu
cd "$(dirname "$0")/.."
cmake --build --preset tsan -- --quiet
library=$PWD/build/tsan/src/preload/libtare.so
tared=$PWD/build/tsan/src/tared/tared
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

# Whether there is a report of tare's accesses alone, or tare's and the program's: an access is the first function of
# a stack that is none of TSan's own. One that is MPI's is to memory that MPI had, or has handed on: also to a mutex on a
# stack that was MPI's before.
has_race() {
    cat "$scratch"/report.* 2>/dev/null | awk '
        /WARNING: ThreadSanitizer/ { found = found || (own && !foreign); own = foreign = 0 }
        /WARNING: ThreadSanitizer|([Rr]ead|[Ww]rite) of size/ { looking = 1; next }
        looking && /^ *#[0-9]/ && !/libsanitizer/ {
            if (/libtare\.so/) own = 1
            else if (/\.so/) foreign = 1
            looking = 0
        }
        END { exit !(found || (own && !foreign)) }'
}

# check MPI RANKS NAME PROGRAM [ENVIRONMENT...] [-- ARGUMENTS...]
check() {
    mpi=$1 ranks=$2 name=$3 program=$4
    shift 4
    run=$scratch/run.$mpi.$ranks.$name
    mkdir "$run"
    environment=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        environment="$environment $1"
        shift
    done
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086
    if ! "mpiexec.$mpi" -n "$ranks" env LD_PRELOAD="$runtime $library" \
        TSAN_OPTIONS="exitcode=0 detect_deadlocks=0 log_path=$scratch/report" \
        TARE_RUN_DIR="$run" TARE_RUN_ID=0123456789abcdef TARE_SEGMENT_DIR="$run" \
        TARE_TRACE=1 TARE_BUFFER=65536 $environment "$program" "$@" >"$scratch/out" 2>&1 ||
        ! grep -qx ok "$scratch/out" || [ -z "$(ls "$run")" ]; then
        cat "$scratch/out" >&2
        fail "$mpi, $ranks ranks, $name: the program failed, or nothing was recorded"
    fi
    if has_race; then
        cat "$scratch"/report.* >&2
        fail "$mpi, $ranks ranks, $name: a data race, see above"
    fi
    # The word by which a node's processes and its tared find each other is there as long as any of them.
    tries=0
    while [ -n "$(find "$run" -name 'tare-*.step')" ]; do
        tries=$((tries + 1))
        [ $tries -le 100 ] || fail "$mpi, $ranks ranks, $name: tared has not ended"
        sleep 0.1
    done
    echo "MPI_THREAD_MULTIPLE under TSan, $mpi, $ranks ranks, $name: clean"
}

for mpi in openmpi mpich; do
    for program in threads handover pattern_threads; do
        # MPICH's attributes take MPI_STATUSES_IGNORE for an array without room.
        "mpicc.$mpi" -g -O1 -Wno-stringop-overflow -fsanitize=thread -pthread "tests/programs/$program.c" -o "$scratch/$program.$mpi"
    done
    for ranks in 1 2; do
        check $mpi $ranks trace "$scratch/threads.$mpi"
        check $mpi $ranks lookups "$scratch/threads.$mpi" TARE_LOOKUPS=time
        check $mpi $ranks tared "$scratch/threads.$mpi" TARE_DRAIN="$tared"
    done
    check $mpi 2 handover "$scratch/handover.$mpi" -- 200
    check $mpi 2 handover-tared "$scratch/handover.$mpi" TARE_DRAIN="$tared" -- 200
    for nodes in 1 2; do
        check $mpi 2 "sampled-on-$nodes-nodes" "$scratch/pattern_threads.$mpi" \
            TARE_SAMPLE=random:0.5,write TARE_SAMPLE_NODES=$nodes -- \
            1 200 random:1,freq random:0.3,write,size=100-,communicator=MPI_COMM_WORLD
    done
done
