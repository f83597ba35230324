// The reader's end of the ring of snapshots of a process (format/offload_ring.h). The process may write anything there
// at any time. So an entry is copied, and the copy is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "format/offload_ring.h"

namespace tare::tared {

class RingReader {
 public:
  // `bytes`: the size of the entries, which follow the ring's header; a power of two that was checked.
  RingReader(format::OffloadRing& ring, std::uint64_t bytes);

  // Takes the oldest snapshot out of the ring and frees its room. head() and sections() have its content until the next
  // call. False if there is none, or if the ring is invalid; then there will be none.
  bool take();
  // Whether there is a snapshot.
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

// The checked size of a ring from its header, if `room` bytes of the file are available for it; 0 if it is invalid.
std::uint64_t checked_ring_bytes(std::uint64_t bytes, std::uint64_t room);

}  // namespace tare::tared
