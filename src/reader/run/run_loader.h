// Builds a Run from chunks and segments. Only for Run::open().
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

class RunLoader {
 public:
  explicit RunLoader(const RunPaths& paths) { run_.paths_ = paths; }

  // Must be called before the files are opened. What a process drains in between is then found twice, and counted once;
  // in the other order it would be missed.
  void read_segments();
  Result<Run> load(RunFiles files);

 private:
  struct SegmentContents {
    SegmentFile file;
    format::ProcessRecord record;
    std::string definitions;
    std::vector<SegmentFile::Payload> payloads;
    std::vector<LocationCopy> locations;
    std::map<std::uint32_t, Buffered> buffered;
    std::vector<format::RequestEntry> requests;
  };

  Process& process_of(std::uint64_t id) { return processes_[id]; }
  void warn(std::string message) { run_.warnings_.add(std::move(message)); }
  void read_segment(SegmentFile file);
  void note_ended();
  void take_chunk(const ChunkRef& chunk);
  static bool take_of_process(format::ChunkType type, std::string_view payload, Process& process);
  bool take_payload(const ChunkRef& chunk, std::string_view payload);
  void take_segment(SegmentContents contents);
  void complete(Process& process) const;
  void set_state(Process& process) const;
  static void end_replaced(const std::vector<Process*>& processes);
  void set_clocks(const std::vector<Process*>& processes) const;
  void warn_of_lost_definitions();
  void load_definitions();
  std::vector<std::string> read_definitions(Process& process, std::vector<char>& raw) const;
  void index_communicators(Process& process);
  void index_scopes(Process& process);  // after index_communicators()
  void index_event_types(Process& process);

  Run run_;
  std::vector<SegmentContents> segments_;
  std::unordered_map<std::uint64_t, Process> processes_;
  std::unordered_map<std::uint64_t, std::uint32_t> file_of_;  // by process: its first file
  std::unordered_map<std::uint32_t, const FunctionNames::Map*> maps_by_file_;
  std::unordered_map<std::string, std::int32_t> communicator_index_;
  std::map<std::tuple<std::uint64_t, int, std::uint64_t>, std::int32_t> scope_index_;
  std::map<EventType, std::int32_t> event_type_index_;
  std::unordered_map<std::uint64_t, std::vector<const ChunkRef*>> definitions_;  // by process, in order of the file
  std::unordered_map<std::uint64_t, std::string> logs_;  // by process: the definition log in its segment
  std::unordered_set<std::uint64_t> ended_;              // processes that have ended, as the files say
  std::vector<char> raw_;
};

}  // namespace tare::reader
