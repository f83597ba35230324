#!/bin/bash
# tools/root.sh NAME : makes build/roots/NAME, the files of another Debian, as its packages have them. Nothing is configured
# there, and no script of a package runs; tests/support/in_root.sh runs commands in it.
#
#   aarch64  Debian 12 for that processor
set -eu
cd "$(dirname "$0")/.."
name=$1
machine=$(uname -m)
release=bookworm
wanted=openmpi-bin,mpich,libopenmpi-dev,libmpich-dev,ca-certificates
case $name in
    aarch64)
        machine=aarch64
        wanted=$wanted,python3-venv
        ;;
    *)
        echo "tools/root.sh: no such root: $name" >&2
        exit 2
        ;;
esac
build=$PWD/build/roots/$name-build
root=$PWD/build/roots/$name
. tools/debian_files.sh

files() {
    rm -rf "$build/root"
    sources_of "$release" >"$build/debian.sources"
    # What scripts of essential packages make, and others rely on.
    # shellcheck disable=SC2016
    quietly files mmdebstrap --variant=extract --architectures="$architecture" --include='?essential' --include="$wanted" \
        --setup-hook='for each in bin sbin lib lib64; do mkdir -p "$1/usr/$each" && ln -s "usr/$each" "$1/$each"; done' \
        "$release" "$build/root" "$build/debian.sources"
    cp "$build/root/usr/share/base-passwd/passwd.master" "$build/root/etc/passwd"
    cp "$build/root/usr/share/base-passwd/group.master" "$build/root/etc/group"
    cp "$build/root/usr/share/libc-bin/nsswitch.conf" "$build/root/etc"
    touch "$build/root/etc/resolv.conf" "$build/root/etc/hosts" "$build/root/of-tests"
    mkdir -p "$build/root/etc/ssl/certs"
    mv "$build/root" "$root"
}

[ -d "$root" ] || files
