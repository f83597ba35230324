#!/bin/sh
# tools/apt.sh [GROUP...] [--optional GROUP...] : installs the Debian packages of tools/packages/GROUP.txt that are missing.
# With nothing missing it needs neither root nor network, nor Debian. What is behind --optional may stay missing: the
# build says what does not work then.
#
# A package that Debian's list does not have is there, too, if what is named behind it in its line is: a command, or a
# header that the compiler finds, or (c++20), a compiler for that, or (python), that which tools/venv.sh takes. The mark -
# is for what Debian alone needs. The compiler is $CXX, as for CMake, or g++.
set -eu
cd "$(dirname "$0")/packages"

fail() {
    echo "tools/apt.sh: $1" >&2
    exit 1
}

compiles() { # compiles CODE
    # shellcheck disable=SC2086
    echo "$1" | ${CXX:-g++} -std=c++20 -fsyntax-only -x c++ - 2>/dev/null
}

is_here() { # is_here PACKAGE MARK
    case $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true) in
        installed) return 0 ;;
    esac
    case $2 in
        '') return 1 ;;
        -) ! command -v dpkg-query >/dev/null ;;
        '(c++20)') compiles '' ;;
        '(python)') ../venv.sh --find >/dev/null 2>&1 ;;
        '<'*) compiles "#include $2" ;;
        *) command -v "$2" >/dev/null ;;
    esac
}

missing=
untold= # whether these headers are here, only a compiler tells
optional=
is_optional=
for group in "$@"; do
    if [ "$group" = --optional ]; then
        is_optional=yes
        continue
    fi
    while read -r package mark; do
        mark=${mark%%#*}
        is_here "$package" "${mark%% *}" && continue
        case $is_optional$mark in
            yes*) optional="$optional $package" ;;
            '<'*) compiles '' && missing="$missing $package" || untold="$untold $package" ;;
            *) missing="$missing $package" ;;
        esac
    done <"$group.txt"
done
[ -n "$missing$untold$optional" ] || exit 0

as_root=
why="neither root nor sudo"
if [ "$(id -u)" = 0 ]; then
    as_root=env
elif sudo -n true 2>/dev/null || { [ -t 2 ] && command -v sudo >/dev/null; }; then
    as_root="sudo env"
fi
command -v apt-get >/dev/null || { as_root= && why="no apt-get here"; }
if [ -z "$as_root" ]; then
    more=${untold:+, and perhaps$untold, of which only a compiler for C++20 tells}
    [ -z "$missing" ] || fail "$why; to be installed by other means:$missing$more"
    exit 0
fi
missing=$missing$untold

apt_get() {
    $as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" \
        </dev/null
}

install() { # the package lists may be absent or too old; only then are they fetched
    apt_get install -y --no-install-recommends "$@" >/dev/null 2>&1 || {
        apt_get update && apt_get install -y --no-install-recommends "$@" >/dev/null
    }
}

echo "installing$missing$optional"
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    install $missing || fail "apt-get could not install$missing; is there a network?"
fi
# shellcheck disable=SC2086
[ -z "$optional" ] || install $optional || echo "tools/apt.sh: goes on without$optional"
