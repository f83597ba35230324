// The recorder's options for tests of the monitor: with room for a profile, without MPI.
#include "monitor/monitor.h"
#include "recorder/location.h"

namespace tare::recorder {

constinit const Options library_options{
    .location_bytes = sizeof(Location), .rows = usual_rows, .monitor = &monitor::hooks};

}  // namespace tare::recorder
