// The pieces between a call and its row in a table, each alone and without MPI: the clock, the encoder that a
// drain runs inside the program, and the reader.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "event_streams.h"
#include "format/column.h"
#include "format/decompress.h"
#include "format/event_columns.h"
#include "reader/events/event_stream.h"
#include "reader/testing/synthetic.h"
#include "recorder/clock.h"

namespace tare::bench {
namespace {

constexpr std::size_t stream_records = 64 * format::chunk_records;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Encoder {
  std::unique_ptr<void, Free> workspace{
      std::aligned_alloc(64, (format::EventEncoder::workspace_bytes() + 63) / 64 * 64)};
  format::EventEncoder encoder{workspace.get()};
};

void count(benchmark::State& state, std::size_t each) {
  const auto items = static_cast<std::int64_t>(state.iterations() * each);
  state.SetItemsProcessed(items);
  state.counters["each"] =
      benchmark::Counter(static_cast<double>(items), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// What every timed call pays, whoever measures it.
void clock_twice(benchmark::State& state) {
  recorder::choose_clock();
  for (auto _ : state) {
    std::uint64_t enter = recorder::now();
    benchmark::DoNotOptimize(enter);
    std::uint64_t leave = recorder::now();
    benchmark::DoNotOptimize(leave);
  }
  count(state, 1);
}
BENCHMARK(clock_twice);

void encode(benchmark::State& state, Stream (*make)(std::size_t)) {
  const Stream stream = make(stream_records);
  Encoder encoder;
  std::size_t stored = 0;
  for (auto _ : state) {
    stored = 0;
    for (std::size_t at = 0; at < stream.records.size();) {
      const auto chunk = encoder.encoder.encode({}, stream.records.data() + at, stream.records.size() - at, 0);
      if (chunk.data == nullptr) throw std::logic_error("a record could not be encoded");
      at += chunk.consumed;
      stored += chunk.bytes;
    }
  }
  count(state, stream.count);
  state.counters["bytes_each"] = static_cast<double>(stored) / static_cast<double>(stream.count);
}
BENCHMARK_CAPTURE(encode, same_call, same_call)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, solver, solver)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(encode, random, random_calls)->Unit(benchmark::kMillisecond);

// Values that need that many byte planes.
std::vector<std::int64_t> column_values(std::int64_t planes) {
  std::mt19937_64 random(4);
  std::vector<std::int64_t> values(format::chunk_records, 123);
  if (planes != 0)
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() >> (64 - 8 * planes));
  return values;
}

void column_encode(benchmark::State& state) {
  const auto values = column_values(state.range(0));
  std::vector<char> out(format::column_bound(values.size()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(format::encode_column(values.data(), values.size(), out.data()));
    benchmark::ClobberMemory();
  }
  count(state, values.size());
}
BENCHMARK(column_encode)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

void column_decode(benchmark::State& state) {
  auto values = column_values(state.range(0));
  std::vector<char> out(format::column_bound(values.size()));
  const char* end = format::encode_column(values.data(), values.size(), out.data());
  for (auto _ : state) {
    benchmark::DoNotOptimize(format::decode_column(out.data(), end, values.data(), values.size()));
    benchmark::ClobberMemory();
  }
  count(state, values.size());
}
BENCHMARK(column_decode)->Arg(0)->Arg(1)->Arg(2)->Arg(4)->Arg(8);

// One chunk: decompressed and turned back.
void decode(benchmark::State& state, Stream (*make)(std::size_t)) {
  const Stream stream = make(format::chunk_records);
  Encoder encoder;
  const auto chunk = encoder.encoder.encode({}, stream.records.data(), stream.records.size(), 0);
  format::ChunkHeader header;
  std::memcpy(&header, chunk.data, sizeof header);
  std::vector<char> raw;
  std::string error;
  for (auto _ : state) {
    format::EventColumns events;
    if (!format::decompress(header, chunk.data + sizeof header, raw, error) ||
        !format::decode_columns(header, raw.data(), raw.size(), events, error))
      throw std::logic_error(error);
    benchmark::DoNotOptimize(events.calls.enter.data());
  }
  count(state, chunk.records);
}
BENCHMARK_CAPTURE(decode, same_call, same_call)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode, solver, solver)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(decode, random, random_calls)->Unit(benchmark::kMicrosecond);

// A whole run of `range(0)` ranks: opened, and all events read in the order of time.
void read_run(benchmark::State& state) {
  namespace synthetic = reader::synthetic;
  const Stream stream = solver(stream_records);
  std::string file = synthetic::functions_chunk();
  for (std::uint32_t rank = 0; rank < state.range(0); ++rank) {
    format::ProcessRecord process = synthetic::process_record(rank, format::ProcessState::exited);
    process.size = static_cast<std::int32_t>(state.range(0));
    process.finalize_enter = process.finalize_leave = process.end = stream.end;
    file += synthetic::process_chunk(process) + synthetic::events_chunk(process, 0, 0, stream.records);
  }
  std::size_t rows = 0;
  for (auto _ : state) {
    rows = 0;
    const auto run = reader::Run::of_memory(file);
    if (!run) throw std::logic_error(run.error());
    auto events = reader::EventStream::open(*run, {});
    if (!events) throw std::logic_error(events.error());
    for (std::size_t got = 1; got != 0; rows += got) got = events->next(format::chunk_records).size();
  }
  if (rows == 0) throw std::logic_error("the run has no events");
  count(state, rows);
}
BENCHMARK(read_run)->Arg(1)->Arg(4)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tare::bench

BENCHMARK_MAIN();
