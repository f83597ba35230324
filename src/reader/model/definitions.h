// The definition log of one process as tables: the meaning of the numbers in its records and rows.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/definition.h"
#include "reader/model/number_table.h"

namespace tare::reader {

struct Module {
  std::string path;
  std::string build_id;  // bytes
  bool of_program = false;
};

// Frames of call paths.
struct NativeFrame {
  std::uint32_t number;
  std::uint32_t module;   // format::no_module: of none
  std::uint64_t address;  // return address
};
struct PythonFrame {
  std::uint32_t number;
  std::uint32_t line;
  bool of_program;
  std::string file;
  std::string function;
};

// A call site: frames paths[first] to paths[first + frames - 1] of its Definitions.
struct Site {
  std::uint32_t number;
  std::uint32_t first;
  std::uint16_t frames;
  std::uint16_t flags;  // format::SiteFlags
};

// The members of a group as ranks in the world of the process, -1 for those of other worlds; stored as runs.
class Members {
 public:
  Members() = default;
  // False if the runs do not have `size` members together; then nothing changes.
  bool assign(std::vector<format::MemberRun> runs, std::int32_t size);
  const std::vector<format::MemberRun>& runs() const { return runs_; }
  std::int32_t world_rank(std::int32_t rank) const;     // -1: no such member, or of another world
  std::int32_t rank_of(std::int32_t world_rank) const;  // -1: no member
  bool has(std::int32_t world_rank) const { return rank_of(world_rank) >= 0; }

 private:
  std::vector<format::MemberRun> runs_;
  std::vector<std::int64_t> begins_;
  std::int32_t size_ = 0;
};

// A communicator, as its process knows it.
struct Communicator {
  std::string name;
  std::int32_t size = 0;         // of the local group
  std::int32_t remote_size = 0;  // 0: intracommunicator
  std::uint64_t key = 0;         // equal on all members of a world; 0: not known
  std::uint32_t group = 0;       // number in the process, 0: not known
  std::uint32_t remote_group = 0;
};

// A window or a file, as its process knows it.
struct Scope {
  bool is_file = false;
  format::WindowFlavour flavour = format::WindowFlavour::none;
  std::uint32_t communicator = 0;  // number in the process, 0: not known
  std::uint64_t key = 0;           // as of a communicator
  std::string name;
};

// The meaning of events of one type.
struct EventType {
  format::EventClass event_class = format::EventClass::regular;
  std::string name, unit;
  std::vector<format::ParameterType> parameters;

  // clang-tidy 14 takes the 0 of the comparison for a pointer.
  auto operator<=>(const EventType&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A spell: a part of the run of its process between two passages. Times are ticks.
struct Spell {
  bool measured = true;
  bool traced = false;
  bool cut = false;           // its depth was lowered before its end
  bool control = false;       // other spells are compared with it
  bool has_requests = false;  // format::spell_with_requests
  bool finished = true;       // else only its begin is known
  std::uint32_t passages = 0;
  std::uint32_t first_site = 0, last_site = 0;  // numbers in the process; 0: tare_progress()
  std::uint64_t begin = 0;
  std::uint64_t ticks = 0;
  std::uint64_t flush_ticks = 0;
  std::uint64_t measured_calls = 0;
  std::uint64_t counted_calls = 0;
  std::uint64_t counted_polls = 0;  // of the counted ones
};

struct Definitions {
  NumberTable<Module> modules;
  // In the order of the log. Of entries with the same number, the last is valid.
  std::vector<NativeFrame> native_frames;
  std::vector<PythonFrame> python_frames;
  std::vector<Site> sites;
  std::vector<std::uint32_t> paths;  // numbers of frames, innermost first
  NumberTable<Communicator> communicators;
  NumberTable<Members> groups;
  NumberTable<Scope> scopes;
  std::map<std::uint32_t, std::string> threads;  // names
  NumberTable<EventType> event_types;
  std::map<std::uint32_t, Spell> spells;  // by number

  // Applies entries of the log in order. Entries may be repeated. Unknown kinds are skipped. False if an entry is
  // malformed; the entries before it have been applied.
  bool apply(std::string_view log);
  // Keeps its memory.
  void clear();

  // nullptr if the group is not known.
  const Members* members(std::uint32_t group) const;
};

}  // namespace tare::reader
