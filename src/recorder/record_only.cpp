// libtare_record.so: the recorder for programs that link it, without MPI's names. Where libtare.so is preloaded,
// the program's calls reach that one, and the events lie in the trace of its MPI calls.
#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::recorder {

constinit const Options library_options{.location_bytes = sizeof(Location), .rows = 1};

}  // namespace tare::recorder
