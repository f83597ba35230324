// libtare_record.so: the recorder for programs that link it, without MPI's names. Where libtare.so is preloaded,
// the program's calls reach that one, and the events lie in the trace of its MPI calls.
#include "recorder/location.h"
#include "recorder/process.h"

namespace tare::recorder {

Options default_options() noexcept {
  return {sizeof(Location), 1, false, 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
}

}  // namespace tare::recorder
