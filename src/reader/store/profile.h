// The profile of one location block, and where it lies until it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/location_summary.h"
#include "format/peer_table.h"
#include "format/phase_table.h"
#include "format/profile_row.h"
#include "format/weighed.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {

struct Profile {
  format::LocationSummary summary{};
  std::vector<format::ProfileRow> rows;
  std::vector<format::PeerEntry> peers;
  std::vector<format::PhaseEntry> phases;
  std::vector<format::WeighedCalls> weighed;
  std::vector<format::CountedCalls> counted;
};

// Adds the time of the calls that no timed call stands for yet (ProfileRow::pending): as long as the mean of the
// others.
void settle(std::vector<format::ProfileRow>& rows) noexcept;

// Reads the payload of a profile chunk, and settles its rows; what `profile` held is replaced. False if it is
// malformed.
bool parse_profile(std::string_view payload, Profile& profile);

// The newest profile of a location block: a chunk on disk, or a copy from the segment. A run may have a hundred
// thousand processes with hundreds of rows each, so those on disk are read when they are asked for, one at a time.
struct ProfileSource {
  const ChunkRef* chunk = nullptr;        // of Run::files()
  std::shared_ptr<const Profile> copy{};  // if not null, this one
};
using ProfileSources = std::map<std::uint32_t, ProfileSource>;  // by location block

// For those who read the profiles of many processes: fewer are not worth a thread, and after so many it is time for
// RunFiles::release().
inline constexpr std::size_t processes_a_thread = 256;
inline constexpr std::size_t processes_a_release = 2048;

// Keeps its memory from one profile to the next. One per thread.
class ProfileReader {
 public:
  // Gives the profile of each block to `visit`, valid during the call. A damaged one is left out, and its chunk
  // and the reason given to `damaged`.
  void read(const ProfileSources& sources, const std::function<void(std::uint32_t block, const Profile&)>& visit,
            const std::function<void(const ChunkRef&, const std::string& reason)>& damaged);

 private:
  std::vector<char> raw_;
  Profile profile_;
};

}  // namespace tare::reader
