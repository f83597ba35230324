#include "reader/run/run.h"

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "reader/parallel.h"
#include "reader/run/run_loader.h"
#include "reader/symbols/call_targets.h"

namespace tare::reader {

using namespace tare::format;

std::vector<std::string> segment_directories(const RunPaths& paths) {
  std::error_code error;
  if (paths.segment_dir.empty() || std::filesystem::equivalent(paths.segment_dir, paths.run_dir, error))
    return {paths.segment_dir};
  return {paths.segment_dir, paths.run_dir};
}

Result<Run> Run::open(const RunPaths& paths) {
  RunLoader loader(paths);
  loader.read_segments();
  auto files =
      paths.member.empty() ? RunFiles::open(paths.run_dir) : RunFiles::open_archived(paths.run_dir, paths.member);
  if (!files) return files.failure();
  return loader.load(std::move(*files));
}

Result<Run> Run::of_memory(std::string_view bytes) {
  auto files = RunFiles::of_memory(bytes, "memory");
  if (!files) return files.failure();
  return RunLoader(RunPaths{}).load(std::move(*files));
}

// Each thread has its own summers, one for each query. What is damaged is left out and warned of. Profiles of all
// processes are a chance to make their totals too.
void Run::read_profiles(std::vector<std::vector<ProfileSummer>>& summers, bool of_all) {
  const bool all = of_all && totals_.empty();
  const std::vector<bool> outside = outside_net_time(*functions_);
  std::vector<std::vector<Location>> locations(all ? processes_.size() : 0);
  std::vector<ProfileReader> readers(summers.size());
  std::mutex lock;
  std::set<std::string> damage;
  const auto damaged = [&](const ChunkRef& chunk, const std::string& reason) {
    const std::scoped_lock locked(lock);
    damage.insert(damaged_chunk(files_.names[chunk.file], chunk, reason));
  };
  parallel(processes_.size(), static_cast<unsigned>(summers.size()), [&](unsigned thread, std::size_t i) {
    const Process& process = processes_[i];
    if (i % processes_a_release == 0) files_.release();
    std::vector<ProfileSummer*> wanting;
    for (ProfileSummer& summer : summers[thread])
      if (summer.wants(process)) wanting.push_back(&summer);
    if (wanting.empty()) return;
    for (ProfileSummer* summer : wanting) summer->begin(process);
    std::optional<LocationsOf> of_process;
    if (all) of_process.emplace(process, outside);
    readers[thread].read(
        process.profiles,
        [&](std::uint32_t block, const Profile& profile) {
          for (ProfileSummer* summer : wanting) summer->add(profile);
          if (of_process) of_process->add(block, profile);
        },
        damaged);
    for (ProfileSummer* summer : wanting) summer->end();
    if (of_process) locations[i] = of_process->take(i);
  });
  if (all) {
    keep(locations);
    for (std::string& warning : full_tables(processes_, totals_)) warnings_.add(std::move(warning));
  }
  for (const std::string& warning : damage) warnings_.add(warning);
}

void Run::keep(const std::vector<std::vector<Location>>& by_process) {
  for (const std::vector<Location>& of_process : by_process) {
    Totals& totals = totals_.emplace_back();
    for (const Location& location : of_process) add_totals(totals, location.totals);
    locations_.insert(locations_.end(), of_process.begin(), of_process.end());
  }
}

template <typename Sum, typename Add>
std::vector<Sum> Run::read_tables(const TablesQuery& query, const Add& add) {
  const unsigned threads = threads_for(processes_.size(), processes_a_thread);
  std::vector<std::vector<Sum>> found(threads);
  std::vector<ProfileReader> readers(threads);
  std::mutex lock;
  const auto damaged = [&](const ChunkRef& chunk, const std::string& reason) {
    const std::scoped_lock locked(lock);
    warnings_.add(damaged_chunk(files_.names[chunk.file], chunk, reason));
  };
  parallel(processes_.size(), threads, [&](unsigned thread, std::size_t i) {
    const Process& process = processes_[i];
    if (i % processes_a_release == 0) files_.release();
    if (!query.wants(process)) return;
    readers[thread].read(
        process.profiles, [&](std::uint32_t, const Profile& profile) { add(found[thread], process, profile); },
        damaged);
  });
  std::vector<Sum> all;
  for (const std::vector<Sum>& of_thread : found) all.insert(all.end(), of_thread.begin(), of_thread.end());
  return all;
}

std::vector<PeerSum> Run::peers(const TablesQuery& query) {
  return merged(read_tables<PeerSum>(query, [&](auto& sums, const Process& process, const Profile& profile) {
    add_peers(sums, query, communicators_, process, profile);
  }));
}

std::vector<PhaseSum> Run::phases(const TablesQuery& query) {
  return merged(read_tables<PhaseSum>(query, add_phases), query.rank);
}

std::vector<std::vector<ProfileSum>> Run::all_profile_sums(const std::vector<SumsQuery>& queries) {
  std::vector<ProfileSummer> empty;
  bool of_all = false;
  for (const SumsQuery& query : queries) {
    empty.emplace_back(query, *functions_);
    of_all = of_all || (!query.ranks && !query.worlds);
  }
  std::vector<std::vector<ProfileSummer>> summers(threads_for(processes_.size(), processes_a_thread), empty);
  read_profiles(summers, of_all);
  std::vector<std::vector<ProfileSum>> sums;
  for (std::size_t query = 0; query < queries.size(); ++query) {
    for (std::size_t thread = 1; thread < summers.size(); ++thread) summers[0][query].join(summers[thread][query]);
    sums.push_back(summers[0][query].take());
  }
  return sums;
}

std::vector<ProfileSum> Run::profile_sums(const SumsQuery& query) {
  return std::move(all_profile_sums({query}).front());
}

const Totals& Run::totals(std::size_t process) {
  if (totals_.empty()) profile_sums({});  // all of them, in one
  return totals_[process];
}

const std::vector<Location>& Run::locations() {
  if (totals_.empty()) profile_sums({});
  return locations_;
}

void Run::samples(const std::function<void(std::size_t process, const Samples&)>& visit) {
  std::vector<char> raw;
  Samples read;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const SampleSource& source = processes_[i].samples;
    if (source.copy != nullptr) {
      visit(i, *source.copy);
      continue;
    }
    if (source.chunk == nullptr) continue;
    std::string reason = "its samples make no sense";
    if (load_chunk(*source.chunk, raw, reason) && parse_samples({raw.data(), raw.size()}, read)) {
      visit(i, read);
      continue;
    }
    warnings_.add(damaged_chunk(files_.names[source.chunk->file], *source.chunk, reason));
  }
}

void Run::resolve() {
  if (resolved_) return;
  resolved_ = true;
  Symbolizer symbolizer;
  newly_found_.assign(frames_.size(), false);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    FrameInfo& frame = frames_[i];
    if (!frame.symbol.caller.empty() || !frame.symbol.file.empty()) continue;
    if (const Symbol* stored = symbols_.find(frame.at)) {
      frame.symbol = *stored;
    } else if (auto found = symbolizer.find(frame.at)) {
      frame.symbol = std::move(*found);
      newly_found_[i] = true;
    }
  }
  for (SiteInfo& site : sites_) {
    const FrameInfo& shown = frames_[static_cast<std::size_t>(site.path[site.shown])];
    site.at = shown.at;
    site.symbol = shown.symbol;
    find_tail_calls(site);
  }
}

void Run::find_tail_calls(SiteInfo& site) const {
  for (std::size_t i = 0; i < site.path.size(); ++i) {
    const Symbol& outer = frames_[static_cast<std::size_t>(site.path[i])].symbol;
    const bool next_to_it = (site.flags & format::frames_left_out) == 0 || i + 1 < site.path.size();
    if (!next_to_it) continue;
    const bool jumped =
        i == 0 ? is_tail_call_of_mpi(outer.callee)
               : is_tail_call(outer.callee, frames_[static_cast<std::size_t>(site.path[i - 1])].symbol.functions);
    if (!jumped) continue;
    site.tail_calls.resize(site.path.size());
    site.tail_calls[i] = demangled(outer.callee);
  }
}

const std::vector<FrameInfo>& Run::frames() {
  resolve();
  return frames_;
}

const std::vector<SiteInfo>& Run::sites() {
  resolve();
  return sites_;
}

std::vector<FrameInfo> Run::new_symbols() {
  resolve();
  std::vector<FrameInfo> found;
  for (std::size_t i = 0; i < newly_found_.size(); ++i)
    if (newly_found_[i]) found.push_back(frames_[i]);
  return found;
}

void Run::move_times(std::vector<std::shared_ptr<const TimeMaps>> maps) {
  maps.resize(processes_.size());
  for (std::size_t i = 0; i < processes_.size(); ++i) processes_[i].moved = std::move(maps[i]);
}

}  // namespace tare::reader
