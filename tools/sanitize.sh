#!/bin/sh
# tools/sanitize.sh PRESET... : builds the unit tests with a sanitizer (asan: with UBSan; tsan) and runs them.
set -eu
cd "$(dirname "$0")/.."

for preset in "$@"; do
    mkdir -p "build/$preset"
    cmake --preset "$preset" >"build/$preset/configure.log" 2>&1 || {
        cat "build/$preset/configure.log" >&2
        exit 1
    }
    cmake --build --preset "$preset" --target unit_tests -- --quiet
    ctest --preset "$preset" -j2 --output-log "build/$preset/ctest.log" | tail -n 5
    # A pipeline's status is that of its last command.
    grep -q '^100% tests passed' "build/$preset/ctest.log" || {
        echo "tools/sanitize.sh: unit tests failed under $preset, see build/$preset/ctest.log" >&2
        exit 1
    }
done
