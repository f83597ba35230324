#!/bin/sh
# tools/sanitize.sh PRESET... : builds the unit tests with a sanitizer (asan: with UBSan; tsan) and runs them.
# The presets optimise little and turn assertions on: with -O2 the same build takes more than twice as long. asan is
# clang's, which takes half as long as gcc's and compiles what is tested several files at a time. Warnings are no errors
# here, because sanitizers cause false ones; the developers' build has them.
set -eu
cd "$(dirname "$0")/.."
. tools/compiler_cache.sh

for preset in "$@"; do
    tools/configure_preset.sh "$preset"
    cmake --build --preset "$preset" --target unit_tests -- --quiet
    # TSan does not see how the threads of libzmq, which is built without it, hand messages over. So tests in which a
    # whole tree of nodes exchanges messages would find races there.
    cases='*'
    [ "$preset" != tsan ] || cases='-*AnyTree*:*PlaysOnALiveTree*'
    GTEST_FILTER=$cases ctest --preset "$preset" -j2 --output-log "build/$preset/ctest.log" | tail -n 5
    # A pipeline's status is that of its last command.
    grep -q '^100% tests passed' "build/$preset/ctest.log" || {
        echo "tools/sanitize.sh: unit tests failed under $preset, see build/$preset/ctest.log" >&2
        exit 1
    }
    echo "sanitize: unit tests pass under $preset"
done
