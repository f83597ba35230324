// tared's end of the ring of snapshots of a process (format/offload_ring.h). The process may write anything there at
// any time: an entry is copied, and what the copy says is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "format/offload_ring.h"

namespace tare::tared {

class RingReader {
 public:
  // `bytes`: of the entries, which lie behind the ring; a power of two that has been checked.
  RingReader(format::OffloadRing& ring, std::uint64_t bytes);

  // Takes the oldest snapshot out of the ring, and makes room for others. What it holds is in head() and sections()
  // until the next call. False if there is none, or if the ring makes no sense any more: then there will be none.
  bool take();
  // Whether there is something to take.
  bool has_more() const { return !broken_ && ring_.head.load(std::memory_order_acquire) != tail_; }

  struct Section {
    format::SectionHead head;
    const format::Sums* rows;
    const format::Sums* phases;
    const format::Sums* spans;
  };
  const format::SnapshotHead& head() const { return head_; }
  const std::vector<Section>& sections() const { return sections_; }
  bool is_broken() const { return broken_; }

 private:
  bool copy_entry(std::uint64_t waiting, format::EntryHead& entry);
  bool parse();
  void give_back(bool snapshot);

  format::OffloadRing& ring_;
  std::uint64_t bytes_;
  std::uint64_t tail_;
  std::uint64_t taken_;
  std::vector<std::uint64_t> entry_;  // the copy
  format::SnapshotHead head_{};
  std::vector<Section> sections_;
  bool broken_ = false;
};

// Of a ring that says of itself that it is so long, in a file where it may be as long as `room`; 0 if it makes no
// sense.
std::uint64_t checked_ring_bytes(std::uint64_t bytes, std::uint64_t room);

}  // namespace tare::tared
