#!/bin/bash
# tools/release.sh check : whether what is checked out may be released: it is committed, the version stands in one place,
# CHANGELOG.md has a section for it, and this section names what programs find in libraries no longer, or first now.
# tools/release.sh pack : writes the source distribution, the site and checksums to dist/, beside the wheels.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(tare VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)

wrong=
complain() {
    echo "tools/release.sh: $1" >&2
    wrong=yes
}

check() {
    [ -z "$(git status --porcelain)" ] || complain "not everything is committed"
    local section others previous list name
    section=$(awk -v heading="## $version" '/^## /{ inside = $0 == heading || index($0, heading " ") == 1 } inside' CHANGELOG.md)
    [ -n "$section" ] || complain "CHANGELOG.md has no section \"## $version\""
    # Tests have runs of earlier versions; other packages have versions, too.
    others=$(git grep -lE "(^|[^0-9.])${version//./\\.}([^0-9.]|\$)" -- . ':!CMakeLists.txt' ':!CHANGELOG.md' ':!tests' \
        ':!pyproject.toml' ':!tools/requirements' || true)
    [ -z "$others" ] || complain "version $version also stands in $(echo $others)"
    previous=$(git describe --tags --abbrev=0 --match 'v[0-9]*' HEAD 2>/dev/null || true)
    [ "$previous" != "v$version" ] || complain "$previous is released already"
    for list in packaging/symbols/*.txt; do
        [ -n "$previous" ] || break
        for name in $({ git show "$previous:$list" 2>/dev/null || true; } | LC_ALL=C comm -3 - "$list" | tr -d '\t'); do
            grep -qw "${name%%@*}" <<<"$section" || complain "CHANGELOG.md does not name ${name%%@*}, by which $list differs from $previous"
        done
    done
    [ -z "$wrong" ] || exit 1
    echo "version $version may be released${previous:+ after $previous}"
}

pack() {
    rm -f dist/*.tar.gz dist/SHA256SUMS
    mkdir -p dist build
    .venv/bin/python -c 'from scikit_build_core.build import build_sdist; build_sdist("dist")' >build/sdist.log 2>&1 ||
        { tail -n 50 build/sdist.log >&2; complain "no source distribution"; exit 1; }
    tar -C build/docs --sort=name --owner=0 --group=0 --numeric-owner --transform "s,^site,tare-$version-site," \
        -czf "dist/tare-$version-site.tar.gz" site
    (cd dist && sha256sum -- *"$version"* >SHA256SUMS && cat SHA256SUMS)
}

case ${1-} in
    check | pack) "$1" ;;
    *)
        sed -n '2,4s/^# //p' "$0" >&2
        exit 2
        ;;
esac
