// What an offload takes in the process: with so many rows in its profile, under a policy, and with a reader that keeps
// up, comes late, or never comes; warm, and when what the program computes has thrown the profile out of the caches.
// Nataraj et al. (2008) measured 2 to 4 ms for 64 events.
#include <benchmark/benchmark.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "recorder/clock.h"
#include "recorder/commit.h"
#include "recorder/here.h"
#include "recorder/segment.h"
#include "tare/tare.h"

namespace tare::bench {
namespace {

enum Reader : std::int64_t { keeps_up, comes_late, never_comes };

std::uint32_t events = 64;

// A run of this process, with so many rows in the profile of its thread.
void begin() {
  static std::string directory;
  if (directory.empty()) {
    char name[] = "/tmp/tare-offload-XXXXXX";
    if (mkdtemp(name) == nullptr) throw std::runtime_error("no directory for a run");
    directory = name;
    std::atexit([] { std::filesystem::remove_all(directory); });
    if (tare_start((directory + "/run").c_str()) != 0 || recorder::here() == nullptr)
      throw std::runtime_error("nothing is recorded");
    if (recorder::offload_ring() == nullptr) throw std::runtime_error("the run is not monitored: set TARE_MONITOR");
  }
  recorder::Location& location = *recorder::here();
  for (std::uint32_t site = 1; location.shared().summary.rows < events; ++site) {
    recorder::Call call{};
    call.function = 5;
    call.site = site;
    call.bytes = 8;
    recorder::commit(location, call);
  }
}

void read_all() {
  format::OffloadRing& ring = *recorder::offload_ring();
  ring.tail = ring.head.load();
  ring.taken = ring.written.load();
}

void offload(benchmark::State& state) {
  begin();
  read_all();
  const bool is_cold = state.range(1) != 0;
  std::vector<char> computed(is_cold ? std::size_t{64} << 20U : 0);
  std::vector<std::uint64_t> took;
  std::uint64_t round = 0;
  for (auto _ : state) {
    if (is_cold) {
      state.PauseTiming();
      for (std::size_t i = 0; i < computed.size(); i += 64) ++computed[i];
      benchmark::ClobberMemory();
      state.ResumeTiming();
    }
    const std::uint64_t begin = recorder::now();
    tare_offload();
    took.push_back(recorder::now() - begin);
    if (state.range(0) == keeps_up || (state.range(0) == comes_late && ++round % 64 == 0)) read_all();
  }
  std::sort(took.begin(), took.end());
  const format::ClockPair& start = recorder::segment()->process.clock_start;
  const format::ClockPair now = recorder::read_clock_pair();
  const double ns_per_tick =
      static_cast<double>(now.monotonic_ns - start.monotonic_ns) / static_cast<double>(now.ticks - start.ticks);
  state.counters["p50_ns"] = static_cast<double>(took[took.size() / 2]) * ns_per_tick;
  state.counters["p99_ns"] = static_cast<double>(took[took.size() * 99 / 100]) * ns_per_tick;
}
BENCHMARK(offload)->ArgNames({"reader", "cold"})->ArgsProduct({{keeps_up, comes_late, never_comes}, {0}});
// So many, and not as many as make half a second: what empties the caches takes thousands of times longer.
BENCHMARK(offload)->ArgNames({"reader", "cold"})->Args({keeps_up, 1})->Iterations(200);

}  // namespace
}  // namespace tare::bench

// usage: offload_bench [POLICY [EVENTS]] [benchmark's options]
int main(int argc, char** argv) {
  const char* policy = argc > 1 && argv[1][0] != '-' ? argv[1] : "lossy";
  setenv("TARE_MONITOR", (std::string("policy=") + policy + ",depth=4").c_str(), 1);
  if (argc > 2 && argv[2][0] != '-') tare::bench::events = static_cast<std::uint32_t>(std::atoi(argv[2]));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
