#!/bin/sh
# tools/build.sh [OPTION...] : builds build/release and brings the package in .venv up to date.
# OPTION is a CMake option to switch on (TARE_TESTS); it stays on for later builds in the same directory.
set -eu
cd "$(dirname "$0")/.."
build=build/release
python=.venv/bin/python

configure=
for option in "$@"; do
    grep -qsx "$option:BOOL=ON" $build/CMakeCache.txt || configure="$configure -D$option=ON"
done
if [ -n "$configure" ] || [ ! -f $build/build.ninja ] || [ CMakePresets.json -nt $build/build.ninja ]; then
    mkdir -p $build
    cmake --preset release $configure >$build/configure.log 2>&1 || {
        cat $build/configure.log >&2
        exit 1
    }
fi
cmake --build --preset release -- --quiet

# What was installed once is kept up to date.
for group in build test; do
    [ ! -f .venv/.installed-$group.txt ] || tools/venv.sh $group
done

# pip writes the command and the metadata; the contents come from the build, so that nothing is compiled twice.
if ! cmp -s pyproject.toml .venv/.installed-pyproject.toml || [ ! -x .venv/bin/tare ]; then
    $python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
        --config-settings=wheel.cmake=false . </dev/null
    cp pyproject.toml .venv/.installed-pyproject.toml
fi
site=$(echo "$PWD"/.venv/lib/python3*/site-packages)
cmake --install $build --component python --prefix "$site" >$build/install.log
# As pip does: verbs start quickly also where Python may not write here, or is told not to.
$python -m compileall -q "$site"/tare
