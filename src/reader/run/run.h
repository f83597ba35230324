// A run, read: the files of its directory and, while they last, the segments of its processes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/locations.h"
#include "reader/model/process.h"
#include "reader/model/site_index.h"
#include "reader/profile/site_totals.h"
#include "reader/result.h"
#include "reader/run/questions.h"
#include "reader/run/site_frames.h"
#include "reader/store/run_files.h"
#include "reader/store/warnings.h"
#include "reader/symbols/symbol_table.h"

namespace tare::reader {

struct RunPaths {
  std::string run_dir;
  std::string segment_dir;  // empty: look at no segments
  std::string run_id;
  std::string member{};  // if not empty, run_dir is an archive and this a run of it
  bool is_going_on =
      false;  // whether somebody will yet say how the run ended; all that tells of other hosts' processes
};

// Where its segments may lie: those that found no room elsewhere are in the run directory.
std::vector<std::string> segment_directories(const RunPaths& paths);

// A picture of one moment: a run that goes on has to be opened again. Reading does not change anything on
// disk. Not thread-safe.
class Run {
 public:
  // Fails if the directory or archive cannot be read, or a file there is not of this format. What is damaged is left
  // out, and is in warnings().
  static Result<Run> open(const RunPaths& paths);
  // One file of a run in memory, which must outlive the result.
  static Result<Run> of_memory(std::string_view bytes);

  // Sorted by (world, rank).
  const std::vector<Process>& processes() const { return processes_; }
  const FunctionNames& functions() const { return *functions_; }
  // What a reader has to know of damage; one line each.
  const std::vector<std::string>& warnings() const { return warnings_.lines(); }
  const RunPaths& paths() const { return paths_; }
  const RunFiles& files() const { return files_; }

  // Reads the profiles of all processes wanted once, on several threads, however many questions there are.
  Answers answer(const Questions& questions);
  std::vector<ProfileSum> profile_sums(const SumsQuery& query);
  std::vector<PeerSum> peers(const TablesQuery& query);
  std::vector<PhaseSum> phases(const TablesQuery& query);
  // Totals of the whole run by function and call site (profile/site_totals.h). Of the query: by rank or not, what is
  // chosen of it, and site_of; it chooses no communicators. Memory goes with the sites of some thousand ranks.
  std::vector<SiteTotal> site_totals(SumsQuery query);

  // Sums of a process, by its index in processes(). The first one asked for reads the profiles of all.
  const Totals& totals(std::size_t process);
  // What these are the sums of, sorted by process and block. Profiles that are damaged are left out, and warned of.
  const std::vector<Location>& locations();

  // Frames and call sites of all processes: equal ones are one. Symbols come from the run, else from the objects of
  // this machine; found once. Which frame stands for a site depends on the calls of some ranks, whose profiles the
  // first question for sites reads (site_frames.h).
  const std::vector<FrameInfo>& frames();
  const std::vector<SiteInfo>& sites();
  // Frames that the run has no symbol for, with what was found of them now.
  std::vector<FrameInfo> new_symbols();

  // What message sampling found, by the process that received, one after another: `visit` is given its index in
  // processes() and the samples, valid during the call. What is damaged is left out and warned of.
  void samples(const std::function<void(std::size_t process, const Samples&)>& visit);

  // Communicators of all processes: those of a world that have the same key are one. Where the key is not known, those
  // with a name are one if name and size are equal, others if world, number in the process and size are.
  const std::vector<CommunicatorInfo>& communicators() const { return communicators_; }

  // Windows and files of all processes: those of a world that have the same key are one.
  const std::vector<ScopeInfo>& scopes() const { return scopes_; }

  // From now on, the events of each process are shown at other times, in all tables and timelines; `maps` by index in
  // processes(), nullptr: as recorded. Profiles and accounts stay as they are.
  void move_times(std::vector<std::shared_ptr<const TimeMaps>> maps);

  // Types of events of all processes: equal ones are one.
  const std::vector<EventType>& event_types() const { return event_types_; }

 private:
  friend class RunLoader;
  Run() = default;
  void read_profiles(std::vector<Answering>& answering);
  void keep(const std::vector<std::vector<Location>>& by_process);
  void resolve();
  // The calls of the first ranks.
  std::vector<CalledSite> called_sites();
  void choose_shown();
  void find_tail_calls(SiteInfo& site) const;

  RunPaths paths_;
  RunFiles files_;
  std::unique_ptr<FunctionNames> functions_ = std::make_unique<FunctionNames>();
  std::vector<std::unique_ptr<FunctionNames::Map>> maps_;
  std::vector<Process> processes_;
  Warnings warnings_;
  SymbolTable symbols_;
  std::vector<FrameInfo> frames_;
  std::vector<SiteInfo> sites_;
  bool resolved_ = false, chosen_ = false;
  std::vector<bool> newly_found_;
  std::vector<CommunicatorInfo> communicators_;
  std::vector<ScopeInfo> scopes_;
  std::vector<EventType> event_types_;
  std::vector<Totals> totals_;  // of processes_; empty: not yet made
  std::vector<Location> locations_;
};

}  // namespace tare::reader
