// The events with FxT: one buffer for all threads, every parameter 8 bytes.
#include "events.h"

#define CONFIG_FUT
extern "C" {
#include <fut.h>
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  std::string path = arguments.path;
  fut_set_filename(path.data());
  enable_fut_flush();
  if (fut_setup(arguments.buffer, FUT_KEYMASKALL, 0) < 0) return 1;
  if (arguments.table) {
    fill_table_of_type(arguments, [](const auto* values, unsigned count) {
      std::uint64_t v[table_parameters] = {};
      for (unsigned p = 0; p < count; ++p) std::memcpy(&v[p], &values[p], sizeof values[p]);
      if (count == 0) FUT_DO_PROBE0(1);
      if (count == 1) FUT_DO_PROBE1(1, v[0]);
      if (count == 2) FUT_DO_PROBE2(1, v[0], v[1]);
      if (count == 3) FUT_DO_PROBE3(1, v[0], v[1], v[2]);
      if (count == 4) FUT_DO_PROBE4(1, v[0], v[1], v[2], v[3]);
      if (count == 5) FUT_DO_PROBE5(1, v[0], v[1], v[2], v[3], v[4]);
      if (count == 6) FUT_DO_PROBE6(1, v[0], v[1], v[2], v[3], v[4], v[5]);
    });
  } else {
    print_cost(arguments, [](int i) { FUT_DO_PROBE4(1, i, i + 1, i + 2, i + 3); });
  }
  fut_endup(path.data());
  fut_done();
}
