// The definition log of one process (format/definition.h), parsed into tables. They say what the numbers in the records
// and profile rows of the process mean.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/definition.h"
#include "reader/model/number_table.h"

namespace tare::reader {

struct Module {
  std::string path;
  std::string build_id;  // raw bytes, empty if there is none
  bool of_program = false;
};

// Frames of call paths.
struct NativeFrame {
  std::uint32_t number;
  std::uint32_t module;   // format::no_module: the address lies in no module
  std::uint64_t address;  // return address
};
struct PythonFrame {
  std::uint32_t number;
  std::uint32_t line;
  bool of_program;
  std::string file;
  std::string function;
};

// A call site. Its frames have the numbers paths[first] to paths[first + frames - 1] of Definitions::paths.
struct Site {
  std::uint32_t number;
  std::uint32_t first;
  std::uint16_t frames;
  std::uint16_t flags;  // format::SiteFlags
};

// The members of a group, as ranks in the MPI_COMM_WORLD of the process; -1 for members of other worlds. Stored as runs
// of ranks with a constant stride.
class Members {
 public:
  Members() = default;
  // False if the runs together do not have `size` members; then nothing changes.
  bool assign(std::vector<format::MemberRun> runs, std::int32_t size);
  const std::vector<format::MemberRun>& runs() const { return runs_; }
  // From a rank in the group to the rank in the world. -1: no such member, or it belongs to another world.
  std::int32_t world_rank(std::int32_t rank) const;
  // From a rank in the world to the rank in the group. -1: not a member.
  std::int32_t rank_of(std::int32_t world_rank) const;
  bool has(std::int32_t world_rank) const { return rank_of(world_rank) >= 0; }

 private:
  std::vector<format::MemberRun> runs_;
  std::vector<std::int64_t> begins_;  // for each run, the rank in the group of its first member
  std::int32_t size_ = 0;
};

// A communicator, as its process knows it.
struct Communicator {
  std::string name;
  std::int32_t size = 0;         // of the local group
  std::int32_t remote_size = 0;  // 0: intracommunicator
  std::uint64_t key = 0;         // equal on all members that share a world; 0: not known
  std::uint32_t group = 0;       // number in Definitions::groups; 0: not known
  std::uint32_t remote_group = 0;
};

// A window or a file, as its process knows it.
struct Scope {
  bool is_file = false;
  format::WindowFlavour flavour = format::WindowFlavour::none;
  std::uint32_t communicator = 0;  // number in Definitions::communicators; 0: not known
  std::uint64_t key = 0;           // equal on all members of the communicator; 0: not known
  std::string name;
};

// What the program registered for one type of events of the API.
struct EventType {
  format::EventClass event_class = format::EventClass::regular;
  std::string name, unit;
  std::vector<format::ParameterType> parameters;

  // clang-tidy 14 takes the 0 of the comparison for a pointer.
  auto operator<=>(const EventType&) const = default;  // NOLINT(modernize-use-nullptr)
};

// A spell: the part of the run of a process between two synchronisation points, which are collectives of all ranks or
// calls of tare_progress(), or a timed one of a program without them (recorder/spells.h). Times are in ticks.
struct Spell {
  bool measured = true;
  bool traced = false;
  bool cut = false;                // from some moment on, less was recorded
  bool control = false;            // chosen at random for comparisons: calls were only counted
  bool has_requests = false;       // format::spell_with_requests
  bool completes_unknown = false;  // format::spell_completes_unknown
  bool timed = false;              // format::timed_spell
  bool finished = true;            // false: only its begin is known
  std::uint32_t sync_points = 0;   // its length; 0: a timed one
  // The call sites of the synchronisation points at its ends; 0: tare_progress().
  std::uint32_t first_site = 0, last_site = 0;
  std::uint64_t begin = 0;
  std::uint64_t ticks = 0;
  std::uint64_t flush_ticks = 0;  // part of `ticks`: writing event buffers
  std::uint64_t measured_calls = 0;
  std::uint64_t counted_calls = 0;  // further calls, which were only counted
  std::uint64_t counted_polls = 0;  // part of counted_calls
  // Part of `ticks`: calls were only counted, and the call that ends the spell is left out. Not known in earlier runs.
  std::optional<std::uint64_t> counted_ticks;
};

struct Definitions {
  NumberTable<Module> modules;
  // In the order of the log. If entries have the same number, the last one is valid.
  std::vector<NativeFrame> native_frames;
  std::vector<PythonFrame> python_frames;
  std::vector<Site> sites;
  std::vector<std::uint32_t> paths;  // numbers of frames, innermost first
  NumberTable<Communicator> communicators;
  NumberTable<Members> groups;
  std::map<std::uint32_t, Members> epoch_groups;  // those of epochs of one-sided accesses, by number
  NumberTable<Scope> scopes;
  std::string executable;                        // empty if its path fits into the process record
  std::map<std::uint32_t, std::string> threads;  // names, by number of the thread
  NumberTable<EventType> event_types;
  std::map<std::uint32_t, Spell> spells;  // by number

  // Applies the entries of `log` in order. Entries may be repeated, and entries of unknown kinds are skipped. False if
  // an entry is malformed; the entries before it have been applied then.
  bool apply(std::string_view log);
  // Removes all definitions. The memory is kept for the next log.
  void clear();

  // The members of a group, by its number. nullptr if the group is not known. Valid until the next change.
  const Members* members(std::uint32_t group) const;
};

}  // namespace tare::reader
