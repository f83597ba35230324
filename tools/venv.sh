#!/bin/sh
# tools/venv.sh GROUP... : makes .venv and installs tools/requirements/GROUP.txt, where these have changed, in
#     the versions of tools/requirements/constraints.txt: no release of another project changes what is tested.
# tools/venv.sh --find : prints the Python that .venv would be made of
# tools/venv.sh --renew : writes the newest versions of all groups to tools/requirements/constraints.txt
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "tools/venv.sh: $1" >&2
    exit 1
}

# The first python3 of PATH, if it is new enough and can build a module; else the system's.
usable='import sys, sysconfig, os, venv, ensurepip
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.version_info < (3, 11) or not os.path.exists(headers))'
find_python() {
    for python in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
        "$python" -c "$usable" 2>/dev/null && return
    done
    fail "no python3 of 3.11 or later with headers and venv (Debian 12: apt install python3-dev python3-venv)"
}

if [ "${1-}" = --find ]; then
    find_python
    echo "$python"
    exit
fi

constraints=tools/requirements/constraints.txt
if [ "${1-}" = --renew ]; then
    find_python
    newest=$(mktemp -d)
    trap 'rm -rf "$newest"' EXIT
    "$python" -m venv "$newest" || fail "could not make $newest"
    requirements=$(ls tools/requirements/*.txt | grep -v "^$constraints\$" | sed 's/^/-r /')
    # shellcheck disable=SC2086 # one argument a word
    "$newest/bin/python" -m pip install --quiet --disable-pip-version-check $requirements </dev/null ||
        fail "pip could not install the newest versions"
    {
        echo "# The versions with which tare is built and tested. tools/venv.sh --renew writes this file."
        "$newest/bin/python" -m pip freeze
    } >"$newest/constraints.txt"
    cp "$newest/constraints.txt" "$constraints"
    exit
fi

# Commands in it begin with the path where it was made.
if [ -f .venv/pyvenv.cfg ] && ! grep -q "^command = .* $(pwd -P)/.venv\$" .venv/pyvenv.cfg; then
    echo "this checkout was copied or moved: makes .venv again"
    rm -rf .venv
fi
if ! .venv/bin/python -c '' 2>/dev/null; then
    find_python
    rm -rf .venv
    "$python" -m venv .venv || fail "could not make .venv"
fi

for group in "$@"; do
    wanted=tools/requirements/$group.txt
    done=.venv/.installed-$group.txt
    cat "$wanted" "$constraints" | cmp -s - "$done" && continue
    echo "installing $(sed 's/[ #].*//' "$wanted" | paste -sd ' ')"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$wanted" \
        -c "$constraints" </dev/null ||
        fail "pip could not install $wanted"
    cat "$wanted" "$constraints" >"$done"
done
