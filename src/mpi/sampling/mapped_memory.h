// Memory of the sampler: mapped and zeroed. It is not freed before the process ends, and its pages are touched only as
// they are used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "processor/prefetch.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {

using processor::fetch_to_write;

// A pool of up to `limit` values that never move; memory is reserved at the first use. A place is the number of a
// value. Place 0 is none.
template <class T>
class Places {
 public:
  explicit constexpr Places(std::uint32_t limit) noexcept : limit_(limit) {}

  T& operator[](std::uint32_t place) noexcept { return slots_[place].value; }
  const T& operator[](std::uint32_t place) const noexcept { return slots_[place].value; }

  // Takes a place; 0 if none is left.
  std::uint32_t take() noexcept {
    std::uint32_t place = free_;
    if (place != 0) {
      free_ = slots_[place].next_free;
    } else {
      if (slots_ == nullptr) reserve();
      if (slots_ == nullptr || last_ + 1 >= limit_) return 0;
      place = ++last_;
    }
    slots_[place].taken = true;
    ++taken_;
    return place;
  }
  void give_back(std::uint32_t place) noexcept {
    slots_[place].taken = false;
    slots_[place].next_free = free_;
    free_ = place;
    --taken_;
  }
  std::uint32_t place_of(const T& value) const noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<const Slot*>(&value) - slots_);
  }
  bool taken(std::uint32_t place) const noexcept { return slots_[place].taken; }
  std::uint32_t count() const noexcept { return taken_; }
  // The highest place that was ever taken.
  std::uint32_t last() const noexcept { return last_; }

 private:
  struct Slot {
    T value;
    std::uint32_t next_free;
    bool taken;
  };

  [[gnu::cold, gnu::noinline]] void reserve() noexcept {
    const recorder::ErrnoGuard guard;
    slots_ = static_cast<Slot*>(recorder::map_memory(sizeof(Slot) * limit_));
  }

  Slot* slots_ = nullptr;
  std::uint32_t limit_;
  std::uint32_t last_ = 0;
  std::uint32_t free_ = 0;
  std::uint32_t taken_ = 0;
};

// A hash table of places. Open addressing with linear probing; grows at three quarters.
class PlaceIndex {
 public:
  // Among the places under the hash, the one for which same(place) is true; 0 if there is none.
  template <class Same>
  std::uint32_t find(std::uint64_t hash, Same same) const noexcept {
    if (slots_ == nullptr) return 0;
    for (std::uint32_t slot = home(hash);; slot = (slot + 1) & mask_) {
      const Slot& s = slots_[slot];
      if (s.place == 0) return 0;
      if (s.hash == static_cast<std::uint32_t>(hash) && same(s.place)) return s.place;
    }
  }

  // False if there is no memory to grow.
  bool put(std::uint64_t hash, std::uint32_t place) noexcept {
    if ((slots_ == nullptr || used_ >= (mask_ + 1) / 4 * 3) && !grow()) return false;
    insert({static_cast<std::uint32_t>(hash), place});
    ++used_;
    return true;
  }

  void remove(std::uint64_t hash, std::uint32_t place) noexcept {
    if (slots_ == nullptr) return;
    std::uint32_t hole = home(hash);
    while (slots_[hole].place != place) {
      if (slots_[hole].place == 0) return;
      hole = (hole + 1) & mask_;
    }
    for (std::uint32_t slot = (hole + 1) & mask_; slots_[slot].place != 0; slot = (slot + 1) & mask_) {
      const std::uint32_t from_home = (slot - home(slots_[slot].hash)) & mask_;
      if (from_home < ((slot - hole) & mask_)) continue;  // it would lie before its first slot
      slots_[hole] = slots_[slot];
      hole = slot;
    }
    slots_[hole] = {};
    --used_;
  }

 private:
  struct Slot {
    std::uint32_t hash;
    std::uint32_t place;
  };

  std::uint32_t home(std::uint64_t hash) const noexcept { return static_cast<std::uint32_t>(hash) & mask_; }
  void insert(Slot entry) noexcept {
    std::uint32_t slot = entry.hash & mask_;
    while (slots_[slot].place != 0) slot = (slot + 1) & mask_;
    slots_[slot] = entry;
  }
  bool grow() noexcept {
    const std::uint32_t size = slots_ == nullptr ? 1024 : 2 * (mask_ + 1);
    const recorder::ErrnoGuard guard;
    auto* larger = static_cast<Slot*>(recorder::map_memory(sizeof(Slot) * size));
    if (larger == nullptr) return false;
    Slot* old = slots_;
    const std::uint32_t old_size = old == nullptr ? 0 : mask_ + 1;
    slots_ = larger;
    mask_ = size - 1;
    for (std::uint32_t i = 0; i < old_size; ++i)
      if (old[i].place != 0) insert(old[i]);
    if (old != nullptr) recorder::unmap_memory(old, sizeof(Slot) * old_size);
    return true;
  }

  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t used_ = 0;
};

// A remembered channel. It is valid while the generation() of its table is the same: that changes when channels are
// freed.
template <class Channel>
struct KnownChannel {
  Channel* channel = nullptr;
  std::uint32_t generation = 0;
};

// The channels that were found last, by (communicator, peer, tag). Most programs use few at a time.
template <class Channel>
class ChannelMemo {
 public:
  [[gnu::always_inline]] Channel* find(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) const noexcept {
    const Entry& entry = entries_[slot(communicator, peer, tag)];
    return entry.ends == ends(communicator, peer) && entry.tag == tag ? entry.channel : nullptr;
  }
  void note(std::uint32_t communicator, std::int32_t peer, std::int32_t tag, Channel& channel) noexcept {
    entries_[slot(communicator, peer, tag)] = {&channel, ends(communicator, peer), tag};
  }
  void clear() noexcept {
    for (Entry& entry : entries_) entry = {};
  }

 private:
  struct alignas(32) Entry {
    Channel* channel;
    std::uint64_t ends;
    std::int32_t tag;
  };
  static std::uint64_t ends(std::uint32_t communicator, std::int32_t peer) noexcept {
    return std::uint64_t{communicator} << 32 | static_cast<std::uint32_t>(peer);
  }
  static constexpr unsigned slots = 128;
  static std::uint32_t slot(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
    return (static_cast<std::uint32_t>(peer) + 9 * static_cast<std::uint32_t>(tag) + 5 * communicator) % slots;
  }

  Entry entries_[slots] = {};
};

}  // namespace tare::mpi::sampling
