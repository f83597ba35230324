// The events with LiTL, packed: its regular ones lose their parameters (0.1.9). Flushes when the buffer is full.
#include "events.h"

extern "C" {
#include <litl_write.h>
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  litl_write_trace_t* trace = litl_write_init_trace(static_cast<litl_size_t>(arguments.buffer));
  std::string path = arguments.path;
  litl_write_set_filename(trace, path.data());
  litl_write_buffer_flush_on(trace);
  if (arguments.threads > 1) litl_write_thread_safety_on(trace);
  if (arguments.table) {
    fill_table_of_type(arguments, [trace](const auto* v, unsigned count) {
      litl_t* written;
      if (count == 0) litl_write_probe_pack_0(trace, 1, written);
      if (count == 1) litl_write_probe_pack_1(trace, 1, v[0], written);
      if (count == 2) litl_write_probe_pack_2(trace, 1, v[0], v[1], written);
      if (count == 3) litl_write_probe_pack_3(trace, 1, v[0], v[1], v[2], written);
      if (count == 4) litl_write_probe_pack_4(trace, 1, v[0], v[1], v[2], v[3], written);
      if (count == 5) litl_write_probe_pack_5(trace, 1, v[0], v[1], v[2], v[3], v[4], written);
      if (count == 6) litl_write_probe_pack_6(trace, 1, v[0], v[1], v[2], v[3], v[4], v[5], written);
    });
  } else {
    print_cost(arguments, [trace](int i) {
      const int a = i, b = i + 1, c = i + 2, d = i + 3;
      litl_t* written;
      litl_write_probe_pack_4(trace, 1, a, b, c, d, written);
    });
  }
  litl_write_finalize_trace(trace);
}
