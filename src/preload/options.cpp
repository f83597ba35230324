// How libtare.so uses the recorder, and the sources of events that it contains.
#include "recorder/options.h"

#include "files/source.h"
#include "monitor/monitor.h"
#include "mpi/calls/thread.h"
#include "mpi/source.h"
#include "openmp/source.h"
#include "stack/source.h"
#include "stacks/source.h"

namespace {

constexpr const tare::recorder::Source* sources[] = {&tare::stack::call_paths, &tare::mpi::source, &tare::files::source,
                                                     &tare::openmp::source, &tare::stacks::source};

}  // namespace

constinit const tare::recorder::Options tare::recorder::library_options{
    .location_bytes = sizeof(mpi::Thread),
    .rows = usual_rows,
    .requests = true,
    .monitor = &monitor::hooks,
    .sources = sources,
};
