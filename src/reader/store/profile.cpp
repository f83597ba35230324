#include "reader/store/profile.h"

#include <cstring>

namespace tare::reader {

using namespace tare::format;

namespace {

// Moves the first `count` elements of a payload to `out`. False if it has fewer.
template <typename T>
bool take(std::string_view& payload, std::size_t count, std::vector<T>& out) {
  if (count > payload.size() / sizeof(T)) return false;
  out.resize(count);
  if (count > 0) std::memcpy(out.data(), payload.data(), count * sizeof(T));
  payload.remove_prefix(count * sizeof(T));
  return true;
}

}  // namespace

void settle(std::vector<ProfileRow>& rows) noexcept {
  for (ProfileRow& row : rows) {
    if (row.pending == 0) continue;
    if (row.pending < row.calls) {
      const double all = static_cast<double>(row.calls) / static_cast<double>(row.calls - row.pending);
      row.ticks = static_cast<std::uint64_t>(static_cast<double>(row.ticks) * all);
      row.ticks_squared *= all;
    }
    row.pending = 0;
  }
}

bool parse_profile(std::string_view payload, Profile& profile) {
  if (payload.size() < sizeof profile.summary) return false;
  std::memcpy(&profile.summary, payload.data(), sizeof profile.summary);
  payload.remove_prefix(sizeof profile.summary);
  if (!take(payload, profile.summary.rows, profile.rows)) return false;
  settle(profile.rows);
  return take(payload, profile.summary.peers, profile.peers) && take(payload, profile.summary.phases, profile.phases) &&
         take(payload, profile.summary.weighed, profile.weighed) && payload.size() % sizeof(CountedCalls) == 0 &&
         take(payload, payload.size() / sizeof(CountedCalls), profile.counted);
}

void ProfileReader::read(const ProfileSources& sources,
                         const std::function<void(std::uint32_t block, const Profile&)>& visit,
                         const std::function<void(const ChunkRef&, const std::string& reason)>& damaged) {
  for (const auto& [block, source] : sources) {
    if (source.copy != nullptr) {
      visit(block, *source.copy);
      continue;
    }
    std::string reason;
    if (load_chunk(*source.chunk, raw_, reason) && parse_profile({raw_.data(), raw_.size()}, profile_))
      visit(block, profile_);
    else
      damaged(*source.chunk, reason);
  }
}

}  // namespace tare::reader
