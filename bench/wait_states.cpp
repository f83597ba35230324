// wait_states RUN_DIR ROUNDS: finds the wait states of a run, their delays and the critical path, on one core. Prints,
// for each round, the events (records of the trace), the seconds of processor time, and the peak memory in MiB.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "reader/waits/wait_report.h"

using namespace tare;

namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "wait_states: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  auto run = reader::Run::open({words[1], "", ""});
  if (!run) return fail(run.error());
  run->sites();
  std::uint64_t events = 0;
  for (const reader::Process& process : run->processes())
    for (const reader::ChunkRef& chunk : process.events) events += chunk.header.records;
  for (int round = 0; round < std::atoi(words[2]); ++round) {
    const double began = processor_seconds();
    const auto report = reader::wait_report(*run);
    if (!report) return fail(report.error());
    if (!report->warnings.empty()) return fail(report->warnings.front());
    const double seconds = processor_seconds() - began;
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    std::printf("%llu %.9f %.1f\n", static_cast<unsigned long long>(events), seconds,
                static_cast<double>(used.ru_maxrss) / 1024);
  }
  return 0;
}
