// Drains the buffer of a thread that may go on recording: done by tared, or at the end of the process by another
// thread.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// Copies words that a thread may be writing. Each word is copied whole. `bytes` is a multiple of 8.
void copy_words(void* out, const void* in, std::uint64_t bytes) noexcept;

// Copies a sub-buffer of a block whose thread may be recording, to `ring.bytes` bytes at `copy`, and sets `from` to the
// thread that recorded it. False if it was drained meanwhile: then it is on disk, and the copy may contain other
// records.
bool copy_sub_buffer(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint64_t ordinal,
                     std::uint64_t head, std::uint64_t* copy, format::SubBufferHead& from) noexcept;

// The result of drain_one_full(). failed: the sub-buffer cannot be written. It is left to the thread, which counts the
// loss.
enum class Handled : std::uint8_t { nothing, one, failed };
// Drains the oldest full sub-buffer of a block of another process, while its thread goes on. `segment` is a private
// copy that has been checked (format/segment_layout.h). `number`: of the block.
Handled drain_one_full(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint32_t number,
                       std::uint64_t* copy) noexcept;

}  // namespace tare::recorder
