#include "reader/profile/exchange.h"

#include <algorithm>

namespace tare::reader {

ExchangeSummer::ExchangeSummer(const std::vector<Process>& processes,
                               const std::vector<CommunicatorInfo>& communicators, std::int32_t max_groups)
    : communicators_(&communicators), max_groups_(static_cast<std::size_t>(max_groups)) {
  for (const Process& process : processes) {
    if (process.record.rank < 0 || process.record.rank == INT32_MAX) continue;
    World& world = worlds_[process.world];
    world.size = std::max({world.size, process.record.size, process.record.rank + 1});
  }
  for (auto& [number, world] : worlds_)
    world.group = static_cast<std::int32_t>((static_cast<std::int64_t>(world.size) + max_groups - 1) / max_groups);
}

void ExchangeSummer::add(const Process& process, const Profile& profile) {
  const auto found = worlds_.find(process.world);
  const std::int32_t rank = process.record.rank;
  if (found == worlds_.end() || rank < 0 || rank >= found->second.size) return;
  World& world = found->second;
  for (const format::PeerEntry& entry : profile.peers) {
    world.all += entry.sent_messages + entry.received_messages;
    if (entry.sent_messages == 0) continue;
    const std::int32_t communicator = process.communicators.find(entry.communicator);
    const bool is_known = entry.peer >= 0 && communicator >= 0;
    const std::int32_t peer =
        is_known ? (*communicators_)[static_cast<std::size_t>(communicator)].world_rank(rank, entry.peer) : -1;
    if (peer < 0 || peer >= world.size) {
      world.elsewhere += entry.sent_messages;
      continue;
    }
    const auto cell =
        static_cast<std::size_t>(rank / world.group) * max_groups_ + static_cast<std::size_t>(peer / world.group);
    add_to_cell(world, cell, entry.sent_messages, entry.sent_bytes);
    if (peer == rank) continue;
    world.between += entry.sent_messages;
    world.of_rank[rank] += entry.sent_messages;
    world.of_rank[peer] += entry.sent_messages;
  }
}

void ExchangeSummer::add_to_cell(World& world, std::size_t cell, std::uint64_t messages, std::uint64_t bytes) const {
  if (world.messages.empty()) {
    world.messages.resize(max_groups_ * max_groups_);
    world.bytes.resize(max_groups_ * max_groups_);
  }
  world.messages[cell] += messages;
  world.bytes[cell] += bytes;
}

void ExchangeSummer::join(const ExchangeSummer& other) {
  for (const auto& [number, from] : other.worlds_) {
    World& to = worlds_[number];
    for (std::size_t cell = 0; cell < from.messages.size(); ++cell)
      if (from.messages[cell] != 0) add_to_cell(to, cell, from.messages[cell], from.bytes[cell]);
    to.elsewhere += from.elsewhere;
    to.all += from.all;
    to.between += from.between;
    for (const auto& [rank, messages] : from.of_rank) to.of_rank[rank] += messages;
  }
}

std::vector<Exchange> ExchangeSummer::take() const {
  std::vector<Exchange> all;
  for (const auto& [number, world] : worlds_) {
    Exchange& found = all.emplace_back();
    found.world = number;
    found.size = world.size;
    found.group = world.group;
    found.elsewhere = world.elsewhere;
    found.messages = world.all;
    found.between = world.between;
    for (std::size_t cell = 0; cell < world.messages.size(); ++cell)
      if (world.messages[cell] != 0)
        found.cells.push_back({static_cast<std::int32_t>(cell / max_groups_),
                               static_cast<std::int32_t>(cell % max_groups_), world.messages[cell], world.bytes[cell]});
    for (const auto& [rank, messages] : world.of_rank) {
      if (messages < found.busiest_messages || (messages == found.busiest_messages && rank > found.busiest)) continue;
      found.busiest = rank;
      found.busiest_messages = messages;
    }
  }
  return all;
}

}  // namespace tare::reader
