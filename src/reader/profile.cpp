#include "reader/profile.h"

#include <cstring>

namespace tare::reader {

using namespace tare::format;

bool parse_profile(std::string_view payload, Profile& profile) {
  if (payload.size() < sizeof profile.summary) return false;
  std::memcpy(&profile.summary, payload.data(), sizeof profile.summary);
  payload.remove_prefix(sizeof profile.summary);
  const std::size_t rows = profile.summary.rows;
  if (rows > payload.size() / sizeof(ProfileRow)) return false;
  profile.rows.resize(rows);
  if (rows > 0) std::memcpy(profile.rows.data(), payload.data(), rows * sizeof(ProfileRow));
  payload.remove_prefix(rows * sizeof(ProfileRow));
  if (payload.size() % sizeof(CountedCalls) != 0) return false;
  profile.counted.resize(payload.size() / sizeof(CountedCalls));
  if (!payload.empty()) std::memcpy(profile.counted.data(), payload.data(), payload.size());
  return true;
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
