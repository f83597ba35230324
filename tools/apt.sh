#!/bin/sh
# tools/apt.sh GROUP... : installs the Debian packages of tools/packages/GROUP.txt that are missing.
# With nothing missing it needs neither root nor network.
set -eu
cd "$(dirname "$0")/packages"

fail() {
    echo "tools/apt.sh: $1" >&2
    exit 1
}

missing=
for group in "$@"; do
    for package in $(sed 's/#.*//' "$group.txt"); do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
            installed) ;;
            *) missing="$missing $package" ;;
        esac
    done
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || fail "no apt-get here; install by other means:$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=env
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    fail "neither root nor sudo; as root run: apt-get install$missing"
fi

apt_get() {
    $as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" \
        </dev/null
}

echo "installing$missing"
# The package lists may be absent or too old; only then are they fetched.
apt_get install -y --no-install-recommends $missing >/dev/null 2>&1 || {
    apt_get update || fail "apt-get update failed; is there a network?"
    apt_get install -y --no-install-recommends $missing >/dev/null || fail "could not install:$missing"
}
