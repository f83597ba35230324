// libtare_record.so: the recorder without MPI functions, for programs that link it. If libtare.so is preloaded, calls
// of the API reach that library instead, and the events lie in the trace of the MPI calls.
#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::recorder {

constinit const Options library_options{.location_bytes = sizeof(Location), .rows = 1};

}  // namespace tare::recorder
