# External libraries, as imported targets.
#
#   tare::zstd_static  zstd linked in, its symbols hidden: libtare.so may depend on libc alone
#   tare::libdw        elfutils: call sites to source lines (reader only)
#   tare::protozero   writes protobufs; headers only (exporters)
#   tare::libotf2     reads and writes OTF2; optional
#   tare::zmq         libzmq and cppzmq: the monitoring tree
#   tare::static_runtime  the C++ runtime linked in, its symbols hidden
#   Python, nanobind   for tare._native and the wrapper generator

find_path(TARE_ZSTD_INCLUDE zstd.h)
find_library(TARE_ZSTD_STATIC libzstd.a)
if(NOT TARE_ZSTD_INCLUDE OR NOT TARE_ZSTD_STATIC)
  message(FATAL_ERROR "zstd.h and libzstd.a are needed (Debian: apt install libzstd-dev)")
endif()
add_library(tare::zstd_static STATIC IMPORTED)
set_target_properties(tare::zstd_static PROPERTIES
  IMPORTED_LOCATION ${TARE_ZSTD_STATIC}
  INTERFACE_INCLUDE_DIRECTORIES ${TARE_ZSTD_INCLUDE}
  INTERFACE_LINK_OPTIONS LINKER:--exclude-libs,libzstd.a)

find_path(TARE_LIBDW_INCLUDE elfutils/libdwfl.h)
find_library(TARE_LIBDW dw)
find_library(TARE_LIBELF elf)
if(NOT TARE_LIBDW_INCLUDE OR NOT TARE_LIBDW OR NOT TARE_LIBELF)
  message(FATAL_ERROR "elfutils' libdw is needed (Debian: apt install libdw-dev)")
endif()
add_library(tare::libdw INTERFACE IMPORTED)
target_link_libraries(tare::libdw INTERFACE ${TARE_LIBDW} ${TARE_LIBELF})
target_include_directories(tare::libdw INTERFACE ${TARE_LIBDW_INCLUDE})

find_path(TARE_PROTOZERO_INCLUDE protozero/pbf_writer.hpp)
if(NOT TARE_PROTOZERO_INCLUDE)
  message(FATAL_ERROR "protozero's headers are needed (Debian: apt install libprotozero-dev)")
endif()
add_library(tare::protozero INTERFACE IMPORTED)
set_target_properties(tare::protozero PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${TARE_PROTOZERO_INCLUDE})

find_path(TARE_ZMQ_INCLUDE zmq.h)
find_path(TARE_CPPZMQ_INCLUDE zmq.hpp)
find_library(TARE_ZMQ zmq)
if(NOT TARE_ZMQ_INCLUDE OR NOT TARE_CPPZMQ_INCLUDE OR NOT TARE_ZMQ)
  message(FATAL_ERROR "libzmq and cppzmq are needed (Debian: apt install libzmq3-dev cppzmq-dev)")
endif()
add_library(tare::zmq INTERFACE IMPORTED)
target_link_libraries(tare::zmq INTERFACE ${TARE_ZMQ})
target_include_directories(tare::zmq INTERFACE ${TARE_ZMQ_INCLUDE} ${TARE_CPPZMQ_INCLUDE})

# Without it there is no module tare._otf2, and `tare export --to otf2` says what to install.
find_path(TARE_OTF2_INCLUDE otf2/otf2.h)
find_library(TARE_OTF2 otf2)
if(TARE_OTF2_INCLUDE AND TARE_OTF2)
  add_library(tare::libotf2 INTERFACE IMPORTED)
  target_link_libraries(tare::libotf2 INTERFACE ${TARE_OTF2})
  target_include_directories(tare::libotf2 INTERFACE ${TARE_OTF2_INCLUDE})
endif()

add_library(tare::static_runtime INTERFACE IMPORTED)
target_link_options(tare::static_runtime INTERFACE
  -static-libstdc++ -static-libgcc
  LINKER:--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a)

find_package(Threads REQUIRED)

# The generator of src/mpi needs an interpreter with pympistandard; the module its headers as well.
if(TARE_BINDINGS)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind CONFIG REQUIRED)
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
endif()

if(TARE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TARE_BENCH)
  find_package(benchmark REQUIRED)
endif()
