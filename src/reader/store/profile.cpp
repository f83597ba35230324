#include "reader/store/profile.h"

#include "reader/store/payload.h"

namespace tare::reader {

using namespace tare::format;

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
  const format::LocationSummary& summary = profile.summary;
  if (!take_record(payload, profile.summary) || !take_records(payload, summary.rows, profile.rows)) return false;
  settle(profile.rows);
  return take_records(payload, summary.peers, profile.peers) && take_records(payload, summary.phases, profile.phases) &&
         take_records(payload, summary.weighed, profile.weighed) && take_all_records(payload, profile.counted);
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
