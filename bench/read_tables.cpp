// read_tables RUN_DIR ROUNDS [COLUMN...]: reads all events of a run into Arrow arrays, batch by batch, on one core.
// Prints, for each round, the events (records of the trace), the rows of the table and the seconds of processor time.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "reader/events/event_tables.h"

using namespace tare;

namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "read_tables: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  auto run = reader::Run::open({words[1], "", ""});
  if (!run) return fail(run.error());
  run->sites();
  std::uint64_t events = 0;
  for (const reader::Process& process : run->processes())
    for (const reader::ChunkRef& chunk : process.events) events += chunk.header.records;
  std::optional<std::vector<std::string>> wanted;
  if (count > 3) wanted.emplace(words + 3, words + count);
  for (int round = 0; round < std::atoi(words[2]); ++round) {
    const double began = processor_seconds();
    auto tables = reader::event_table(*run, {}, wanted);
    if (!tables) return fail(tables.error());
    std::vector<reader::arrow::Array> columns;
    std::uint64_t rows = 0;
    for (std::size_t got = 1; got != 0; rows += got) got = tables->next(columns);
    const double seconds = processor_seconds() - began;
    if (!tables->warnings().empty()) return fail(tables->warnings().front());
    std::printf("%llu %llu %.9f\n", static_cast<unsigned long long>(events), static_cast<unsigned long long>(rows),
                seconds);
  }
  return 0;
}
