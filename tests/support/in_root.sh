#!/bin/sh
# in_root.sh ROOT COMMAND... : runs the command in ROOT, files of another Debian (tools/root.sh), in the current directory.
# It sees this machine's processes, devices, shared memory and /tmp, and this checkout. What is in ROOT already goes on
# there. AS_USER: the number of a user to become, who has no rights and sees no checkout.
root=$1
shift
if [ -e /of-tests ]; then exec "$@"; fi
checkout=$(cd "$(dirname "$0")/../.." && pwd -P)
mkdir -p "$root$checkout"
export ROOT="$root" CHECKOUT="$checkout" AS_USER="${AS_USER-}"
exec unshare --mount sh -ec '
    mount --rbind /dev "$ROOT/dev"
    mount --rbind /sys "$ROOT/sys"
    mount --bind /proc "$ROOT/proc"
    mount --bind /tmp "$ROOT/tmp"
    [ -n "$AS_USER" ] || mount --bind "$CHECKOUT" "$ROOT$CHECKOUT"
    for each in resolv.conf hosts ssl/certs; do mount --bind "/etc/$each" "$ROOT/etc/$each"; done
    root=$ROOT user=$AS_USER
    unset ROOT CHECKOUT AS_USER
    PATH=/usr/sbin:/usr/bin:/sbin:/bin
    exec chroot ${user:+--userspec=$user:$user --groups=} "$root" env -C "$PWD" "$@"' sh "$@"
