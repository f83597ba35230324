#!/bin/sh
# tools/configure_preset.sh PRESET : configures the build of a preset (CMakePresets.json), unless it is up to date. Shows
# what CMake says only if that fails.
set -eu
cd "$(dirname "$0")/.."
build="build/$1"
mkdir -p "$build"
if [ ! -f "$build/build.ninja" ] || [ CMakePresets.json -nt "$build/build.ninja" ]; then
    cmake --preset "$1" >"$build/configure.log" 2>&1 || {
        cat "$build/configure.log" >&2
        exit 1
    }
fi
