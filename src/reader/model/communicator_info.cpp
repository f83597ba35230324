#include "reader/model/communicator_info.h"

namespace tare::reader {

std::int32_t CommunicatorInfo::world_rank(std::int32_t rank, std::int32_t peer) const {
  if (key == 0 || !members) return -1;  // without a key, this object may stand for several communicators
  if (!inter) return members->world_rank(peer);
  if (!remote_members) return -1;
  return (members->has(rank) ? *remote_members : *members).world_rank(peer);
}

}  // namespace tare::reader
