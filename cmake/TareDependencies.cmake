# External libraries, as imported targets.
#
#   tare::zstd         zstd linked in, its symbols hidden: libtare.so may depend on libc alone
#   tare::libdw        elfutils: call sites to source lines (reader only)
#   tare::static_runtime  the C++ runtime linked in, its symbols hidden
#   Python, nanobind   for tare._native and the wrapper generator
#
# Optional; TARE_WITHOUT names those that are missing, and the package tells users so (python/tare/packages.py):
#
#   tare::protozero    writes protobufs; headers only (exporters)
#   tare::libotf2      reads and writes OTF2
#   tare::zmq          libzmq and cppzmq: the monitoring tree
set(TARE_WITHOUT)
set(needed)

# tare_optional(<name> <what does not work without it> <variable>...): FOUND_<name> says whether all are set.
function(tare_optional name lost)
  set(found ON)
  foreach(variable IN LISTS ARGN)
    if(NOT ${variable})
      set(found OFF)
    endif()
  endforeach()
  set(FOUND_${name} ${found} PARENT_SCOPE)
  if(NOT found)
    message(STATUS "tare: ${name} is not here; without it: ${lost}")
    set(TARE_WITHOUT ${TARE_WITHOUT} ${name} PARENT_SCOPE)
  endif()
endfunction()

find_path(TARE_ZSTD_INCLUDE zstd.h)
find_library(TARE_ZSTD NAMES libzstd.a zstd)
if(TARE_ZSTD_INCLUDE AND TARE_ZSTD)
  add_library(tare::zstd UNKNOWN IMPORTED)
  set_target_properties(tare::zstd PROPERTIES
    IMPORTED_LOCATION ${TARE_ZSTD}
    INTERFACE_INCLUDE_DIRECTORIES ${TARE_ZSTD_INCLUDE})
  if(TARE_ZSTD MATCHES "\\.a$")
    set_target_properties(tare::zstd PROPERTIES INTERFACE_LINK_OPTIONS LINKER:--exclude-libs,libzstd.a)
  else()
    message(STATUS "tare: libzstd.a is not here; without it: programs that are measured load ${TARE_ZSTD}")
  endif()
else()
  list(APPEND needed "zstd (Debian: libzstd-dev)")
endif()

find_path(TARE_LIBDW_INCLUDE elfutils/libdwfl.h)
find_library(TARE_LIBDW dw)
find_library(TARE_LIBELF elf)
if(TARE_LIBDW_INCLUDE AND TARE_LIBDW AND TARE_LIBELF)
  add_library(tare::libdw INTERFACE IMPORTED)
  target_link_libraries(tare::libdw INTERFACE ${TARE_LIBDW} ${TARE_LIBELF})
  target_include_directories(tare::libdw INTERFACE ${TARE_LIBDW_INCLUDE})
else()
  list(APPEND needed "elfutils' libdw (Debian: libdw-dev)")
endif()

find_path(TARE_PROTOZERO_INCLUDE protozero/pbf_writer.hpp)
tare_optional(protozero "tare export --to perfetto, tare view --in perfetto (Debian: libprotozero-dev)"
  TARE_PROTOZERO_INCLUDE)
if(FOUND_protozero)
  add_library(tare::protozero INTERFACE IMPORTED)
  set_target_properties(tare::protozero PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${TARE_PROTOZERO_INCLUDE})
endif()

find_path(TARE_ZMQ_INCLUDE zmq.h)
find_path(TARE_CPPZMQ_INCLUDE zmq.hpp)
find_library(TARE_ZMQ zmq)
tare_optional(ZeroMQ "tare run --monitor, tare sweetspot (Debian: libzmq3-dev cppzmq-dev)"
  TARE_ZMQ_INCLUDE TARE_CPPZMQ_INCLUDE TARE_ZMQ)
if(FOUND_ZeroMQ)
  add_library(tare::zmq INTERFACE IMPORTED)
  target_link_libraries(tare::zmq INTERFACE ${TARE_ZMQ})
  target_include_directories(tare::zmq INTERFACE ${TARE_ZMQ_INCLUDE} ${TARE_CPPZMQ_INCLUDE})
endif()

find_path(TARE_OTF2_INCLUDE otf2/otf2.h)
find_library(TARE_OTF2 otf2)
tare_optional(OTF2 "tare export --to otf2, tare import of OTF2 (Debian: libotf2-trace-dev)"
  TARE_OTF2_INCLUDE TARE_OTF2)
if(FOUND_OTF2)
  add_library(tare::libotf2 INTERFACE IMPORTED)
  target_link_libraries(tare::libotf2 INTERFACE ${TARE_OTF2})
  target_include_directories(tare::libotf2 INTERFACE ${TARE_OTF2_INCLUDE})
endif()

add_library(tare::static_runtime INTERFACE IMPORTED)
target_link_options(tare::static_runtime INTERFACE
  -static-libstdc++ -static-libgcc
  LINKER:--exclude-libs,libstdc++.a:libgcc.a:libgcc_eh.a)

find_package(Threads REQUIRED)

# The module needs headers and nanobind, and the generator pympistandard.
set(components Interpreter)
set(modules)
if(TARE_BINDINGS)
  list(APPEND components Development.Module)
  list(APPEND modules nanobind)
endif()
if(NOT TARE_IS_DISTRIBUTED)
  list(APPEND modules pympistandard)
endif()
find_package(Python 3.11 COMPONENTS ${components})
if(Python_FOUND)
  foreach(module IN LISTS modules)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import ${module}" RESULT_VARIABLE failed ERROR_QUIET)
    if(failed)
      list(APPEND needed "the Python package ${module} (${Python_EXECUTABLE} -m pip install ${module})")
    endif()
  endforeach()
else()
  list(APPEND needed "Python 3.11 or later with its headers (Debian: python3-dev)")
endif()
if(needed)
  list(JOIN needed ", " needed)
  message(FATAL_ERROR "tare needs ${needed}")
endif()

if(TARE_BINDINGS)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)
  find_package(nanobind CONFIG REQUIRED)
endif()

if(TARE_TESTS)
  find_package(GTest REQUIRED)
endif()
if(TARE_BENCH)
  find_package(benchmark REQUIRED)
endif()
