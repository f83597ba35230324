#!/bin/sh
# tools/venv.sh GROUP... : makes .venv and installs tools/requirements/GROUP.txt, where these have changed.
# tools/venv.sh --find : prints the Python that .venv would be made of
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
    cmp -s "$wanted" "$done" && continue
    echo "installing $(sed 's/[ #].*//' "$wanted" | paste -sd ' ')"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$wanted" </dev/null ||
        fail "pip could not install $wanted"
    cp "$wanted" "$done"
done
