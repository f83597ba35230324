// The events with tare's API, in a run of its own. The buffer is set by TARE_BUFFER, BUFFER is ignored.
#include "events.h"
#include "tare/tare.hpp"

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  if (!tare::start(arguments.path.c_str())) return 1;
  if (!arguments.table) {
    const tare_id event = tare_define_event("event", "iiii");
    print_cost(arguments, [event](int i) {
      const auto word = static_cast<std::uint64_t>(i);
      tare_record4(event, word, word + 1, word + 2, word + 3);
    });
    return 0;
  }
  const char letter = arguments.type == "char" ? 'b' : arguments.type == "int" ? 'i' : 'd';
  const tare_id event = tare_define_event("event", std::string(arguments.parameters, letter).c_str());
  fill_table_of_type(arguments, [event](const auto* values, unsigned count) {
    std::uint64_t words[table_parameters];
    for (unsigned p = 0; p < count; ++p) words[p] = tare::detail::word(values[p]);
    tare_record(event, words, count);
  });
}
