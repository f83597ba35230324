#!/bin/bash
# tools/deb.sh : builds dist/tare-mpi_*.deb for the Debian that runs here, from a source distribution, and has lintian check it.
set -eu
cd "$(dirname "$0")/.."
build=$PWD/build/deb
log=$build/log

fail() {
    echo "tools/deb.sh: $1" >&2
    exit 1
}

rm -rf "$build"
mkdir -p "$build" dist
.venv/bin/python -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$build" >"$log" 2>&1 ||
    { tail -n 50 "$log" >&2; fail "no source distribution"; }
archive=$(echo "$build"/tare_mpi-*.tar.gz)
version=${archive##*/tare_mpi-}
version=${version%.tar.gz}
tar -C "$build" -xf "$archive"
tree=$build/tare_mpi-$version
cp -r packaging/debian "$tree/debian"
cat >"$tree/debian/changelog" <<TEXT
tare-mpi ($version-1) unstable; urgency=medium

  * CHANGELOG.md says what is new.

 -- the tare authors <tare@localhost>  $(git log -1 --format=%cD 2>/dev/null || date -R)
TEXT

# Debian does not have all packages of Python that the build needs, and not msgspec.
/usr/bin/python3 -m venv "$build/python"
"$build/python/bin/pip" install --quiet --disable-pip-version-check nanobind shtab argparse-manpage msgspec </dev/null
export TARE_PACKAGES
TARE_PACKAGES=$(echo "$build"/python/lib/python3*/site-packages)
(cd "$tree" && dpkg-buildpackage --build=binary --no-sign) >"$log" 2>&1 </dev/null ||
    { tail -n 50 "$log" >&2; fail "dpkg-buildpackage failed"; }
deb=$(echo "$build"/tare-mpi_"$version"*.deb)
lintian --allow-root --fail-on error,warning "$deb" || fail "lintian finds faults in $deb"
mv "$deb" dist/
echo "dist/${deb##*/}: $(($(stat -c %s "dist/${deb##*/}") / 1000)) kB"
