#include "recorder/definition_log.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

constinit SpinLock log_lock;

// Appends to the first `share`-th part of the log. False if there is no room.
bool append(format::SegmentHeader* header, std::uint64_t share, void* head, std::size_t head_bytes, Text first,
            Text second) noexcept {
  const std::size_t text_bytes = first.bytes + second.bytes;
  const std::size_t bytes = (head_bytes + text_bytes + 7) / 8 * 8;
  static_cast<format::DefinitionHead*>(head)->bytes = static_cast<std::uint32_t>(bytes);
  const std::uint64_t at = header->definitions_bytes.load(std::memory_order_relaxed);
  if (at + bytes > header->definitions_capacity / share) return false;
  char* out = reinterpret_cast<char*>(header) + header->definitions_at + at;
  std::memcpy(out, head, head_bytes);
  if (first.bytes != 0) std::memcpy(out + head_bytes, first.data, first.bytes);
  if (second.bytes != 0) std::memcpy(out + head_bytes + first.bytes, second.data, second.bytes);
  header->definitions_bytes.store(at + bytes, std::memory_order_release);
  return true;
}

}  // namespace

void define(void* head, std::size_t head_bytes, Text first, Text second) noexcept {
  format::SegmentHeader* header = segment();
  if (header == nullptr) return;
  const Locked locked(log_lock);
  if (!append(header, 1, head, head_bytes, first, second)) ++header->process.definitions_lost;
}

bool define_in_half(void* head, std::size_t head_bytes, Text first, Text second) noexcept {
  format::SegmentHeader* header = segment();
  if (header == nullptr) return true;
  const Locked locked(log_lock);
  return append(header, 2, head, head_bytes, first, second);
}

bool has_room_in_half(std::size_t bytes) noexcept {
  const format::SegmentHeader* header = segment();
  return header == nullptr ||
         header->definitions_bytes.load(std::memory_order_relaxed) + bytes <= header->definitions_capacity / 2;
}

void release_definition_log() noexcept { log_lock.reset(); }

}  // namespace tare::recorder
