#!/bin/bash
# tools/build.sh [OPTION|TARGET...] : builds build/release and brings the package in .venv up to date. It shows how far
# it is. OPTION is a CMake option to switch on (TARE_TESTS); it stays on for later builds in the same directory. TARGET
# (unit_tests) is built beside what is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/compiler_cache.sh
build=build/release
python=.venv/bin/python

# CMake takes no directory that it has not configured under this path.
configured_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $build/CMakeCache.txt 2>/dev/null || true)
if [ -n "$configured_for" ] && ! [ "$configured_for" -ef . ]; then
    echo "this checkout was copied or moved: builds again"
    rm -rf $build
fi

configure=
targets=all
for option in "$@"; do
    case "$option" in [a-z]*) targets="$targets $option" && continue ;; esac
    grep -qsx "$option:BOOL=ON" $build/CMakeCache.txt || configure="$configure -D$option=ON"
done
# Who builds once compiles fewer, larger files, as asan's preset does; who changes files, each of them.
if [ ! -f $build/build.ninja ]; then
    case " $targets " in
    *" unit_tests "*) configure="$configure -DTARE_UNITY=OFF" ;;
    *) configure="$configure -DTARE_UNITY=ON" ;;
    esac
fi
if [ -n "$configure" ] || [ ! -f $build/build.ninja ] || [ CMakePresets.json -nt $build/build.ninja ]; then
    mkdir -p $build
    echo "configuring the build"
    cmake --preset release $configure >$build/configure.log 2>&1 || {
        cat $build/configure.log >&2
        exit 1
    }
    sed -n 's/^-- \(tare: \)/\1/p' $build/configure.log
fi

# Steps that are done are shown in one line of a terminal, else for each tenth. Everything else passes.
progress() {
    awk -v terminal="$([ -t 1 ] && echo 1)" '
        $1 == "@@" {
            tenth = int(10 * $2 / $3)
            text = sprintf("building: %d of %d steps, %d s", $2, $3, $4)
            if (terminal) printf "\r%s", text
            else if (tenth > before) print text
            before = tenth
            shown = 1
            fflush()
            next
        }
        /^ninja: (no work to do|Entering directory)/ { next }
        { if (terminal && shown) print ""; print; fflush() }
        END { if (terminal && shown) print "" }'
}
NINJA_STATUS="@@ %f %t %e " cmake --build --preset release --target $targets 2>&1 | progress

# What was installed once is kept up to date.
for group in build test; do
    [ ! -f .venv/.installed-$group.txt ] || tools/venv.sh $group
done

# pip writes the metadata; the contents come from the build, so that nothing is compiled twice.
if ! cmp -s pyproject.toml .venv/.installed-pyproject.toml || [ ! -x .venv/bin/tare ]; then
    $python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
        --config-settings=wheel.cmake=false . </dev/null
    cp pyproject.toml .venv/.installed-pyproject.toml
fi
for component in python command; do
    cmake --install $build --component $component --prefix "$PWD/.venv" >$build/install.log
done
# As pip does: verbs start quickly also where Python may not write here, or is told not to.
$python -m compileall -q .venv/lib/python3*/site-packages/tare
