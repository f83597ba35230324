// Draining the buffer of a thread from outside of it, while it may go on to record: by tared, or at the end of the
// process.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// Copies what a thread may be writing to meanwhile, a whole number of words: each of them is whole.
void copy_words(void* out, const void* in, std::uint64_t bytes) noexcept;

// Copies a sub-buffer of a block whose thread may be recording. False if it has been drained meanwhile: then it is on
// disk, and the copy may be of other records. Takes `ring.bytes` bytes at `copy`, and says who recorded them.
bool copy_sub_buffer(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint64_t ordinal,
                     std::uint64_t head, std::uint64_t* copy, format::SubBufferHead& from) noexcept;

// From another process: drains the oldest full sub-buffer of a block, whose thread goes on meanwhile. `failed`: it
// cannot be written, and is left to the thread, which counts what is lost.
enum class Handled : std::uint8_t { nothing, one, failed };
// `segment` is a copy that nobody writes to, and has been checked (format/segment_layout.h); `number` that of the
// block.
Handled drain_one_full(const format::SegmentHeader& segment, format::LocationHeader& block, std::uint32_t number,
                       std::uint64_t* copy) noexcept;

}  // namespace tare::recorder
