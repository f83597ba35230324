#!/bin/bash
# tools/wheel.sh [MACHINE] : builds dist/tare_mpi-*.whl, which need no more than the C library 2.28 and a Python.
# MACHINE: a processor other than this one's (aarch64). Debian's cross compiler takes the place of the compiler, and the
# stubs and manual pages, which are the same, are those of build/release.
#
# They are two: for CPython 3.11, and by the stable ABI, which nanobind needs 3.12 for, for all versions from then on. They
# differ in the Python modules alone, and all else is built once. One wheel with both would have more than 15 MB.
#
# GCC compiles it as in any build. It is linked with Zig's list of what is in glibc 2.28, and with static libraries, whose
# calls of a newer glibc tools/newer_glibc.c has. Two of them are built here: Debian's libzmq.a needs Kerberos, and its
# libdw.a cannot be part of a library.
set -eu
cd "$(dirname "$0")/.."
glibc=2.28
machine=${1:-$(uname -m)}
platform=manylinux_${glibc/./_}_$machine
build=$PWD/build/manylinux/$machine
linked=$build/linked
python=$PWD/.venv/bin/python
host=$machine-linux-gnu
export CC=$host-gcc CXX=$host-g++
debian=  # where the packages of Debian for that processor are
[ "$machine" = "$(uname -m)" ] || debian=$build/debian
archives=$debian/usr/lib/$host
headers=$build/python/usr/include/python3.13
mkdir -p "$linked"
. tools/debian_files.sh
. tools/compiler_cache.sh
of_debian=

[ "$("$python" -c 'import sys; print(*sys.version_info[:2], sep=".")')" = 3.11 ] ||
    fail "the Python of .venv is not 3.11, for which there is a wheel of its own; Debian 12 has it"

c_library() { # as Zig writes it when it links a program
    echo 'int main(void) { return 0; }' >"$build/none.c"
    rm -rf "$build/zig"
    ZIG_GLOBAL_CACHE_DIR=$build/zig ZIG_LOCAL_CACHE_DIR=$build/zig quietly zig \
        "$python" -m ziglang cc -target "$machine-linux-gnu.$glibc" -fPIE -pie "$build/none.c" -o "$build/none"
    find "$build/zig" \( -name 'lib*.so.*' -o -name Scrt1.o -o -name libc_nonshared.a \) -exec cp {} "$linked" \;
    "$CC" -O2 -fPIC -fvisibility=hidden -c tools/newer_glibc.c -o "$build/newer_glibc.o"
    "$host-ar" rcs "$linked/libnewer_glibc.a" "$build/newer_glibc.o"
    local name
    for name in m.so.6 pthread.so.0 dl.so.2 rt.so.1; do ln -sf lib$name "$linked/lib${name%.*}"; done
    # In a newer one, threads and dlopen are in libc itself, and nobody asks for other libraries.
    echo "GROUP ( $linked/libc.so.6 $linked/libc_nonshared.a $linked/libnewer_glibc.a" \
        "AS_NEEDED ( $linked/libpthread.so.0 $linked/libdl.so.2 $(echo "$linked"/libld.so.*) ) )" >"$linked/libc.so"
}

# What an older build has here, and what is linked statically; zconf.h and pyconfig.h depend on the processor.
foreign_packages() {
    packages debian bookworm libzstd-dev zlib1g-dev liblzma-dev libopen-trace-format2-dev libsodium-dev libgtest-dev libpython3.11-dev
    cat >"$build/toolchain.cmake" <<EOF
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $machine)
if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-$machine-static -L /usr/$host)
endif()
set(CMAKE_CXX_FLAGS_INIT "$of_debian")
set(CMAKE_C_FLAGS_INIT "$of_debian")
EOF
}

later_headers() { # of a Python that the next Debian has
    packages python trixie libpython3.13-dev
}

zeromq() {
    local source
    source=$(source_of zeromq3)
    quietly zeromq-configure cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$linked" -DCMAKE_INSTALL_LIBDIR=. -DBUILD_SHARED=OFF \
        -DBUILD_TESTS=OFF -DWITH_PERF_TOOL=OFF -DWITH_DOCS=OFF -DENABLE_WS=OFF -DWITH_LIBBSD=OFF \
        -DCMAKE_CXX_FLAGS="$of_debian -ffile-prefix-map=$build/="
    grep -q "Using libsodium" "$build/log/zeromq-configure" || fail "libzmq does not find libsodium"
    quietly zeromq cmake --build "$source/build" --target install
}

elfutils() {
    local source folder
    source=$(source_of elfutils)
    (cd "$source" && quietly elfutils-configure ./configure ${debian:+--host="$host"} --disable-debuginfod --disable-libdebuginfod --disable-nls \
        --without-bzlib --without-zstd ${debian:+CPPFLAGS="$of_debian" LDFLAGS="-L$archives"} CFLAGS="-O2 -fPIC -ffile-prefix-map=$build/=")
    for folder in lib libelf libcpu backends libebl libdwelf libdwfl libdw; do
        quietly "elfutils-$folder" make -j "$(nproc)" -C "$source/$folder"
    done
    cp "$source/libelf/libelf.a" "$source/libdw/libdw.a" "$linked"
}

foreign=()  # what the build of tare must know of another processor
if [ -n "$debian" ]; then
    of_debian="-isystem $debian/usr/include -isystem $debian/usr/include/$host"
    [ -f "$build/toolchain.cmake" ] || foreign_packages
    export CMAKE_TOOLCHAIN_FILE=$build/toolchain.cmake CMAKE_PREFIX_PATH=$debian/usr SETUPTOOLS_EXT_SUFFIX=.cpython-311-$host.so
    export PKG_CONFIG_SYSROOT_DIR=$debian PKG_CONFIG_LIBDIR=$archives/pkgconfig
    foreign=(-C cmake.define.TARE_HOST_BUILD="$PWD/build/release" -C cmake.define.Python_INCLUDE_DIR="$debian/usr/include/python3.11")
fi
if ! [ "$linked/libc.so" -nt tools/newer_glibc.c ]; then
    rm -rf "$build/tare" # what is linked with it
    c_library
fi
[ -f "$linked/libzmq.a" ] || zeromq
[ -f "$linked/libdw.a" ] || elfutils
[ -f "$headers/Python.h" ] || later_headers
[ -z "$debian" ] || env -u CC -u CXX -u CMAKE_TOOLCHAIN_FILE -u CMAKE_PREFIX_PATH tools/build.sh

rm -rf "$build/new" "$build/tree"
LDFLAGS="-B$linked -L$linked -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL" quietly tare \
    "$python" -m pip wheel --no-deps --no-build-isolation --wheel-dir "$build/new" . \
    -C build-dir="$build/tare" -C install.strip=true \
    -C cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -C cmake.define.CMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    -C cmake.define.TARE_TESTS=OFF \
    -C cmake.define.TARE_UNITY=ON \
    -C cmake.define.TARE_LIBDW="$linked/libdw.a" \
    -C cmake.define.TARE_LIBELF="$linked/libelf.a;$archives/libz.a;$archives/liblzma.a" \
    -C cmake.define.TARE_OTF2="$archives/libopen-trace-format2.a" \
    -C cmake.define.TARE_ZMQ="$linked/libzmq.a;$archives/libsodium.a" \
    -C cmake.define.TARE_ZMQ_INCLUDE="$linked/include" \
    -C cmake.define.TARE_STABLE_PYTHON="$headers" "${foreign[@]}"

quietly unpack "$python" -m wheel unpack "$build"/new/tare_mpi-*.whl --dest "$build/tree"
tree=$(echo "$build"/tree/tare_mpi-*)
"$host-strip" "$tree/tare/lib/libtare_record.so"  # which CMake installs as a mere file

licences=$(echo "$tree"/*.dist-info)/licenses/linked
mkdir "$licences"
for package in zeromq3 elfutils; do
    cp "$build/$package"/*/debian/copyright "$licences/$package"
done
cp "$("$python" -c 'import importlib.metadata as m; print(m.distribution("nanobind").locate_file(""))')"/nanobind-*/licenses/LICENSE \
    "$licences/nanobind"
for package in libzstd-dev zlib1g-dev liblzma-dev libotf2-trace-dev libsodium-dev libprotozero-dev \
    cppzmq-dev "libstdc++-$("$CC" -dumpversion)-dev" libc6-dev; do
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
rm -f dist/tare_mpi-*_"$machine".whl
pack cp311 cp311 .abi3
pack cp312 abi3 .cpython-311
