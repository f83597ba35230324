#!/bin/sh
# tools/lint.sh [quick|changed] : format and static analysis, as checks. clang-tidy takes about ten seconds a file:
#   quick    leaves it out
#   changed  gives it the files that differ from the branch main, or from the commit before where main itself is checked
#            out; for tests
set -eu
cd "$(dirname "$0")/.."
mode=${1:-full}

# Programs with expectations at the ends of their lines stay as they are.
git ls-files -co --exclude-standard '*.cpp' '*.h' '*.hpp' '*.c' ':!tests/programs' | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
done | xargs -r clang-format --dry-run -Werror
.venv/bin/ruff format --quiet --check .
.venv/bin/ruff check --quiet .
.venv/bin/mypy
[ "$mode" = quick ] && exit 0

# A changed header is looked at with the files beside it that have its name, and with those that are changed too.
changed_sources() {
    base=$(git merge-base HEAD main 2>/dev/null) || base=
    [ "$base" != "$(git rev-parse HEAD)" ] || base=
    [ -n "$base" ] || base=$(git rev-parse --quiet --verify HEAD~1) || return 0
    {
        git diff --name-only --diff-filter=d "$base" -- src
        git ls-files -o --exclude-standard src
    } | sed -n 's/\.\(cpp\|h\)$/.cpp/p' | sort -u | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done
}
if [ "$mode" = changed ]; then
    files=$(changed_sources)
else
    files=$(git ls-files -co --exclude-standard 'src/*.cpp')
fi
files=$(echo "$files" | grep -v '_test\.cpp$') || true

[ -n "$files" ] || exit 0
# The command of each file; builds compile several files by one.
tools/configure_preset.sh tidy
cmake --build --preset tidy --target tare_generated generated/tables.inc >build/tidy/build.log || {
    cat build/tidy/build.log >&2
    exit 1
}
# It counts on standard error the warnings that it does not show.
log=build/tidy/clang-tidy.log
echo "$files" | xargs -P2 -n1 clang-tidy --quiet -p build/tidy 2>"$log" || {
    grep -v ' warnings\? generated' "$log" >&2 || true
    echo "tools/lint.sh: clang-tidy found something, see above" >&2
    exit 1
}
echo "clang-tidy: no finding in $(echo "$files" | grep -c .) files"
