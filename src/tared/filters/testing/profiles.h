// Profiles of made-up ranks, and trees of any shape to reduce them in, for tests of filters.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

struct Profile {
  std::uint32_t rank;
  std::vector<EventKey> keys;
  std::vector<Metrics> values;
  Snapshot snapshot(std::uint64_t round = 0) const { return {round, rank, 1'000'000, keys, values}; }
};

using Random = std::mt19937_64;

// Each rank has most of the events. Times are large against their spread, as sums over a long run are.
inline std::vector<Profile> random_profiles(Random& random, std::uint32_t ranks, std::uint32_t events) {
  std::vector<EventKey> all;
  for (std::uint32_t event = 0; event < events; ++event) all.push_back(event_key("event " + std::to_string(event)));
  std::ranges::sort(all);
  std::vector<Profile> profiles;
  std::uniform_real_distribution<double> chance(0, 1);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Profile profile{rank, {}, {}};
    for (const EventKey key : all) {
      if (chance(random) < 0.1) continue;
      profile.keys.push_back(key);
      const auto calls = static_cast<double>(random() % 1000);
      profile.values.push_back({calls, 1e12 + 1e6 * chance(random), calls * 8});
    }
    profiles.push_back(std::move(profile));
  }
  std::ranges::shuffle(profiles, random);
  return profiles;
}

// Reduces the profiles in a tree in which each node has up to `fan_out` children, some of them ranks.
inline std::unique_ptr<Reduction> reduce_in_tree(const Filter& filter, std::span<const Profile> profiles,
                                                 Random& random, std::size_t fan_out) {
  auto reduction = filter.begin();
  while (!profiles.empty()) {
    const std::size_t share = std::min<std::size_t>(profiles.size(), 1 + random() % (profiles.size() / fan_out + 1));
    const auto part = profiles.first(share);
    profiles = profiles.subspan(share);
    if (share == 1) {
      reduction->add(part.front().snapshot());
      continue;
    }
    Bytes packet;
    Writer out(packet);
    const auto child = reduce_in_tree(filter, part, random, fan_out);
    if (child == nullptr) return nullptr;
    child->write(out);
    if (!reduction->merge(packet)) return nullptr;
  }
  return reduction;
}

// Incomplete or changed results must do no harm, and refused ones change nothing.
inline bool survives_damage(const Filter& filter, const Reduction& good, Random& random) {
  Bytes packet;
  Writer out(packet);
  good.write(out);
  const auto whole = filter.begin();
  if (!whole->merge(packet)) return false;
  Bytes before;
  Writer write_before(before);
  whole->write(write_before);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t cut = random() % packet.size();
    if (whole->merge(std::span(packet).first(cut))) return false;
    Bytes after;
    Writer write_after(after);
    whole->write(write_after);
    if (after != before) return false;
    Bytes changed = packet;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<std::byte>(random());
    filter.begin()->merge(changed);
  }
  return true;
}

}  // namespace tare::tared
