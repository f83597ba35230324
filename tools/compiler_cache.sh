# Sourced by what builds for developers: where ccache is installed, what was compiled before is not compiled again, in
# this checkout or in another one. CCACHE_DISABLE=1 leaves it out.
is_writable() { mkdir -p "$1" 2>/dev/null && [ -w "$1" ]; }
if command -v ccache >/dev/null && is_writable "$(ccache --get-config cache_dir)"; then
    export CMAKE_C_COMPILER_LAUNCHER="${CMAKE_C_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
    # Checkouts have other paths, and a clone's headers are as new as its sources.
    export CCACHE_BASEDIR="${CCACHE_BASEDIR-$PWD}" CCACHE_NOHASHDIR=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
fi
