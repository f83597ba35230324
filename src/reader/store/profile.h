// The profile of one location block, and where to read it from.
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

// Adds the time of the calls that no timed call represents yet (ProfileRow::pending). It takes the mean of the others.
void settle(std::vector<format::ProfileRow>& rows) noexcept;

// Replaces `profile` by the payload of a profile chunk, and settles its rows. False if the payload is malformed.
bool parse_profile(std::string_view payload, Profile& profile);

// Where the newest profile of a location block is: a chunk on disk, or a copy from the segment. A run may have a
// hundred thousand processes with hundreds of rows each, so chunks are read when needed, one at a time.
struct ProfileSource {
  const ChunkRef* chunk = nullptr;        // of Run::files()
  std::shared_ptr<const Profile> copy{};  // used if not null
};
using ProfileSources = std::map<std::uint32_t, ProfileSource>;  // by location block

// When the profiles of many processes are read: the least number of processes that is worth a thread, and how many to
// read between two calls of RunFiles::release().
inline constexpr std::size_t processes_a_thread = 256;
inline constexpr std::size_t processes_a_release = 2048;

// Reads profiles, and reuses its memory for the next one. Not thread-safe: each thread has its own.
class ProfileReader {
 public:
  // Calls `visit` with the profile of each block, which is valid during the call. For a damaged profile it calls
  // `damaged` with the chunk and the reason instead.
  void read(const ProfileSources& sources, const std::function<void(std::uint32_t block, const Profile&)>& visit,
            const std::function<void(const ChunkRef&, const std::string& reason)>& damaged);

 private:
  std::vector<char> raw_;
  Profile profile_;
};

}  // namespace tare::reader
