// The call paths of a thread, remembered by what lies on its stack.
//
// A call path follows from the return address of the call, the stack pointer, the frame pointer, and the words that
// unwinding it reads. Where all of them are what they were, the path is what it was: a path seen before costs a
// comparison for each of its frames, and no table. Only the owning thread uses it; takes no memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/unwind.h"

namespace tare::mpi {

class PathMemo {
 public:
  static constexpr unsigned most_words = 160;  // that a path may depend on

  // A path under way: words are added as they are read.
  struct Builder {
    Frame caller;
    std::uintptr_t base_mask;  // all ones if the path depends on the caller's frame pointer
    unsigned count;
    bool overflow;
    Word words[most_words];

    void add(const Word& word) noexcept {
      if (count == most_words)
        overflow = true;
      else
        words[count++] = word;
    }
  };

  // The number given to the path of a call made in `caller`; nullptr if it is not known. Reads the words that the
  // path depends on: they must lie in memory that is still there, as the stack of the running thread is.
  [[gnu::always_inline]] const std::uint32_t* find(const Frame& caller) const noexcept {
    for (std::uint32_t at = buckets_[bucket_of(caller)]; at != 0;) {
      const Path& path = path_at(at);
      if (path.return_address == caller.return_address && is_of(path, caller)) return &path.number;
      at = path.next;
    }
    return nullptr;
  }

  // A path of one return address, for those who see it again and again.
  struct Place {
    std::uint32_t at;  // 0: none
    std::uint32_t clearings;
  };
  Place place_of(const std::uint32_t* found) const noexcept {
    const auto* path = reinterpret_cast<const unsigned char*>(found) - offsetof(Path, number);
    return {static_cast<std::uint32_t>((path - memory_) / static_cast<std::ptrdiff_t>(sizeof(Word))) + 1, clearings_};
  }
  // Whether a call that was made in `caller`, which has the return address, has this path.
  [[gnu::always_inline]] bool is_at(Place place, const Frame& caller) const noexcept {
    return place.at != 0 && place.clearings == clearings_ && is_of(path_at(place.at), caller);
  }

  // Remembers a path. Forgets others: the oldest of many with the same caller, all if there is no room.
  void add(const Builder& built, std::uint32_t number) noexcept {
    if (built.overflow) return;
    const auto units = static_cast<std::uint32_t>(sizeof(Path) / sizeof(Word)) + built.count;
    if (used_ + units > capacity) clear();
    Path& path = path_at(used_ + 1);
    std::uint32_t& bucket = buckets_[bucket_of(built.caller)];
    path = {built.caller.return_address,
            built.caller.stack,
            built.caller.base,
            built.base_mask,
            bucket,
            number,
            built.count,
            0};
    std::memcpy(words_of(path), built.words, built.count * sizeof(Word));
    bucket = used_ + 1;
    used_ += units;
    cut(path);
  }

  void clear() noexcept {
    std::memset(buckets_, 0, sizeof buckets_);
    used_ = 0;
    ++clearings_;
  }

 private:
  struct Path {
    std::uintptr_t return_address;
    std::uintptr_t stack;
    std::uintptr_t base;
    std::uintptr_t base_mask;
    std::uint32_t next;  // place of the next path in the bucket, 0: none
    std::uint32_t number;
    std::uint32_t count;
    std::uint32_t reserved;
    // Word words[count]
  };
  static_assert(sizeof(Path) % sizeof(Word) == 0);

  static constexpr unsigned bucket_bits = 10;
  static constexpr unsigned longest_bucket = 8;
  static constexpr std::uint32_t capacity = 16 * 1024;  // words

  static unsigned bucket_of(const Frame& caller) noexcept {
    const std::uint64_t h = (caller.return_address ^ std::rotl(std::uint64_t{caller.stack}, 28)) * 0x9e3779b97f4a7c15U;
    return static_cast<unsigned>(h >> (64 - bucket_bits));
  }
  // Places count from 1, in words.
  Path& path_at(std::uint32_t place) noexcept { return *reinterpret_cast<Path*>(&memory_[(place - 1) * sizeof(Word)]); }
  const Path& path_at(std::uint32_t place) const noexcept {
    return *reinterpret_cast<const Path*>(&memory_[(place - 1) * sizeof(Word)]);
  }
  static Word* words_of(Path& path) noexcept { return reinterpret_cast<Word*>(&path + 1); }

  [[gnu::always_inline]] static bool is_of(const Path& path, const Frame& caller) noexcept {
    return path.stack == caller.stack && ((path.base ^ caller.base) & path.base_mask) == 0 && holds(path);
  }
  [[gnu::always_inline]] static bool holds(const Path& path) noexcept {
    const auto* word = reinterpret_cast<const Word*>(&path + 1);
    for (const Word* end = word + path.count; word != end; ++word)
      if (*reinterpret_cast<const std::uintptr_t*>(word->address) != word->value) return false;
    return true;
  }

  void cut(Path& first) noexcept {
    Path* path = &first;
    for (unsigned i = 1; i < longest_bucket && path->next != 0; ++i) path = &path_at(path->next);
    path->next = 0;
  }

  std::uint32_t buckets_[1U << bucket_bits];
  std::uint32_t used_;
  std::uint32_t clearings_;
  alignas(16) unsigned char memory_[capacity * sizeof(Word)];
};

// With return addresses alone (--stack 1): the numbers of those called from lately.
class AddressMemo {
 public:
  [[gnu::always_inline]] const std::uint32_t* find(std::uintptr_t address) const noexcept {
    const Entry& entry = entries_[slot_of(address)];
    return entry.address == address ? &entry.number : nullptr;
  }
  void add(std::uintptr_t address, std::uint32_t number) noexcept {
    entries_[slot_of(address)] = {address, number};
    used_ = true;
  }
  void clear() noexcept {
    if (used_) std::memset(entries_, 0, sizeof entries_);
    used_ = false;
  }

 private:
  struct Entry {
    std::uintptr_t address;
    std::uint32_t number;
  };
  static constexpr unsigned slot_bits = 11;
  static unsigned slot_of(std::uintptr_t address) noexcept {
    return static_cast<unsigned>(address * 0x9e3779b97f4a7c15U >> (64 - slot_bits));
  }

  Entry entries_[1U << slot_bits];
  bool used_;
};

}  // namespace tare::mpi
