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
# What qemu 7.2 does not do as a kernel and a processor do:
unemulated=(
    Liveness.IsThatOfAProcessWhoseFirstThreadHasEnded      # goes on without its first thread
    Liveness.IsThatOfWhoHoldsTheMark                       # keeps memory from children (MADV_DONTFORK)
    NodeSourceTest.RowsBecomeEventsWithNames               # the same: who lives holds a mark in such memory
    WeighingTest.AReadingOfTheClockTakesAsLongAsOneOfMany  # reads the clock as fast as it does all else
    CompletionTest.WithoutMemoryNoStatusesAreAskedFor      # limits the memory of a process (RLIMIT_AS)
    EndingWatch.TellsProcessesOfOneNumberApart             # makes a process of a given number (clone3)
    Experiment.TheRootSaysWhichPointsAreOffloads           # measures for 23 s on two processors, for minutes on an emulated one
    UserCodeOfTwoRanks.EndsTheProcessIfItThrows            # starts a process that aborts, after tests with threads
    # starts a process that sends no signal when it ends: tared
    Tared.{DrainsBesideTheThread,DrainsWhatThreadsWouldDrop,IsNoChildOfTheProgram,MayBeKilledAtAnyMoment,MayHang}
    Tared.WritesNothingIfNothingIsToBeWritten
)
printf 'not under qemu: %s\n' "${unemulated[@]}"
# Nodes of trees give up others that are late, which they are if something else runs here, too.
GTEST_FILTER="-$(IFS=: && echo "${unemulated[*]}")" \
    ctest --test-dir "$build/tare" -j"$(nproc)" --repeat until-pass:3 \
    --output-on-failure --progress --output-log "$build/log/ctest"
