#!/bin/bash
# tools/emulated_tests.sh MACHINE : builds the C++ unit tests as the wheel for that processor, and runs them in its root
# under qemu.
set -eu
cd "$(dirname "$0")/.."
machine=$1
build=build/manylinux/$machine
log=$build/log/unit-tests
run() {
    "$@" >"$log" 2>&1 || {
        tail -n 50 "$log" >&2
        exit 1
    }
}
run cmake -S . -B "$build/tare" -DTARE_TESTS=ON -DGTest_DIR="$PWD/$build/debian/usr/lib/$machine-linux-gnu/cmake/GTest" \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=$PWD/tests/support/in_root.sh;$PWD/build/roots/$machine"
run cmake --build "$build/tare" --target unit_tests
# What qemu 7.2 does not do as a kernel and a processor do: a process goes on without its first thread, memory is not handed
# to children (MADV_DONTFORK), calls take as long as others, a process sends no signal when it ends (so no tared starts).
unemulated="Liveness.IsThatOfAProcessWhoseFirstThreadHasEnded Liveness.IsThatOfWhoHoldsTheMark"
for test in DrainsBesideTheThread DrainsWhatThreadsWouldDrop IsNoChildOfTheProgram MayBeKilledAtAnyMoment MayHang \
    WritesNothingIfNothingIsToBeWritten; do
    unemulated="$unemulated Tared.$test"
done
unemulated="$unemulated WeighingTest.AReadingOfTheClockTakesAsLongAsOneOfMany"
for test in $unemulated; do echo "not under qemu: $test"; done
ctest --test-dir "$build/tare" -j"$(nproc)" --exclude-regex "${unemulated// /|}" --output-on-failure --progress --output-log "$build/log/ctest"
