// Writes the file of a run (docs/format.md) from calls that other tools have recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "format/chunk.h"
#include "format/definition.h"
#include "format/descriptor.h"
#include "format/process_record.h"
#include "format/profile_row.h"
#include "format/record.h"
#include "reader/store/buffer_encoder.h"

namespace tare::importers {

// A trace in which more time passes (18 years), or that begins later (in the year 2116), is damaged.
inline constexpr std::uint64_t longest_ns = std::uint64_t{1} << 59, latest_ns = std::uint64_t{1} << 62;

// The ticks of the first event of a trace: none is at 0. A tick is a nanosecond.
inline constexpr std::uint64_t first_ticks = 1'000'000;

// The record of the process of this number, from 1 on, that has ended well; its rank is not known. `start_ns`: the Unix
// time of first_ticks.
format::ProcessRecord new_process(std::uint64_t number, std::size_t threads, std::uint64_t start_ns);

// A file of chunks, which begins with the names of tare's functions. After a failure nothing more is written, and
// finish() returns the failure.
class RunFile {
 public:
  explicit RunFile(std::string path);
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  void write(std::string_view bytes);
  void write_chunk(const format::ChunkHeader& identity, std::string_view payload);
  bool has_failed() const { return !failure_.empty(); }
  // The failure, or empty.
  std::string finish();

 private:
  void fail(int error);

  std::string path_, failure_;
  format::Descriptor file_;
};

// A place in the program, in a call path.
struct Place {
  std::string function, file;
  std::uint32_t line = 0;
  auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A communicator, as one of its members knows it.
struct Membership {
  std::uint32_t number = 0;
  std::uint64_t key = 0;
  std::string name;
  std::int32_t rank = 0;
  std::vector<std::int32_t> members, remote_members;  // ranks of the world; the latter of an intercommunicator
};

// One process. Its definitions get numbers when they are first used.
class ProcessWriter {
 public:
  // The file must outlive it. finish() sets the times of the record.
  ProcessWriter(RunFile& file, const format::ProcessRecord& record) : file_(file), record_(record) {}

  void define_communicator(const Membership& of);
  void name_thread(std::uint32_t thread, std::string_view name);
  // Innermost place first; 0 if there is none.
  std::uint32_t site(const std::vector<Place>& path);
  // `types`: of the parameters of a regular event.
  std::uint32_t event_type(format::EventClass event_class, const std::string& name, const std::string& unit,
                           const std::vector<format::ParameterType>& types = {});

  format::ProcessRecord& record() { return record_; }
  RunFile& file() { return file_; }
  // The process was alive at this time.
  void saw(std::uint64_t ticks);
  // Called after the events of all threads.
  void finish();

 private:
  template <typename Body>
  void define(format::DefinitionKind kind, Body body, std::string_view behind);
  std::uint32_t group(const std::vector<std::int32_t>& members);

  RunFile& file_;
  format::ProcessRecord record_;
  std::string log_;
  std::uint32_t groups_ = 0;
  std::map<Place, std::uint32_t> frames_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sites_;
  std::map<std::tuple<format::EventClass, std::string, std::string, std::vector<format::ParameterType>>, std::uint32_t>
      event_types_;
};

// The records of one thread, in the order in which calls return. Its profile is the sum of them.
class ThreadWriter {
 public:
  // The process must outlive it.
  ThreadWriter(ProcessWriter& process, std::uint32_t thread) : process_(process), thread_(thread) {}

  // Returns where the record lies, for call_at() and start_at().
  template <typename Record>
  std::size_t add(const Record& record) {
    records_.append(reinterpret_cast<const char*>(&record), sizeof record);
    return begin_ + records_.size() - sizeof record;
  }
  // At most format::max_parameters of them.
  void add_event(std::uint32_t type, std::uint64_t ticks, std::span<const std::uint64_t> parameters);
  // Longer ones are cut to format::max_raw_bytes.
  void add_raw_event(std::uint32_t type, std::uint64_t ticks, std::string_view data);
  // A record that can still be completed; nullptr if it was written out.
  template <typename Record>
  Record* at(std::size_t position) {
    return position < begin_ ? nullptr : reinterpret_cast<Record*>(records_.data() + (position - begin_));
  }
  // Writes out what lies before the position, if that is much.
  void release(std::size_t position);
  std::size_t end() const { return begin_ + records_.size(); }
  void finish();

 private:
  using RowKey = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint8_t>;

  void write_out(std::size_t bytes);
  void count(const char* record, std::size_t size);
  RowKey add_to_profile(const format::CallRecord& call, std::uint64_t received);

  ProcessWriter& process_;
  std::uint32_t thread_;
  std::string records_;
  std::size_t begin_ = 0;  // position of the first of records_
  std::uint32_t sequence_ = 0;
  std::uint64_t count_ = 0, completions_ = 0, api_events_ = 0;
  std::map<RowKey, format::ProfileRow> rows_;
  RowKey last_row_{};
  std::unordered_map<std::uint32_t, RowKey> started_;  // by request
  reader::BufferEncoder encoder_;
};

}  // namespace tare::importers
