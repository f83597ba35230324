// For tests: makes run directories and segments from the structs of src/format alone, without the recorder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/chunk.h"
#include "format/definition.h"
#include "format/record.h"
#include "format/sample.h"
#include "format/segment.h"
#include "reader/store/profile.h"

namespace tare::reader::synthetic {

// A temporary directory. The destructor removes it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::string path(const std::string& name = "") const { return path_ + "/" + name; }
  void write(const std::string& name, std::string_view bytes) const;
  std::string read(const std::string& name) const;
  bool has(const std::string& name) const;

 private:
  std::string path_;
};

void write_file(const std::string& path, std::string_view bytes);

// The pid of a process that has ended, which no process has.
unsigned dead_pid();
std::string this_host();

// The number of a function in this build.
std::uint16_t function_number(std::string_view name);

// A process of this host that ran from tick 1000 to 9000, in a world of 2 ranks. A tick is a nanosecond.
format::ProcessRecord process_record(std::uint32_t rank, format::ProcessState state, unsigned pid = dead_pid());
// A sample of calls of a kind (format/weighed.h) that cost `ticks` each.
format::WeighedCalls weighed_calls(unsigned kind, std::uint64_t calls, std::uint64_t ticks);
format::ProfileRow profile_row(std::string_view function, std::uint32_t site, std::uint64_t calls, std::uint64_t ticks,
                               std::uint64_t bytes, std::uint32_t communicator = 1);
format::CallRecord call_record(std::string_view function, std::uint32_t site, std::uint64_t enter, std::uint64_t leave);

// Entries of a definition log.
std::string module_definition(std::uint32_t module, std::string_view path, std::string_view build_id = "",
                              std::uint16_t flags = 0);
std::string frame_definition(std::uint32_t frame, std::uint32_t module, std::uint64_t address);
std::string python_frame_definition(std::uint32_t frame, std::string_view file, std::string_view function,
                                    std::uint32_t line);
std::string path_definition(std::uint32_t site, const std::vector<std::uint32_t>& frames, std::uint16_t flags = 0);
// Sites with a single frame, which has the same number as the site.
std::string site_definition(std::uint32_t site, std::uint32_t module, std::uint64_t address);
std::string python_site_definition(std::uint32_t site, std::string_view file, std::string_view function,
                                   std::uint32_t line);
std::string communicator_definition(std::uint32_t communicator, std::int32_t size, std::string_view name);
std::string group_definition(std::uint32_t group, const std::vector<format::MemberRun>& runs, std::uint16_t flags = 0);
std::string communicator_definition(format::CommunicatorDefinition communicator, std::string_view name = "");
std::string event_type_definition(std::uint32_t type, format::EventClass event_class, std::string_view name,
                                  const std::vector<format::ParameterType>& parameters = {},
                                  std::string_view unit = "");
std::string communicator_name(std::uint32_t communicator, std::string_view name);
std::string window_definition(std::uint32_t window, std::uint32_t communicator, std::uint64_t key);
std::string window_name(std::uint32_t window, std::string_view name);
std::string file_definition(std::uint32_t file, std::uint32_t communicator, std::uint64_t key, std::string_view name);
std::string thread_definition(std::uint32_t thread, std::string_view name);

// Records of the API.
std::string event_record(std::uint32_t type, std::uint64_t time, const std::vector<std::uint64_t>& parameters = {});
std::string raw_event_record(std::uint32_t type, std::uint64_t time, std::string_view bytes);

// Sealed chunks.
std::string chunk(format::ChunkHeader identity, std::string_view payload);
std::string functions_chunk();
// The same of a build in which MPI has these functions.
std::string functions_chunk(const std::vector<std::string>& names);
std::string process_chunk(const format::ProcessRecord& process);
std::string definitions_chunk(const format::ProcessRecord& process, std::string_view log);
std::string profile_chunk(const format::ProcessRecord& process, std::uint32_t block,
                          const std::vector<format::ProfileRow>& rows,
                          const std::vector<format::CountedCalls>& counted = {});
std::string profile_chunk(const format::ProcessRecord& process, std::uint32_t block, Profile profile);
std::string samples_chunk(const format::ProcessRecord& process, const std::vector<format::SampleClass>& classes);
std::string events_chunk(const format::ProcessRecord& process, std::uint32_t block, std::uint32_t sequence,
                         std::string_view records, std::optional<std::uint32_t> thread = {});

template <typename Record>
std::string bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

// A segment file that is mapped and writable, as if a process had made it. If its pid is that of this process, the
// process counts as alive as long as the file is mapped.
class Segment {
 public:
  Segment(const TempDir& dir, const format::ProcessRecord& process, std::uint64_t buffer_bytes = 65536,
          unsigned counter = 0);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  format::SegmentHeader& header();
  format::LocationHeader& location(std::uint32_t block);
  const std::string& name() const { return name_; }

  void define(std::string_view log);
  void add_location();
  void add_row(std::uint32_t block, const format::ProfileRow& row);
  void add_peer(std::uint32_t block, const format::PeerEntry& peer);
  void add_phase(std::uint32_t block, const format::PhaseEntry& phase);
  // Appends to the current sub-buffer, or to the next one if it is full.
  void add_record(std::uint32_t block, std::string_view record);
  void next_sub_buffer(std::uint32_t block, std::uint32_t thread);
  char* sub_buffer(std::uint32_t block, std::uint64_t ordinal);
  void set_drained(std::uint32_t block, format::Drained drained);
  void add_request(const format::RequestEntry& request);
  // Removes the mapping; the file stays.
  void unmap();

 private:
  std::string name_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

inline constexpr const char* run_id = "0123456789abcdef";

}  // namespace tare::reader::synthetic
