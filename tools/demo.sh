#!/bin/sh
# tools/demo.sh : the diffusion solver on 4 ranks, with profile and trace; then what limits it, and the page.
set -eu
cd "$(dirname "$0")/.."

# A machine may have fewer than 4 cores, and a container only root.
export OMPI_MCA_rmaps_base_oversubscribe=1
if [ "$(id -u)" = 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
mkdir -p build/demo
run=build/demo/diffusion-$(date +%Y%m%d-%H%M%S)
echo "tare run --trace -o $run -- mpiexec -n 4 build/release/workloads/diffusion"
.venv/bin/tare run --trace -o "$run" -- mpiexec.openmpi -n 4 build/release/workloads/diffusion
echo "
tare explain $run"
.venv/bin/tare explain "$run"
echo "
tare report $run"
.venv/bin/tare report "$run"
