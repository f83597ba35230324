#include "event_streams.h"

#include <cmath>
#include <random>

#include "format/functions.h"
#include "format/record.h"

namespace tare::bench {
namespace {

using format::Function;

constexpr std::uint64_t first_tick = 2000;

class Writer {
 public:
  void call(Function function, std::uint32_t site, std::uint64_t gap, std::uint64_t duration, std::uint64_t bytes,
            std::int32_t peer, std::int32_t tag, std::uint32_t request) {
    const std::uint64_t enter = stream_.end + gap;
    stream_.end = enter + duration;
    add(format::CallRecord{{static_cast<std::uint16_t>(function), sizeof(format::CallRecord) / 8},
                           site,
                           enter,
                           stream_.end,
                           bytes,
                           peer,
                           tag,
                           1,
                           request});
  }
  void completion(std::uint32_t request, std::uint64_t bytes, std::int32_t source, std::int32_t tag) {
    add(format::CompletionRecord{
        {format::completion, sizeof(format::CompletionRecord) / 8}, request, bytes, source, tag});
  }
  std::size_t count() const { return stream_.count; }
  Stream take() { return std::move(stream_); }

 private:
  template <class Record>
  void add(const Record& record) {
    stream_.records.append(reinterpret_cast<const char*>(&record), sizeof record);
    ++stream_.count;
  }

  Stream stream_{{}, 0, first_tick};
};

// Times of calls are skewed: mostly the shortest, sometimes a long one.
class Times {
 public:
  explicit Times(std::mt19937_64& random) : random_(random) {}
  std::uint64_t near(double median_ticks) {
    return static_cast<std::uint64_t>(median_ticks * std::exp(spread_(random_)));
  }

 private:
  std::mt19937_64& random_;
  std::normal_distribution<double> spread_{0.0, 0.4};
};

}  // namespace

Stream same_call(std::size_t calls) {
  std::mt19937_64 random(1);
  Times times(random);
  Writer writer;
  while (writer.count() < calls)
    writer.call(Function::MPI_Send, 1, times.near(60), times.near(20), 8, format::proc_null, 0, format::no_request);
  return writer.take();
}

Stream solver(std::size_t records) {
  constexpr std::uint32_t sites = 12;
  constexpr std::uint32_t requests = 16;  // handles are reused, as MPI libraries do
  std::mt19937_64 random(2);
  Times times(random);
  Writer writer;
  std::uint32_t turn = 0;
  while (writer.count() < records) {
    const std::uint32_t site = 3 * (turn % sites);
    const std::uint64_t bytes = 8U << (random() % 8);
    const auto peer = static_cast<std::int32_t>(random() % 6);
    const std::uint32_t received = 0x5000 + 64 * (turn % requests);
    const std::uint32_t sent = 0x9000 + 64 * (turn % requests);
    writer.call(Function::MPI_Irecv, site + 1, times.near(900), times.near(250), bytes, peer, 0, received);
    writer.call(Function::MPI_Isend, site + 2, times.near(120), times.near(500), bytes, peer, 0, sent);
    writer.call(Function::MPI_Waitall, site + 3, times.near(100), times.near(1500), format::no_bytes, format::no_peer,
                format::no_tag, format::no_request);
    writer.completion(received, bytes, peer, 0);
    writer.completion(sent, format::no_bytes, format::no_peer, format::no_tag);
    ++turn;
  }
  return writer.take();
}

Stream random_calls(std::size_t calls) {
  std::mt19937_64 random(3);
  Writer writer;
  while (writer.count() < calls)
    writer.call(static_cast<Function>(1 + random() % format::function_count),
                static_cast<std::uint32_t>(random() % 4096), random() % 1'000'000, random() % 1'000'000,
                random() >> (random() % 64), static_cast<std::int32_t>(random() % 100'000),
                static_cast<std::int32_t>(random() % (1U << 30)), static_cast<std::uint32_t>(random()));
  return writer.take();
}

}  // namespace tare::bench
