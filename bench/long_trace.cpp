// Makes the files of a traced run of a length that nobody waits for: `long_trace DIR RANKS EVENTS`.
//
// A ring: every rank receives from the left and sends to the right, waits for both, and now and then all meet in a
// reduction. Durations are lognormal. Written by tare's own encoder, a file for each rank.

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "reader/parallel.h"
#include "reader/store/chunk_file.h"
#include "reader/testing/synthetic.h"

namespace {

using namespace tare;
using namespace tare::reader::synthetic;

constexpr std::uint64_t start_ticks = 2000;
constexpr std::size_t records_a_chunk = 8000;
constexpr std::uint32_t events_a_step = 5;  // three calls and two completed requests
constexpr std::uint32_t steps_a_reduction = 64;
constexpr std::uint64_t message_bytes = 4096;

class Rank {
 public:
  Rank(std::uint32_t rank, std::uint32_t ranks, const std::string& dir)
      : process_(process_record(rank, format::ProcessState::exited, rank + 1)),
        left_(static_cast<std::int32_t>((rank + ranks - 1) % ranks)),
        right_(static_cast<std::int32_t>((rank + 1) % ranks)),
        random_(rank),
        file_(dir + "/node" + std::to_string(rank) + ".tare", std::ios::binary) {
    process_.size = static_cast<std::int32_t>(ranks);
    process_.exit_code = 0;
  }

  // All ranks need about the same time, so that messages are received after they were sent.
  void run(std::uint64_t steps, std::uint64_t step_ticks) {
    const std::uint64_t end = start_ticks + (steps + 1) * step_ticks;
    process_.finalize_enter = end;
    process_.end = end + 1000;
    process_.clock_last = {process_.end, process_.end};
    file_ << functions_chunk() << process_chunk(process_) << definitions_chunk(process_, definitions());
    for (std::uint64_t i = 0; i < steps; ++i) {
      step(start_ticks + i * step_ticks, step_ticks, i);
      if (count_ > records_a_chunk) write();
    }
    write();
    file_ << profile_chunk(
        process_, 0,
        {row("MPI_Irecv", 1, 0), row("MPI_Isend", 2, 1), row("MPI_Waitall", 3, 2), row("MPI_Allreduce", 4, 3)});
    if (!file_.flush()) throw std::runtime_error("the files could not be written");
  }

 private:
  std::string definitions() const {
    format::CommunicatorDefinition world{};
    world.communicator = world.group = 1;
    world.key = 7;
    world.size = process_.size;
    std::string log = group_definition(1, {{0, 1, static_cast<std::uint32_t>(process_.size)}}) +
                      communicator_definition(world, "MPI_COMM_WORLD");
    for (std::uint32_t site = 1; site < 5; ++site) log += python_site_definition(site, "ring.py", "step", 10 + site);
    return log;
  }
  void step(std::uint64_t at, std::uint64_t length, std::uint64_t number) {
    std::lognormal_distribution<double> spread(0, 0.4);
    const auto part = [&](double share) {
      return 20 +
             static_cast<std::uint64_t>(std::min(share * spread(random_), 2 * share) * static_cast<double>(length));
    };
    const auto request = static_cast<std::uint32_t>(number % 1000 + 1);
    std::uint64_t now = at + part(0.1);
    now = call("MPI_Irecv", 1, now, part(0.01), left_, 3, 2 * request, 0);
    now = call("MPI_Isend", 2, now, part(0.02), right_, 3, 2 * request + 1, 1);
    call("MPI_Waitall", 3, now, part(0.3), format::no_peer, format::no_tag, 0, 2);
    completed(2 * request, message_bytes, left_);
    completed(2 * request + 1, format::no_bytes, format::no_peer);
    if (number % steps_a_reduction == 0)
      call("MPI_Allreduce", 4, at + length * 9 / 10, length / 20, format::no_peer, format::no_tag, 0, 3);
  }
  std::uint64_t call(const char* function, std::uint32_t site, std::uint64_t enter, std::uint64_t ticks,
                     std::int32_t peer, std::int32_t tag, std::uint32_t request, std::size_t which) {
    format::CallRecord record = call_record(function, site, enter, enter + ticks);
    record.peer = peer;
    record.tag = tag;
    record.communicator = 1;
    record.request = request;
    record.bytes = request != 0 ? message_bytes : format::no_bytes;
    add(bytes_of(record));
    ++calls_[which];
    ticks_[which] += ticks;
    return enter + ticks;
  }
  void completed(std::uint32_t request, std::uint64_t bytes, std::int32_t source) {
    const std::int32_t tag = source == format::no_peer ? format::no_tag : 3;
    add(bytes_of(format::CompletionRecord{{format::completion, 3}, request, bytes, source, tag}));
  }
  format::ProfileRow row(const char* function, std::uint32_t site, std::size_t which) const {
    return profile_row(function, site, std::max<std::uint64_t>(calls_[which], 1), ticks_[which],
                       which < 2 ? calls_[which] * message_bytes : 0);
  }
  void add(const std::string& record) {
    records_ += record;
    ++count_;
  }
  void write() {
    if (count_ != 0) file_ << events_chunk(process_, 0, sequence_++, records_);
    records_.clear();
    count_ = 0;
  }

  format::ProcessRecord process_;
  std::int32_t left_, right_;
  std::mt19937 random_;
  std::ofstream file_;
  std::string records_;
  std::size_t count_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint64_t calls_[4] = {}, ticks_[4] = {};
};

}  // namespace

int main(int argc, char** argv) {
  const auto ranks = static_cast<std::uint32_t>(argc == 4 ? std::atoi(argv[2]) : 0);
  const std::uint64_t events = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (ranks < 2 || events == 0) {
    std::cerr << "usage: long_trace DIR RANKS EVENTS\n";
    return 2;
  }
  constexpr std::uint64_t step_ticks = 50'000;
  const std::uint64_t steps = events / ranks / events_a_step;
  try {
    reader::parallel(ranks, std::thread::hardware_concurrency(), [&](unsigned, std::size_t rank) {
      Rank(static_cast<std::uint32_t>(rank), ranks, argv[1]).run(steps, step_ticks);
    });
  } catch (const std::exception& failure) {
    std::cerr << "long_trace: " << failure.what() << '\n';
    return 1;
  }
}
