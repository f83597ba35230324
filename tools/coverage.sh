#!/bin/sh
# tools/coverage.sh [PYTEST ARGUMENT...] : measures which lines of C++ and Python the tests reach, by folder.
# It runs the C++ unit tests, and pytest (default: tests/unit) on a package that is built with the same counters, so
# that tests with measured programs count for the C++ of the library and of the reader, too. Pages with the lines are in
# build/coverage/html. Tests fail that compare times or instructions; what they reach counts nevertheless.
set -eu
cd "$(dirname "$0")/.."
build=build/coverage
[ $# -gt 0 ] || set -- tests/unit

mkdir -p $build/html
if [ ! -f $build/build.ninja ] || [ CMakePresets.json -nt $build/build.ninja ]; then
    cmake --preset coverage >$build/configure.log 2>&1 || {
        cat $build/configure.log >&2
        exit 1
    }
fi
cmake --build --preset coverage --target all unit_tests -- --quiet
find $build -name '*.gcda' -delete
cmake --install $build --component python --prefix $build/python >$build/install.log

failed=
ctest --preset coverage -j2 --output-log $build/ctest.log >/dev/null || failed=" ctest ($build/ctest.log)"
export COVERAGE_FILE=$build/python.data
PYTHONPATH=$PWD/$build/python .venv/bin/python -m pytest -q -n 2 --cov tare --cov-report= "$@" >$build/pytest.log ||
    failed="$failed pytest ($build/pytest.log)"

coverage=".venv/bin/python -m coverage"
$coverage json -q -o $build/python.json
$coverage html -q -d $build/html/python
.venv/bin/gcovr -j2 --root . --filter src/ --exclude '.*_test\.cpp' --exclude '.*/testing/' --exclude-throw-branches \
    --gcov-ignore-errors all --merge-mode-functions separate --json-summary $build/cxx.json \
    --html-nested $build/html/cxx.html $build >$build/gcovr.log 2>&1 || {
    tail -n 20 $build/gcovr.log >&2
    exit 1
}
.venv/bin/python tests/support/coverage_table.py $build/cxx.json $build/python.json
echo "Every line: $build/html/cxx.html, $build/html/python/index.html"
[ -z "$failed" ] || echo "Failed with counters:$failed"
