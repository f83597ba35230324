// The recorder as tests of the monitor use it: with room for a profile, and without MPI.
#include "monitor/monitor.h"
#include "recorder/location.h"

namespace tare::recorder {

constinit const Options library_options{.location_bytes = sizeof(Location), .rows = 2816, .monitor = &monitor::hooks};

}  // namespace tare::recorder
