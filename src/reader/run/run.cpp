#include "reader/run/run.h"

#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "reader/parallel.h"
#include "reader/symbols/call_targets.h"

namespace tare::reader {

using namespace tare::format;

// Each thread has its own Answering. Damaged profiles are left out, with a warning. If the profiles of all processes
// are read, their totals are computed on the way.
void Run::read_profiles(std::vector<Answering>& answering) {
  const bool all = totals_.empty() && answering.front().is_of_all();
  const std::vector<bool> outside = outside_net_time(*functions_);
  const std::vector<RegionRole> roles = region_roles(*functions_);
  std::vector<std::vector<Location>> locations(all ? processes_.size() : 0);
  std::vector<ProfileReader> readers(answering.size());
  std::mutex lock;
  std::set<std::string> damage;
  const auto damaged = [&](const ChunkRef& chunk, const std::string& reason) {
    const std::scoped_lock locked(lock);
    damage.insert(damaged_chunk(files_.names[chunk.file], chunk, reason));
  };
  parallel(processes_.size(), static_cast<unsigned>(answering.size()), [&](unsigned thread, std::size_t i) {
    const Process& process = processes_[i];
    if (i % processes_a_release == 0) files_.release();
    Answering& own = answering[thread];
    if (!own.begin(process)) return;
    std::optional<LocationsOf> of_process;
    if (all) of_process.emplace(process, *functions_, outside, roles);
    readers[thread].read(
        process.profiles,
        [&](std::uint32_t block, const Profile& profile) {
          own.add(profile);
          if (of_process) of_process->add(block, profile);
        },
        damaged);
    own.end();
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

Answers Run::answer(const Questions& asked) {
  if (expected_.knows(asked)) return expected_.known(asked);
  const Questions questions = expected_.to_read(asked);
  return expected_.take(asked, questions, read_answers(questions));
}

void Run::expect(const Questions& questions) { expected_.expect(questions); }

Answers Run::read_answers(const Questions& questions) {
  const Answering empty(questions, *functions_, processes_, communicators_);
  std::vector<Answering> answering(threads_for(processes_.size(), processes_a_thread), empty);
  read_profiles(answering);
  for (std::size_t thread = 1; thread < answering.size(); ++thread) answering.front().join(answering[thread]);
  return answering.front().take();
}

std::vector<ProfileSum> Run::profile_sums(const SumsQuery& query) {
  return std::move(answer({.sums = {query}}).sums.front());
}

std::vector<PeerSum> Run::peers(const TablesQuery& query) {
  return std::move(answer({.peers = {query}}).peers.front());
}

std::vector<PhaseSum> Run::phases(const TablesQuery& query) {
  return std::move(answer({.phases = {query}}).phases.front());
}

std::vector<SiteTotal> Run::site_totals(SumsQuery query) {
  constexpr std::size_t max_ranks = 4096;
  SiteTotals totals(query.site_of, query.rank);
  const auto is_wanted = [worlds = query.worlds, ranks = query.ranks](const Process& process) {
    const auto has = [](const Wanted& wanted, std::int32_t number) {
      return !wanted || std::find(wanted->begin(), wanted->end(), number) != wanted->end();
    };
    return has(worlds, process.world) && has(ranks, process.record.rank);
  };
  query.world = query.rank = query.function = query.site = true;
  for (std::size_t next = 0; next < processes_.size();) {
    const std::int32_t world = processes_[next].world;
    query.worlds = std::vector{world};
    query.ranks = std::vector<std::int32_t>{};
    for (; next < processes_.size() && processes_[next].world == world && query.ranks->size() < max_ranks; ++next)
      if (is_wanted(processes_[next])) query.ranks->push_back(processes_[next].record.rank);
    if (!query.ranks->empty()) totals.add(processes_, profile_sums(query));
  }
  return totals.take();
}

const Totals& Run::totals(std::size_t process) {
  read_totals();
  return totals_[process];
}

const std::vector<Location>& Run::locations() {
  read_totals();
  return locations_;
}

void Run::read_totals() {
  if (totals_.empty()) profile_sums({});  // a question about all processes computes the totals
}

void Run::samples(const std::function<void(std::size_t process, const Samples&)>& visit) {
  std::vector<char> raw;
  Samples read;
  const auto load = [&](const ChunkRef& chunk, std::string reason, auto take) {
    const bool taken = load_chunk(chunk, raw, reason) && take(std::string_view(raw.data(), raw.size()));
    if (!taken) warnings_.add(damaged_chunk(files_.names[chunk.file], chunk, reason));
    return taken;
  };
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const SampleSource& source = processes_[i].samples;
    if (source.copy != nullptr) {
      read = *source.copy;
    } else if (source.chunk == nullptr || !load(*source.chunk, "its samples make no sense",
                                                [&](std::string_view bytes) { return parse_samples(bytes, read); })) {
      continue;
    }
    read.analysis.clear();
    if (const ChunkRef* result = processes_[i].analysis)
      load(*result, "", [&](std::string_view bytes) {
        read.analysis = bytes;
        return true;
      });
    visit(i, read);
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
  for (SiteInfo& site : sites_) find_tail_calls(site);
}

std::vector<CalledSite> Run::called_sites() {
  SumsQuery query{.function = true, .site = true};
  query.ranks.emplace(ranks_seen);
  std::iota(query.ranks->begin(), query.ranks->end(), 0);
  const std::vector<bool> outside = outside_net_time(*functions_);
  std::vector<CalledSite> called;
  for (const ProfileSum& sum : profile_sums(query))
    if (sum.key.site >= 0 && !outside[sum.key.function])
      called.push_back({functions_->name(sum.key.function), sum.key.site});
  return called;
}

void Run::choose_shown() {
  if (chosen_) return;
  chosen_ = true;
  resolve();
  if (have_callers(sites_)) choose_frames(sites_, frames_, called_sites());
  for (SiteInfo& site : sites_) {
    const FrameInfo& shown = frames_[static_cast<std::size_t>(site.path[site.shown])];
    site.at = shown.at;
    site.symbol = shown.symbol;
  }
}

namespace {

// Whether the call is one of an OpenMP runtime, which calls what the compiler made of the construct. Its frames are
// left out of call paths.
bool calls_runtime(std::string_view callee) {
  return callee.starts_with("__kmpc_") || callee.starts_with("GOMP_") || callee.starts_with("omp_");
}

}  // namespace

bool Run::is_recorded(std::string_view callee) const {
  if (callee.ends_with("64")) callee.remove_suffix(2);  // pread64 is recorded as pread
  return functions_->has_other(callee);
}

void Run::find_tail_calls(SiteInfo& site) const {
  if ((site.flags & format::of_stack) != 0) return;  // its innermost frame calls nothing
  for (std::size_t i = 0; i < site.path.size(); ++i) {
    const Symbol& outer = frames_[static_cast<std::size_t>(site.path[i])].symbol;
    const bool next_to_it = (site.flags & format::frames_left_out) == 0 || i + 1 < site.path.size();
    if (!next_to_it) continue;
    const bool jumped =
        i == 0 ? is_tail_call_of_mpi(outer.callee)
               : is_tail_call(outer.callee, frames_[static_cast<std::size_t>(site.path[i - 1])].symbol.functions);
    if (!jumped || calls_runtime(outer.callee) || (i == 0 && is_recorded(outer.callee))) continue;
    site.tail_calls.resize(site.path.size());
    site.tail_calls[i] = demangled(outer.callee);
  }
}

const std::vector<FrameInfo>& Run::frames() {
  resolve();
  return frames_;
}

const std::vector<SiteInfo>& Run::sites() {
  choose_shown();
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
