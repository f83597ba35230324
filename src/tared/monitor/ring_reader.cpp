#include "tared/monitor/ring_reader.h"

#include <bit>
#include <cstring>

#include "recorder/system.h"

namespace tare::tared {

using namespace format;

std::uint64_t checked_ring_bytes(std::uint64_t bytes, std::uint64_t room) {
  if (room < sizeof(OffloadRing) || bytes > room - sizeof(OffloadRing)) return 0;
  return std::has_single_bit(bytes) && bytes >= min_offload_bytes && bytes <= max_offload_bytes ? bytes : 0;
}

RingReader::RingReader(OffloadRing& ring, std::uint64_t bytes)
    : ring_(ring), bytes_(bytes), tail_(ring.tail.load()), taken_(ring.taken.load()) {}

bool RingReader::take() {
  for (;;) {
    const std::uint64_t waiting = ring_.head.load(std::memory_order_acquire) - tail_;
    if (broken_ || waiting == 0) return false;
    EntryHead entry{};
    if (!copy_entry(waiting, entry)) break;
    const bool is_snapshot = entry.kind == EntryKind::snapshot;
    tail_ += entry.bytes;
    if (is_snapshot && !parse()) break;
    give_back(is_snapshot);
    if (is_snapshot) return true;
  }
  broken_ = true;
  return false;
}

// The head is copied first, and again with the rest, so that the length is the checked one.
bool RingReader::copy_entry(std::uint64_t waiting, EntryHead& entry) {
  if (waiting > bytes_ || waiting < sizeof entry || tail_ % 8 != 0) return false;
  const std::uint64_t at = tail_ % bytes_;
  const char* place = reinterpret_cast<const char*>(&ring_ + 1) + at;
  std::memcpy(&entry, place, sizeof entry);
  if (entry.bytes < sizeof entry || entry.bytes % 8 != 0 || entry.bytes > waiting || entry.bytes > bytes_ - at)
    return false;
  if (entry.kind == EntryKind::filler) return true;
  if (entry.kind != EntryKind::snapshot || entry.bytes < sizeof(SnapshotHead)) return false;
  entry_.resize(entry.bytes / 8);
  std::memcpy(entry_.data(), place, entry.bytes);
  std::memcpy(entry_.data(), &entry, sizeof entry);
  return true;
}

bool RingReader::parse() {
  const char* at = reinterpret_cast<const char*>(entry_.data());
  std::memcpy(&head_, at, sizeof head_);
  std::uint64_t left = head_.entry.bytes - sizeof head_;
  at += sizeof head_;
  sections_.clear();
  for (std::uint32_t i = 0; i < head_.sections; ++i) {
    Section section{};
    if (left < sizeof section.head) return false;
    std::memcpy(&section.head, at, sizeof section.head);
    left -= sizeof section.head;
    const std::uint64_t sums = std::uint64_t{section.head.rows} + section.head.phases + section.head.spans;
    if (sums > left / sizeof(Sums)) return false;
    section.rows = reinterpret_cast<const Sums*>(at + sizeof section.head);
    section.phases = section.rows + section.head.rows;
    section.spans = section.phases + section.head.phases;
    at += sizeof section.head + sums * sizeof(Sums);
    left -= sums * sizeof(Sums);
    sections_.push_back(section);
  }
  return true;
}

void RingReader::give_back(bool snapshot) {
  ring_.tail.store(tail_, std::memory_order_release);
  if (!snapshot) return;
  ring_.taken.store(++taken_, std::memory_order_release);
  ring_.takings.fetch_add(1, std::memory_order_release);
  recorder::wake(&ring_.takings);  // wakes a process that waits for room
}

}  // namespace tare::tared
