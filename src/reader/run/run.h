// Reads a run: the files of its directory and, as long as they exist, the segments of its processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/locations.h"
#include "reader/model/missing_ranks.h"
#include "reader/model/process.h"
#include "reader/model/site_index.h"
#include "reader/profile/site_totals.h"
#include "reader/result.h"
#include "reader/run/expected.h"
#include "reader/run/questions.h"
#include "reader/run/run_paths.h"
#include "reader/run/site_frames.h"
#include "reader/store/run_files.h"
#include "reader/store/warnings.h"
#include "reader/symbols/symbol_table.h"

namespace tare::reader {

// A run as it was when it was opened; to see the progress of a run that goes on, open it again. Reading does not change
// anything on disk. Not thread-safe. References that the member functions return are valid as long as the object.
class Run {
 public:
  // Fails if the directory or archive cannot be read, or if a file has another version of the format. Damaged parts are
  // left out, and warnings() names them.
  static Result<Run> open(const RunPaths& paths);
  // Opens one file of a run that is in memory. `bytes` must outlive the result.
  static Result<Run> of_memory(std::string_view bytes);
  // A run in which nothing was recorded, and nothing is damaged.
  static Run empty();

  // Sorted by (world, rank).
  const std::vector<Process>& processes() const { return processes_; }
  // The ranks of which there are no results here; of some there may be events.
  std::vector<MissingRanks> missing() const { return missing_ranks(processes_, elsewhere_); }
  // The ranks whose results are those that a keeper saved while they ran.
  std::vector<MissingRanks> saved() const { return saved_ranks(processes_); }
  const FunctionNames& functions() const { return *functions_; }
  // Warnings about damaged, missing or incomplete data; one line each. Later queries may add some.
  const std::vector<std::string>& warnings() const { return warnings_.lines(); }
  const RunPaths& paths() const { return paths_; }
  const RunFiles& files() const { return files_; }

  // Reads the profiles of all processes that a question is about once, on several threads, unless the answers are
  // known.
  Answers answer(const Questions& asked);
  // What is going to be asked: the next reading of the profiles answers that, too, and the answers are kept.
  void expect(const Questions& questions);
  // Each of these answers a single question.
  std::vector<ProfileSum> profile_sums(const SumsQuery& query);
  std::vector<PeerSum> peers(const TablesQuery& query);
  std::vector<PhaseSum> phases(const TablesQuery& query);
  // Totals of the whole run by function and call site (profile/site_totals.h). Of the query, `rank`, site_of and the
  // restrictions are used; it must not restrict communicators. Processes 4096 ranks at a time, to limit the memory.
  std::vector<SiteTotal> site_totals(SumsQuery query);

  // The totals of a process, by its index in processes(). The first call reads the profiles of all processes.
  const Totals& totals(std::size_t process);
  // All locations, sorted by process and block. Damaged profiles are left out, and warnings() names them. The first
  // call reads the profiles of all processes.
  const std::vector<Location>& locations();

  // Frames and call sites of all processes; equal ones of several processes are merged. Symbols come from the run, or
  // else from the objects on this machine. The first call looks them up. The frame that is shown for a site depends on
  // the calls of some ranks, so the first call of sites() also reads profiles (site_frames.h).
  const std::vector<FrameInfo>& frames();
  const std::vector<SiteInfo>& sites();
  // Frames whose symbols are not stored in the run, but were found on this machine.
  std::vector<FrameInfo> new_symbols();

  // Message samples. Calls `visit` for each process that received sampled messages, with its index in processes(). The
  // samples are valid during the call. Damaged ones are left out, and warnings() names them.
  void samples(const std::function<void(std::size_t process, const Samples&)>& visit);

  // Communicators of all processes. Those of a world with the same key are merged. If the key is not known,
  // communicators with a name are merged if name and size are equal, others if world, number in the process and size
  // are equal.
  const std::vector<CommunicatorInfo>& communicators() const { return communicators_; }
  // The rank in the world that the process with world rank `rank` addresses as `peer`; no_peer for special peers
  // (MPI_ANY_SOURCE, MPI_PROC_NULL), and if it is not known. `communicator`: an index, or -1.
  std::int32_t world_rank(std::int32_t communicator, std::int32_t rank, std::int32_t peer) const {
    if (communicator < 0 || peer < 0) return format::no_peer;
    const std::int32_t found = communicators_[static_cast<std::size_t>(communicator)].world_rank(rank, peer);
    return found < 0 ? format::no_peer : found;
  }

  // Windows and files of all processes. Those of a world with the same key are merged.
  const std::vector<ScopeInfo>& scopes() const { return scopes_; }

  // Moves the times of the events of each process in all tables and timelines from now on. `maps`: by index in
  // processes(); nullptr: times as recorded. Profiles and cost accounts do not change.
  void move_times(std::vector<std::shared_ptr<const TimeMaps>> maps);

  // Types of events of all processes; equal ones are merged.
  const std::vector<EventType>& event_types() const { return event_types_; }

 private:
  friend class RunLoader;
  Run() = default;
  Answers read_answers(const Questions& questions);
  void read_profiles(std::vector<Answering>& answering);
  void read_totals();
  void keep(const std::vector<std::vector<Location>>& by_process);
  void resolve();
  // The functions and call sites of the first ranks.
  std::vector<CalledSite> called_sites();
  void choose_shown();
  // Whether calls of the function that the program calls so are recorded, as those of another source than MPI.
  bool is_recorded(std::string_view callee) const;
  void find_tail_calls(SiteInfo& site) const;

  RunPaths paths_;
  RunFiles files_;
  std::unique_ptr<FunctionNames> functions_ = std::make_unique<FunctionNames>();
  std::vector<std::unique_ptr<FunctionNames::Map>> maps_;
  std::vector<Process> processes_;
  std::vector<Process> elsewhere_;  // of which there is no more than who they are; in the same order
  Warnings warnings_;
  SymbolTable symbols_;
  std::vector<FrameInfo> frames_;
  std::vector<SiteInfo> sites_;
  bool resolved_ = false, chosen_ = false;
  std::vector<bool> newly_found_;
  std::vector<CommunicatorInfo> communicators_;
  std::vector<ScopeInfo> scopes_;
  std::vector<EventType> event_types_;
  Expected expected_;
  std::vector<Totals> totals_;  // by index in processes_; empty: not computed yet
  std::vector<Location> locations_;
};

}  // namespace tare::reader
