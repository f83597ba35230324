#include "reader/run.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "reader/run_loader.h"

namespace tare::reader {
namespace {

using namespace tare::format;

std::int32_t index_in(const std::unordered_map<std::uint32_t, std::int32_t>& numbers, std::uint32_t number) {
  const auto found = numbers.find(number);
  return found == numbers.end() ? -1 : found->second;
}

// Rows of all locations of one process, those of equal key added up.
class ProfileOfProcess {
 public:
  explicit ProfileOfProcess(const Process& process) : process_(process) {}

  void append_to(std::vector<ProfileEntry>& entries) {
    for (const auto& [block, profile] : process_.profiles) {
      for (const ProfileRow& row : profile.rows) add(row);
      for (const CountedCalls& counted : profile.counted) add(counted);
    }
    entries.insert(entries.end(), entries_.begin(), entries_.end());
  }

 private:
  void add(const ProfileRow& row) {
    if (row.calls == 0) return;
    const std::uint16_t function = FunctionNames::lookup(*process_.functions, row.function);
    const bool known = function != FunctionNames::other;  // else a sum over calls that found no row
    const std::int32_t site = known ? index_in(process_.sites, row.site) : -1;
    const std::int32_t communicator = known ? index_in(process_.communicators, row.communicator) : -1;
    const std::int32_t size_class = row.size_class == no_size ? -1 : row.size_class;
    ProfileEntry& entry = entry_of(function, site, communicator, size_class, true);
    const std::int64_t min_ns = process_.clock.duration_ns(row.ticks_min);
    entry.min_ns = entry.calls == 0 ? min_ns : std::min(entry.min_ns, min_ns);
    entry.max_ns = std::max(entry.max_ns, process_.clock.duration_ns(row.ticks_max));
    entry.calls += row.calls;
    entry.bytes += row.bytes;
    const auto ns = static_cast<std::uint64_t>(process_.clock.duration_ns(row.ticks));
    entry.time_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(entry.time_ns) + ns);
  }

  void add(const CountedCalls& counted) {
    if (counted.calls == 0) return;
    const std::uint16_t function = FunctionNames::lookup(*process_.functions, counted.function);
    entry_of(function, -1, -1, -1, false).calls += counted.calls;
  }

  ProfileEntry& entry_of(std::uint16_t function, std::int32_t site, std::int32_t communicator, std::int32_t size_class,
                         bool timed) {
    const auto key = std::tuple(function, site, communicator, size_class, timed);
    const auto [found, is_new] = index_.try_emplace(key, entries_.size());
    if (is_new) {
      ProfileEntry& entry = entries_.emplace_back();
      entry.world = process_.world;
      entry.rank = process_.record.rank;
      std::tie(entry.function, entry.site, entry.communicator, entry.size_class, entry.timed) = key;
    }
    return entries_[found->second];
  }

  const Process& process_;
  std::map<std::tuple<std::uint16_t, std::int32_t, std::int32_t, std::int32_t, bool>, std::size_t> index_;
  std::vector<ProfileEntry> entries_;
};

}  // namespace

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

std::vector<ProfileEntry> Run::profile() const {
  std::vector<ProfileEntry> entries;
  for (const Process& process : processes_) ProfileOfProcess(process).append_to(entries);
  return entries;
}

const std::vector<SiteInfo>& Run::sites() {
  if (sites_resolved_ == sites_.size()) return sites_;
  Symbolizer symbolizer;
  newly_found_.assign(sites_.size(), false);
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    SiteInfo& site = sites_[i];
    if (!site.symbol.caller.empty() || !site.symbol.file.empty()) continue;
    if (const Symbol* stored = symbols_.find(site.at)) {
      site.symbol = *stored;
    } else if (auto found = symbolizer.find(site.at)) {
      site.symbol = std::move(*found);
      newly_found_[i] = true;
    }
  }
  sites_resolved_ = sites_.size();
  return sites_;
}

std::vector<SiteInfo> Run::new_symbols() {
  sites();
  std::vector<SiteInfo> found;
  for (std::size_t i = 0; i < newly_found_.size(); ++i)
    if (newly_found_[i]) found.push_back(sites_[i]);
  return found;
}

}  // namespace tare::reader
