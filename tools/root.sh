#!/bin/bash
# tools/root.sh NAME : makes build/roots/NAME, the files of another Debian, as its packages have them. Nothing is configured
# there, and no script of a package runs; tests/support/in_root.sh runs commands in it.
#
#   aarch64    Debian 12 for that processor
#   debian-11  with glibc 2.31, and in /opt/python a Python 3.11, which is built there: its own is older
#   debian-14  which is to come, with Python 3.14 and newer MPI libraries; as it is on the day on which it is made
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
        # The package asks an init system for it, which is not there everywhere, nor after each start of the machine.
        [ -e /proc/sys/fs/binfmt_misc/qemu-$machine ] || update-binfmts --enable "qemu-$machine"
        ;;
    debian-11)
        release=bullseye
        wanted=$wanted,gcc,make,libffi-dev,libssl-dev,zlib1g-dev
        ;;
    debian-14)
        release=forky
        wanted=$wanted,gcc,python3-venv
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
    # What scripts of essential packages make, and others rely on. The list of a Debian to come is valid for a week, and
    # mirrors may be behind.
    # shellcheck disable=SC2016
    quietly files mmdebstrap --aptopt='Acquire::Check-Valid-Until "false"' --variant=extract --architectures="$architecture" --include='?essential' --include="$wanted" \
        --setup-hook='for each in bin sbin lib lib64; do mkdir -p "$1/usr/$each" && ln -s "usr/$each" "$1/$each"; done' \
        "$release" "$build/root" "$build/debian.sources"
    cp "$build/root/usr/share/base-passwd/passwd.master" "$build/root/etc/passwd"
    cp "$build/root/usr/share/base-passwd/group.master" "$build/root/etc/group"
    cp "$build/root/usr/share/libc-bin/nsswitch.conf" "$build/root/etc"
    [ -e "$build/root/usr/bin/awk" ] || ln -s mawk "$build/root/usr/bin/awk"
    touch "$build/root/etc/resolv.conf" "$build/root/etc/hosts" "$build/root/of-tests"
    mkdir -p "$build/root/etc/ssl/certs"
    mv "$build/root" "$root"
}

python() {
    local source
    source=$(source_of python3.11)
    # shellcheck disable=SC2016
    quietly python tests/support/in_root.sh "$root" sh -ec \
        'cd "$1" && ./configure --prefix=/opt/python --with-ensurepip=no && make -j "$(nproc)" && make install' sh "$source"
}

[ -d "$root" ] || files
[ "$name" != debian-11 ] || [ -x "$root/opt/python/bin/python3" ] || python
