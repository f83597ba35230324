#include "recorder/room.h"

#include "format/segment_name.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

constexpr std::uint64_t segments_share = 8;
constexpr std::uint64_t common_share = 16;

}  // namespace

bool claim_room(const char* directory, const char* path, std::uint64_t bytes) noexcept {
  FileSizes ours;
  if (!resize_file(path, bytes)) return false;
  if (own_file_sizes(directory, format::segment_prefix, ours) &&
      ours.bytes <= (space_of(directory).free + ours.taken) / segments_share)
    return true;
  resize_file(path, 0);
  return false;
}

bool leaves_half(const char* directory, std::uint64_t bytes) noexcept {
  const Space space = space_of(directory);
  return space.free >= bytes && space.free - bytes >= space.bytes / 2;
}

bool suits_all(const char* directory, std::uint64_t bytes) noexcept {
  return bytes <= space_of(directory).bytes / common_share;
}

}  // namespace tare::recorder
