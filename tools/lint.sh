#!/bin/sh
# tools/lint.sh [quick] : format and static analysis, as checks; "quick" leaves out clang-tidy, which takes minutes.
# Wants a build: clang-tidy reads its compile commands.
set -eu
cd "$(dirname "$0")/.."

# Programs with expectations at the ends of their lines stay as they are.
git ls-files -co --exclude-standard '*.cpp' '*.h' '*.hpp' '*.c' ':!tests/programs' | xargs -r clang-format --dry-run -Werror
.venv/bin/ruff format --quiet --check .
.venv/bin/ruff check --quiet .
.venv/bin/mypy
[ "${1:-}" = quick ] && exit 0

# It counts on standard error the warnings that it does not show.
log=build/release/clang-tidy.log
git ls-files -co --exclude-standard 'src/*.cpp' ':!src/*_test.cpp' |
    xargs -r -P2 -n4 clang-tidy --quiet -p build/release 2>"$log" || {
    grep -v ' warnings\? generated' "$log" >&2 || true
    echo "tools/lint.sh: clang-tidy found something, see above" >&2
    exit 1
}
echo "clang-tidy: no finding"
