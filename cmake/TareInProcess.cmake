# tare::in_process: how everything is compiled that runs inside the measured program and in nothing else.
#
# - No exceptions, but unwind tables: an exception of the program may pass (src/stack/inside.h).
# - Thread-locals without a call: the libraries are preloaded, so their place in the static TLS block is sure.
# - Not vectorised: a record is made of single words just stored, and wide loads of them stall.
add_library(tare_in_process INTERFACE)
add_library(tare::in_process ALIAS tare_in_process)
target_compile_options(tare_in_process INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fasynchronous-unwind-tables;-ftls-model=initial-exec;-fno-tree-vectorize>)
