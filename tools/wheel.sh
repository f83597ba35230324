#!/bin/bash
# tools/wheel.sh : builds dist/tare_mpi-*.whl, which need no more than the C library 2.28 and a Python.
#
# They are two: for CPython 3.11, and by the stable ABI, which nanobind needs 3.12 for, for all versions from then on. They
# differ in the Python modules alone, and all else is built once. One wheel with both would have 16 MB instead of 13.
#
# GCC compiles it as in any build. It is linked with Zig's list of what is in glibc 2.28, and with static libraries, whose
# calls of a newer glibc tools/newer_glibc.c has. Two of them are built here: Debian's libzmq.a needs Kerberos, and its
# libdw.a cannot be part of a library.
set -eu
cd "$(dirname "$0")/.."
glibc=2.28
machine=$(uname -m)
platform=manylinux_${glibc/./_}_$machine
build=$PWD/build/manylinux
linked=$build/linked
python=$PWD/.venv/bin/python
archives=/usr/lib/$(gcc -print-multiarch)
headers=$build/python/usr/include/python3.13
mkdir -p "$linked" "$build/log"

fail() {
    echo "tools/wheel.sh: $1" >&2
    exit 1
}

[ "$("$python" -c 'import sys; print(*sys.version_info[:2], sep=".")')" = 3.11 ] ||
    fail "the Python of .venv is not 3.11, for which there is a wheel of its own; Debian 12 has it"

quietly() { # quietly LOG COMMAND...: what it prints is shown if it fails
    local log=$build/log/$1
    shift
    "$@" >"$log" 2>&1 </dev/null || {
        tail -n 50 "$log" >&2
        fail "failed: $*"
    }
}

c_library() { # as Zig writes it when it links a program
    echo 'int main(void) { return 0; }' >"$build/none.c"
    rm -rf "$build/zig"
    ZIG_GLOBAL_CACHE_DIR=$build/zig ZIG_LOCAL_CACHE_DIR=$build/zig quietly zig \
        "$python" -m ziglang cc -target "$machine-linux-gnu.$glibc" -fPIE -pie "$build/none.c" -o "$build/none"
    find "$build/zig" \( -name 'lib*.so.*' -o -name Scrt1.o -o -name libc_nonshared.a \) -exec cp {} "$linked" \;
    gcc -O2 -fPIC -fvisibility=hidden -c tools/newer_glibc.c -o "$build/newer_glibc.o"
    ar rcs "$linked/libnewer_glibc.a" "$build/newer_glibc.o"
    local name
    for name in m.so.6 pthread.so.0 dl.so.2 rt.so.1; do ln -sf lib$name "$linked/lib${name%.*}"; done
    # In a newer one, threads and dlopen are in libc itself, and nobody asks for other libraries.
    echo "GROUP ( $linked/libc.so.6 $linked/libc_nonshared.a $linked/libnewer_glibc.a" \
        "AS_NEEDED ( $linked/libpthread.so.0 $linked/libdl.so.2 $(echo "$linked"/libld.so.*) ) )" >"$linked/libc.so"
}

apt_of() { # apt_of FOLDER COMMAND...: apt-get with no sources but those in FOLDER
    local folder=$1
    shift
    mkdir -p "$folder/lists/partial"
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$folder" -o "Dir::State::Lists=$folder/lists" "$@"
}

source_of() { # source_of PACKAGE: Debian's, in $build/PACKAGE, which needs no entry in the list of sources
    mkdir -p "$build/apt"
    sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$build/apt/debian.sources"
    quietly apt-update apt_of "$build/apt" update
    rm -rf "${build:?}/$1"
    mkdir "$build/$1"
    (cd "$build/$1" && quietly "$1-source" apt_of "$build/apt" source "$1")
    echo "$build/$1"/*/
}

later_headers() { # of a Python that the next Debian has; it is not installed
    rm -rf "$build/python"
    mkdir -p "$build/apt-later" "$build/python"
    # The first paragraph is Debian itself; updates and what is for security follow.
    sed '/^$/q; s/^Suites:.*/Suites: trixie/' /etc/apt/sources.list.d/debian.sources >"$build/apt-later/debian.sources"
    quietly apt-later-update apt_of "$build/apt-later" update
    (cd "$build/python" && quietly python-headers apt_of "$build/apt-later" download libpython3.13-dev)
    dpkg -x "$build"/python/libpython3.13-dev_*.deb "$build/python"
}

zeromq() {
    local source
    source=$(source_of zeromq3)
    quietly zeromq-configure cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$linked" -DCMAKE_INSTALL_LIBDIR=. -DBUILD_SHARED=OFF \
        -DBUILD_TESTS=OFF -DWITH_PERF_TOOL=OFF -DWITH_DOCS=OFF -DENABLE_WS=OFF -DWITH_LIBBSD=OFF \
        -DCMAKE_CXX_FLAGS="-ffile-prefix-map=$build/="
    grep -q "Using libsodium" "$build/log/zeromq-configure" || fail "libzmq does not find libsodium"
    quietly zeromq cmake --build "$source/build" --target install
}

elfutils() {
    local source folder
    source=$(source_of elfutils)
    (cd "$source" && quietly elfutils-configure ./configure --disable-debuginfod --disable-libdebuginfod --disable-nls \
        --without-bzlib --without-zstd CFLAGS="-O2 -fPIC -ffile-prefix-map=$build/=")
    for folder in lib libelf libcpu backends libebl libdwelf libdwfl libdw; do
        quietly "elfutils-$folder" make -j "$(nproc)" -C "$source/$folder"
    done
    cp "$source/libelf/libelf.a" "$source/libdw/libdw.a" "$linked"
}

[ -f "$linked/libc.so" ] || c_library
[ -f "$linked/libzmq.a" ] || zeromq
[ -f "$linked/libdw.a" ] || elfutils
[ -f "$headers/Python.h" ] || later_headers

rm -rf "$build/new" "$build/tree"
LDFLAGS="-B$linked -L$linked -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL" quietly tare \
    "$python" -m pip wheel --no-deps --no-build-isolation --wheel-dir "$build/new" . \
    -C build-dir="$build/tare" -C install.strip=true \
    -C cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -C cmake.define.CMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -C cmake.define.TARE_LIBDW="$linked/libdw.a" \
    -C cmake.define.TARE_LIBELF="$linked/libelf.a;$archives/libz.a;$archives/liblzma.a" \
    -C cmake.define.TARE_OTF2="$archives/libopen-trace-format2.a" \
    -C cmake.define.TARE_ZMQ="$linked/libzmq.a;$archives/libsodium.a" \
    -C cmake.define.TARE_ZMQ_INCLUDE="$linked/include" \
    -C cmake.define.TARE_STABLE_PYTHON="$headers"

quietly unpack "$python" -m wheel unpack "$build"/new/tare_mpi-*.whl --dest "$build/tree"
tree=$(echo "$build"/tree/tare_mpi-*)
strip "$tree/tare/lib/libtare_record.so"  # which CMake installs as a mere file

licences=$(echo "$tree"/*.dist-info)/licenses/linked
mkdir "$licences"
for package in zeromq3 elfutils; do
    cp "$build/$package"/*/debian/copyright "$licences/$package"
done
cp "$("$python" -c 'import importlib.metadata as m; print(m.distribution("nanobind").locate_file(""))')"/nanobind-*/licenses/LICENSE \
    "$licences/nanobind"
for package in libzstd-dev zlib1g-dev liblzma-dev libotf2-trace-dev libsodium-dev libprotozero-dev \
    cppzmq-dev "libstdc++-$(gcc -dumpversion)-dev" libc6-dev; do
    cp "/usr/share/doc/$package/copyright" "$licences/$package"
done
for text in $(grep -oh '/usr/share/common-licenses/[A-Za-z]*-[0-9.]*[0-9]' "$licences"/* | sort -u); do
    cp "$text" "$licences/"
done

pack() { # pack PYTHON-TAG ABI-TAG OTHERS: the wheel of that ABI, without the modules whose names contain OTHERS
    local needed wheel
    rm -rf "$build/new" "$build/part"
    mkdir -p "$build/new" "$build/part"
    cp -al "$tree" "$build/part"
    rm "$build"/part/*/tare/_*"$3"*.so
    quietly pack "$python" -m wheel pack "$build/part/${tree##*/}" --dest-dir "$build/new"
    quietly tags "$python" -m wheel tags --remove --python-tag "$1" --abi-tag "$2" --platform-tag "$platform" \
        "$build"/new/tare_mpi-*.whl
    wheel=$(echo "$build"/new/tare_mpi-*.whl)
    quietly policy "$python" -m auditwheel show "$wheel"
    needed=$(sed -n "s/.*tag: \"manylinux_${glibc%.*}_\([0-9]*\)_$machine\".*/\1/p" "$build/log/policy")
    [ "${needed:-99}" -le "${glibc#*.}" ] || { cat "$build/log/policy" >&2; fail "it needs more than $platform"; }
    mv "$wheel" dist/
    echo "dist/${wheel##*/}: $(($(stat -c %s "dist/${wheel##*/}") / 1000)) kB"
}

mkdir -p dist
rm -f dist/tare_mpi-*.whl
pack cp311 cp311 .abi3
pack cp312 abi3 .cpython-311
