#include "importers/litl/import_litl.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "importers/litl/trace_file.h"
#include "importers/run_file.h"

namespace tare::importers::litl {

namespace {

using namespace tare::format;

class Importer {
 public:
  Importer(const TraceFile& trace, RunFile& file, std::uint64_t start_ns)
      : trace_(trace), file_(file), start_ns_(start_ns) {}

  // An error message, or empty.
  std::string run();
  Imported done() const { return done_; }

 private:
  std::string find_first();
  ProcessRecord describe(const Process& process, std::uint64_t number) const;
  std::string add_thread(ProcessWriter& process, const Process& of, const Thread& thread, std::uint32_t number);
  static void add(ProcessWriter& process, ThreadWriter& writer, const Event& event, std::uint64_t ticks);

  const TraceFile& trace_;
  RunFile& file_;
  std::uint64_t start_ns_;
  std::uint64_t left_ = trace_.size();   // bytes of the trace to be read
  std::uint64_t first_ns_ = UINT64_MAX;  // of LiTL's clock
  std::uint64_t last_ticks_ = first_ticks;
  Imported done_;
};

std::string Importer::run() {
  if (std::string error = find_first(); !error.empty()) return error;
  for (const Process& of : trace_.processes()) {
    ProcessWriter process(file_, describe(of, ++done_.processes));
    std::uint32_t number = 0;
    for (const Thread& thread : of.threads)
      if (std::string error = add_thread(process, of, thread, number++); !error.empty()) return error;
    done_.threads += of.threads.size();
    process.finish();
  }
  done_.host = trace_.host();
  done_.start_ns = start_ns_;
  done_.wall_ns = last_ticks_ - first_ticks;
  return {};
}

std::string Importer::find_first() {
  std::uint64_t left = trace_.size();
  for (const Process& process : trace_.processes()) {
    for (const Thread& thread : process.threads) {
      const auto take = [this](const Event& event) {
        first_ns_ = std::min(first_ns_, event.time_ns);
        return false;
      };
      if (std::string error = trace_.read_events(process, thread, left, take); !error.empty()) return error;
    }
  }
  return {};
}

// LiTL has no ranks, so the processes of an archive are numbered.
ProcessRecord Importer::describe(const Process& process, std::uint64_t number) const {
  ProcessRecord record = new_process(number, process.threads.size(), start_ns_);
  record.rank = static_cast<std::int32_t>(number - 1);
  record.size = static_cast<std::int32_t>(trace_.processes().size());
  std::snprintf(record.host, sizeof record.host, "%s", trace_.host().c_str());
  std::snprintf(record.executable, sizeof record.executable, "%s", process.name.c_str());
  return record;
}

std::string Importer::add_thread(ProcessWriter& process, const Process& of, const Thread& thread,
                                 std::uint32_t number) {
  process.name_thread(number, "thread " + std::to_string(thread.id));
  ThreadWriter writer(process, number);
  std::uint64_t last = first_ns_;
  bool is_too_long = false;
  const auto take = [&](const Event& event) {
    // Events of a thread must not go back in time.
    last = std::max(last, event.time_ns);
    is_too_long = last - first_ns_ > longest_ns;
    if (is_too_long) return false;
    const std::uint64_t ticks = last - first_ns_ + first_ticks;
    process.saw(ticks);
    last_ticks_ = std::max(last_ticks_, ticks);
    add(process, writer, event, ticks);
    ++done_.events;
    writer.release(writer.end());
    return !file_.has_failed();
  };
  if (std::string error = trace_.read_events(of, thread, left_, take); !error.empty()) return error;
  if (is_too_long) return "it is damaged: its events lie years apart";
  writer.finish();
  return {};
}

// Only the program that recorded it knows the parameters of a packed event.
void Importer::add(ProcessWriter& process, ThreadWriter& writer, const Event& event, std::uint64_t ticks) {
  char name[24];
  std::snprintf(name, sizeof name, "event 0x%x", event.code);
  if (event.kind == EventKind::raw) {
    // liblitl ends texts with a zero.
    const bool has_end = !event.data.empty() && event.data.back() == '\0';
    const std::string_view data = event.data.substr(0, event.data.size() - (has_end ? 1 : 0));
    writer.add_raw_event(process.event_type(EventClass::raw, name, ""), ticks, data);
    return;
  }
  std::vector<std::uint64_t> words(std::min<std::size_t>((event.data.size() + 7) / 8, max_parameters));
  if (!words.empty()) std::memcpy(words.data(), event.data.data(), std::min(event.data.size(), words.size() * 8));
  writer.add_event(process.event_type(EventClass::packed, name, ""), ticks, words);
}

}  // namespace

reader::Result<Imported> import_litl(std::string_view trace, const std::string& name, const std::string& file,
                                     std::uint64_t start_ns) {
  const auto failure = [&name](const std::string& reason) {
    return reader::Failure{name + " cannot be imported: " + reason};
  };
  const auto read = TraceFile::read(trace);
  if (!read) return failure(read.error());
  RunFile out(file);
  Importer importer(*read, out, start_ns);
  if (const std::string error = importer.run(); !error.empty()) return failure(error);
  if (std::string error = out.finish(); !error.empty()) return reader::Failure{std::move(error)};
  return importer.done();
}

}  // namespace tare::importers::litl
