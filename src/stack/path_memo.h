// The call paths of a thread, recognised by the words on its stack.
//
// A call path follows from the return address of the call, the stack pointer, the frame pointer, and the words that the
// unwinder reads. If all of these are the same as before, so is the path. A known path therefore costs one fingerprint
// of these words (path_words.h), and no search. Only the owning thread uses this class. It allocates nothing.
//
// A solver reaches a call in hundreds of ways with the same stack pointer. Each word determines where the next one
// lies, so two paths have the same words up to the first difference. The few words that differ between the paths of a
// caller select the path.
//
// Most often the path before and the return address of a call determine the path: it is the one that came last from
// that return address after that path. This one is compared first. The paths that have followed a path are prefetched
// during its call, because the program's computation between two calls evicts them from the caches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "recorder/location.h"
#include "stack/path_words.h"
#include "stack/unwind.h"

namespace tare::stack {

class PathMemo {
 public:
  static constexpr unsigned max_words = 160;            // that a path may depend on
  static constexpr unsigned max_near = 2 * path_group;  // of a path that has one cache line

  // A path that is being unwound: words are added as they are read.
  struct Builder {
    Frame caller;
    std::uintptr_t base_mask;  // all ones if the path depends on the caller's frame pointer
    unsigned count;
    bool overflow;
    Word words[max_words];

    void add(const Word& word) noexcept {
      if (count == max_words)
        overflow = true;
      else
        words[count++] = word;
    }
  };

  // What the usual call needs lies in one cache line.
  struct alignas(64) Path {
    std::uintptr_t return_address;  // 0: no path
    std::uintptr_t stack;
    std::uint64_t fingerprint;
    std::uint32_t number;
    std::uint16_t next;           // place of the next path in the bucket, 0: none
    std::uint16_t successors[2];  // places of paths that have followed it; they are prefetched
    recorder::KnownRows rows;
    bool near;              // there are words, and `offsets` says where; else far offsets do, which may be none
    std::int8_t base_mask;  // all ones if the path depends on the caller's frame pointer
    // Not 0: this is no path but a branch. It has this many words, of which only the addresses are used: paths of this
    // caller differ in the words there. Paths with words at all of these addresses are in branches_. The others follow
    // in the bucket.
    std::uint8_t branch_words;
    std::uint8_t count;
    NearOffset offsets[max_near];
    // FarOffset far_offsets[groups_of(count) * path_group], if it is not near
    // Word words[count], for what is not usual
  };
  static_assert(sizeof(Path) == 64 && max_words <= UINT8_MAX);

  // The place of the path that came last. It is kept where every call reads it; the same one must always be given.
  using Last = decltype(recorder::Location::last_path);

  // The path of a call made in `caller`, if it is the one that came last from there after the path before; else
  // nullptr. Finds only paths that are near.
  [[gnu::always_inline]] Path* find_expected(Last& last, const Frame& caller) noexcept {
    const std::uint16_t place = expected_after(last, caller.return_address).latest;
    return is_near_at(place, caller) ? &go_on_from(last, place) : nullptr;
  }
  // The same with the path that came before that one. From here on it is the expected one.
  [[gnu::always_inline]] Path* find_also_expected(Last& last, const Frame& caller) noexcept {
    Expected& expected = expected_after(last, caller.return_address);
    if (!is_near_at(expected.earlier, caller)) return nullptr;
    std::swap(expected.latest, expected.earlier);
    return &go_on_from(last, expected.latest);
  }
  // Notes that a path has come which was not expected. From here on it is the expected one.
  void follow(Last& last, Path& path) noexcept {
    const std::uint16_t place = place_of(path);
    Expected& expected = expected_after(last, path.return_address);
    expected = {place, expected.latest};
    std::uint16_t* const successors = at(last).successors;
    if (successors[0] != place) successors[1] = std::exchange(successors[0], place);
    go_on_from(last, place);
  }

  // The path of a call made in `caller`; nullptr if it is not known. If the caller's paths have a branch, returns the
  // branch, and find_behind() continues there. Reads the words that the path depends on: their memory must be mapped,
  // as the stack of the running thread is.
  [[gnu::always_inline]] Path* find_first(const Frame& caller) noexcept {
    for (std::uint16_t place = buckets_[slot_of(hash_of(caller))]; place != 0;) {
      Path& path = at(place);
      if (is_called_in(path, caller) && (path.branch_words != 0 || is_taken(path, caller))) return &path;
      place = path.next;
    }
    return nullptr;
  }
  [[gnu::always_inline]] Path* find_behind(const Path& branch, const Frame& caller) noexcept {
    std::uint64_t hash = hash_of(caller);
    const Word* const end = words_of(branch) + branch.branch_words;
    for (const Word* word = words_of(branch); word != end; ++word) hash = with(hash, read(word->address));
    for (std::uint16_t place : {branches_[slot_of(hash)], branch.next})
      for (; place != 0; place = at(place).next)
        if (is_of(at(place), caller)) return &at(place);
    return nullptr;
  }
  Path* find(const Frame& caller) noexcept {
    Path* path = find_first(caller);
    return path == nullptr || path->branch_words == 0 ? path : find_behind(*path, caller);
  }

  // The conditions, beside the return address, under which a call has a path; for code that compares many calls with
  // the same path (polls.h).
  struct Conditions {
    static constexpr unsigned max_words = 6 * path_group;
    std::uintptr_t stack;
    std::uintptr_t base_mask;
    std::uint64_t fingerprint;
    std::uint32_t groups;
    FarOffset offsets[max_words];

    [[gnu::always_inline]] bool holds(const Frame& caller) const noexcept {
      return stack == caller.stack &&
             fingerprint == fingerprint_on_stack(caller.base & base_mask, stack, offsets, groups);
    }
  };
  // The conditions of the path of a call made in `caller`. False if the path is not known, or if it has too many words.
  bool conditions_of(const Frame& caller, Conditions& conditions) noexcept {
    const Path* path = find(caller);
    if (path == nullptr || path->count > Conditions::max_words) return false;
    conditions.stack = path->stack;
    conditions.base_mask = mask_of(*path);
    conditions.fingerprint = path->fingerprint;
    conditions.groups = groups_of(path->count);
    fill_offsets(path->stack, words_of(*path), path->count, conditions.offsets);
    return true;
  }

  // Remembers a path. Others may be forgotten: some of the same caller when a word is found that tells them apart, the
  // oldest if no word does, and all paths if there is no room. nullptr: the path has too many words, or words that lie
  // below the stack pointer, or too far above it.
  Path* add(Last& last, const Builder& built, std::uint32_t number) noexcept {
    if (built.overflow || !have_offsets<FarOffset>(built)) return nullptr;
    const bool near = built.count != 0 && built.count <= max_near && have_offsets<NearOffset>(built);
    if (used_ + lines_of(built.count, near) + lines_of(max_branch_words, true) > capacity) clear(last);
    const std::uint16_t place = new_path(built.caller, built.count, near);
    Path& path = at(place);
    path.fingerprint = fingerprint_of(built.caller.base & built.base_mask, built.words, built.count);
    path.base_mask = built.base_mask == 0 ? 0 : -1;
    path.number = number;
    if (near)
      fill_offsets(path.stack, built.words, built.count, path.offsets);
    else
      fill_offsets(path.stack, built.words, built.count, far_offsets_of(path));
    std::memcpy(words_of(path), built.words, built.count * sizeof(Word));
    Path* branch = branch_of(built.caller);
    std::uint16_t* bucket = branch == nullptr ? &buckets_[slot_of(hash_of(path))] : bucket_behind(*branch, path);
    if (bucket == nullptr) {
      link(place, branch->next);
    } else {
      link(place, *bucket);
      add_distinguishing_words(*bucket, branch);
    }
    return &path;
  }

  void clear(Last& last) noexcept {
    std::memset(expected_, 0, sizeof expected_);
    std::memset(buckets_, 0, sizeof buckets_);
    std::memset(branches_, 0, sizeof branches_);
    used_ = 0;
    last = 0;
    at(0) = {};
  }

 private:
  static constexpr unsigned bucket_bits = 10;
  static constexpr unsigned expected_bits = 9;
  static constexpr unsigned longest_bucket = 8;
  static constexpr unsigned max_branch_words = 8;
  static constexpr unsigned few = 3;  // so many paths of a caller are compared one after another
  static constexpr std::uint32_t line = 64;
  static constexpr std::uint32_t capacity = 8 * 1024;  // lines
  static_assert(capacity <= UINT16_MAX);

  static constexpr std::size_t far_bytes(unsigned words, bool near) noexcept {
    return near ? 0 : std::size_t{groups_of(words)} * path_group * sizeof(FarOffset);
  }
  static constexpr std::uint32_t lines_of(unsigned words, bool near) noexcept {
    const std::size_t bytes = sizeof(Path) + far_bytes(words, near) + words * sizeof(Word);
    return static_cast<std::uint32_t>((bytes + line - 1) / line);
  }
  template <class Offset>
  static bool have_offsets(const Builder& built) noexcept {
    for (unsigned i = 0; i < built.count; ++i)
      if (!has_offset<Offset>(built.words[i], built.caller.stack)) return false;
    return true;
  }
  // Places are numbers of lines. No path lies at place 0.
  Path& at(std::uint32_t place) noexcept { return *reinterpret_cast<Path*>(&memory_[std::size_t{place} * line]); }
  std::uint16_t place_of(const Path& path) const noexcept {
    return static_cast<std::uint16_t>((reinterpret_cast<const unsigned char*>(&path) - memory_) / line);
  }
  // Places of the paths that have come from one return address after one path.
  struct Expected {
    std::uint16_t latest, earlier;
  };
  [[gnu::always_inline]] Expected& expected_after(std::uint16_t place, std::uintptr_t return_address) noexcept {
    const std::uint64_t hash = (return_address ^ std::uint64_t{place} << 32) * 0x9e3779b97f4a7c15U;
    return expected_[hash >> (64 - expected_bits)];
  }
  static bool is_called_in(const Path& path, const Frame& caller) noexcept {
    return path.return_address == caller.return_address && path.stack == caller.stack;
  }
  [[gnu::always_inline]] bool is_near_at(std::uint16_t place, const Frame& caller) noexcept {
    const Path& path = at(place);
    return is_called_in(path, caller) && path.near && is_taken_near(path, caller);
  }
  [[gnu::always_inline]] Path& go_on_from(Last& last, std::uint16_t place) noexcept {
    last = place;
    Path& path = at(place);
    for (const std::uint16_t successor : path.successors) __builtin_prefetch(&at(successor));
    return path;
  }
  static FarOffset* far_offsets_of(Path& path) noexcept { return reinterpret_cast<FarOffset*>(&path + 1); }
  static const FarOffset* far_offsets_of(const Path& path) noexcept {
    return reinterpret_cast<const FarOffset*>(&path + 1);
  }
  static Word* words_of(Path& path) noexcept {
    return reinterpret_cast<Word*>(reinterpret_cast<unsigned char*>(&path + 1) + far_bytes(path.count, path.near));
  }
  static const Word* words_of(const Path& path) noexcept { return words_of(const_cast<Path&>(path)); }
  static std::uintptr_t read(std::uintptr_t address) noexcept {
    return *reinterpret_cast<const std::uintptr_t*>(address);
  }

  // Hashes are the more random, the higher their bits.
  template <class Caller>
  static std::uint64_t hash_of(const Caller& caller) noexcept {
    return (caller.return_address ^ std::rotl(std::uint64_t{caller.stack}, 28)) * 0x9e3779b97f4a7c15U;
  }
  static std::uint64_t with(std::uint64_t hash, std::uintptr_t value) noexcept {
    return (hash + value) * 0x9e3779b97f4a7c15U;
  }
  static unsigned slot_of(std::uint64_t hash) noexcept { return static_cast<unsigned>(hash >> (64 - bucket_bits)); }
  // The bucket of a path whose caller has a branch; nullptr: the path follows the branch.
  std::uint16_t* bucket_behind(const Path& branch, const Path& path) noexcept {
    std::uint64_t hash = hash_of(path);
    for (std::uint32_t i = 0; i < branch.branch_words; ++i) {
      std::uint32_t word = 0;
      while (word != path.count && words_of(path)[word].address != words_of(branch)[i].address) ++word;
      if (word == path.count) return nullptr;
      hash = with(hash, words_of(path)[word].value);
    }
    return &branches_[slot_of(hash)];
  }

  static bool is_of(const Path& path, const Frame& caller) noexcept {
    return is_called_in(path, caller) && path.branch_words == 0 && is_taken(path, caller);
  }
  static std::uintptr_t mask_of(const Path& path) noexcept {
    return static_cast<std::uintptr_t>(std::intptr_t{path.base_mask});
  }
  // Whether a call from the path's return address and stack pointer has this path.
  static bool is_taken(const Path& path, const Frame& caller) noexcept {
    if (path.near) [[likely]]
      return is_taken_near(path, caller);
    const std::uintptr_t base = caller.base & mask_of(path);
    return fingerprint_on_stack(base, path.stack, far_offsets_of(path), groups_of(path.count)) == path.fingerprint;
  }
  [[gnu::always_inline]] static bool is_taken_near(const Path& path, const Frame& caller) noexcept {
    const bool are_two = path.count > path_group;
    return near_fingerprint(caller.base & mask_of(path), path.stack, path.offsets, are_two) == path.fingerprint;
  }

  // The branch of a caller; nullptr: its paths are few.
  Path* branch_of(const Frame& caller) noexcept {
    for (std::uint16_t place = buckets_[slot_of(hash_of(caller))]; place != 0; place = at(place).next) {
      Path& path = at(place);
      if (path.branch_words != 0 && is_called_in(path, caller)) return &path;
    }
    return nullptr;
  }
  // Whether the branch is full, or already uses the word: then the paths share a bucket although they differ there.
  static bool is_distinguished(std::uintptr_t differing, const Path& branch) noexcept {
    bool known = branch.branch_words == max_branch_words;
    for (std::uint32_t i = 0; i < branch.branch_words; ++i) known = known || words_of(branch)[i].address == differing;
    return known;
  }
  // If a bucket has more than a few paths of the caller of its first path, adds to the branch the word in which they
  // differ from it, and moves them. `branch`: that of the caller; nullptr: it has none yet.
  void add_distinguishing_words(std::uint16_t& bucket, Path* branch) noexcept {
    const Path& first = at(bucket);
    std::uint16_t moved[longest_bucket] = {bucket};
    unsigned count = 1;
    std::uintptr_t differing = 0;
    for (std::uint16_t place = first.next; place != 0; place = at(place).next)
      if (const std::uintptr_t difference = first_difference(at(place), first); difference != 0) {
        moved[count++] = place;
        differing = difference;
      }
    if (count <= few || (branch != nullptr && is_distinguished(differing, *branch))) return;
    bucket = first.next;
    for (std::uint16_t* place = &bucket; *place != 0;) {
      std::uint16_t& next = at(*place).next;
      if (first_difference(at(*place), first) != 0)
        *place = next;
      else
        place = &next;
    }
    if (branch == nullptr) {
      const std::uint16_t made = new_path({first.return_address, first.stack, 0}, max_branch_words, true);
      branch = &at(made);
      link(made, bucket);
    }
    words_of(*branch)[branch->branch_words++].address = differing;
    for (unsigned i = 0; i < count; ++i) {
      std::uint16_t* home = bucket_behind(*branch, at(moved[i]));
      link(moved[i], home == nullptr ? branch->next : *home);
    }
  }
  // The address of the first word in which two paths of the same caller differ; 0: they are of different callers, or
  // do not differ.
  static std::uintptr_t first_difference(const Path& one, const Path& other) noexcept {
    if (one.branch_words != 0 || one.return_address != other.return_address || one.stack != other.stack) return 0;
    for (std::uint32_t i = 0; i < one.count && i < other.count; ++i) {
      const Word& word = words_of(one)[i];
      if (word.address != words_of(other)[i].address) return 0;
      if (word.value != words_of(other)[i].value) return word.address;
    }
    return 0;
  }
  std::uint16_t new_path(const Frame& caller, unsigned count, bool near) noexcept {
    const auto place = static_cast<std::uint16_t>(used_ + 1);
    Path& path = at(place);
    path = {};
    path.return_address = caller.return_address;
    path.stack = caller.stack;
    path.near = near;
    path.count = static_cast<std::uint8_t>(count);
    used_ += lines_of(count, near);
    return place;
  }
  void link(std::uint16_t place, std::uint16_t& bucket) noexcept {
    Path* path = &at(place);
    path->next = bucket;
    bucket = place;
    for (unsigned i = 1; i < longest_bucket && path->next != 0; ++i) path = &at(path->next);
    path->next = 0;
  }

  std::uint32_t used_;
  Expected expected_[1U << expected_bits];
  std::uint16_t buckets_[1U << bucket_bits];   // by caller
  std::uint16_t branches_[1U << bucket_bits];  // by caller and words
  alignas(line) unsigned char memory_[(1 + capacity) * std::size_t{line}];
};

// With return addresses alone (--stack 1): the call sites of recent return addresses.
class AddressMemo {
 public:
  struct Entry {
    std::uintptr_t address;
    std::uint32_t number;
    recorder::KnownRows rows;
  };

  [[gnu::always_inline]] Entry* find(std::uintptr_t address) noexcept {
    Entry& entry = entries_[slot_of(address)];
    return entry.address == address ? &entry : nullptr;
  }
  void add(std::uintptr_t address, std::uint32_t number) noexcept {
    entries_[slot_of(address)] = {address, number, {}};
    used_ = true;
  }
  void clear() noexcept {
    if (used_) std::memset(entries_, 0, sizeof entries_);
    used_ = false;
  }

 private:
  static constexpr unsigned slot_bits = 11;
  static unsigned slot_of(std::uintptr_t address) noexcept {
    return static_cast<unsigned>(address * 0x9e3779b97f4a7c15U >> (64 - slot_bits));
  }

  Entry entries_[1U << slot_bits];
  bool used_;
};

}  // namespace tare::stack
