# shellcheck shell=bash
# What several scripts do with Debian's packages, none of which is installed. Before it is read: `build`, a folder for all
# of it, and `machine`, the processor.
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) architecture=$machine ;;
esac
mkdir -p "$build/log"

fail() {
    echo "$0: $1" >&2
    exit 1
}

quietly() { # quietly LOG COMMAND...: what it prints is shown if it fails
    local log=$build/log/$1
    shift
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 50 "$log" >&2
        fail "failed: $*"
    }
}

sources_of() { # sources_of RELEASE [TYPE]: the sources of a release of Debian, from where this machine has its own
    local uri
    uri=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
        sed -nE '/^#/d; s/^(URIs:|deb( \[[^]]*\])?) +([a-z+]+:\/[^ ]*).*/\3/p' | head -n 1)
    [ -n "$uri" ] || fail "neither /etc/apt/sources.list nor debian.sources names a Debian"
    printf '%s\n' "Types: ${2:-deb}" "URIs: $uri" "Suites: $1" "Components: main" \
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg"
}

apt_of() { # apt_of FOLDER COMMAND...: apt-get with no sources but those in FOLDER
    local folder=$1
    shift
    mkdir -p "$folder/lists/partial"
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder" -o "Dir::State::Lists=$folder/lists" \
        -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" "$@"
}

packages() { # packages FOLDER RELEASE PACKAGE...: unpacks them in $build/FOLDER
    local folder=$build/$1 each
    rm -rf "$folder" "$folder-apt"
    mkdir -p "$folder" "$folder-apt"
    sources_of "$2" >"$folder-apt/debian.sources"
    shift 2
    quietly apt-update apt_of "$folder-apt" update
    (cd "$folder" && quietly apt-download apt_of "$folder-apt" download "$@")
    for each in "$folder"/*.deb; do dpkg -x "$each" "$folder"; done
}

source_of() { # source_of PACKAGE: that of Debian 12, in $build/PACKAGE, which needs no entry in the list of sources
    mkdir -p "$build/apt"
    sources_of bookworm deb-src >"$build/apt/debian.sources"
    quietly apt-update apt_of "$build/apt" update
    rm -rf "${build:?}/$1"
    mkdir "$build/$1"
    (cd "$build/$1" && quietly "$1-source" apt_of "$build/apt" source "$1") || exit
    echo "$build/$1"/*/
}
