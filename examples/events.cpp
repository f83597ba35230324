// Regions, counters, markers, phases and events from C++: `events [directory of a run of its own]`.
#include <cstdint>
#include <cstdio>
#include <tare/tare.hpp>

int main(int argc, char** argv) {
  if (argc > 1 && !tare::start(argv[1])) {
    std::perror(argv[1]);
    return 1;
  }
  const tare::phase iterate{"iterate"};
  const tare::region solve{"solve"};
  const tare::counter memory{"memory", "bytes"};
  const tare::marker restart{"restart"};
  const tare::event<int, double> step{"step"};
  const tare::packed sizes{"sizes"};
  const tare::raw text{"log"};

  {
    const auto iterating = iterate.begin();
    for (int i = 0; i < 3; ++i) {
      const auto solving = solve.enter();
      memory(1024.0 * i);
      step(-i, 0.5 * i);
      sizes(1, 1000, UINT64_MAX);
    }
    restart();
    text("converged");
    tare::pause();
    restart();  // not recorded
    tare::resume();
  }
  tare::flush();  // the buffer of the trace is written now
  std::puts(tare::recording() ? "recorded" : "not recorded");
}
