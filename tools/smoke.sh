#!/bin/sh
# tools/smoke.sh : one measured run, profile and trace, from start to report; for `make check`.
set -eu
cd "$(dirname "$0")/.."
run=$(mktemp -d)/run
trap 'rm -rf "$(dirname "$run")"' EXIT

export OMPI_MCA_rmaps_base_oversubscribe=1
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
fail() {
    echo "tools/smoke.sh: $1" >&2
    exit 1
}
.venv/bin/tare run --quiet --trace -o "$run" -- mpiexec.openmpi -n 2 build/release/workloads/diffusion -s 1 >"$run.out" ||
    fail "the measured program failed"
.venv/bin/tare profile "$run" --by function --csv | grep -q MPI_Waitall || fail "no row of MPI_Waitall in the profile"
.venv/bin/tare events "$run" --limit 5 | grep -q MPI_ || fail "no events in the trace"
echo "smoke: one run measured, its profile and trace read"
