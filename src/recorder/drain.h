// Encoding and appending the records of sub-buffers, for whoever drains them.
#pragma once

#include <cstdint>

#include "format/event_codec.h"
#include "format/segment.h"

namespace tare::recorder {

// One of a few encoders that the threads of this process share: as many as drain at the same time. Thread-safe.
class BorrowedEncoder {
 public:
  BorrowedEncoder() noexcept;
  ~BorrowedEncoder();
  BorrowedEncoder(const BorrowedEncoder&) = delete;
  BorrowedEncoder& operator=(const BorrowedEncoder&) = delete;
  // False if there is no memory for one.
  explicit operator bool() const noexcept { return entry_ != nullptr; }
  format::EventEncoder* operator->() const noexcept;

  struct Entry;

 private:
  Entry* entry_;
};

// In a forked child: nobody holds an encoder.
void release_encoders() noexcept;

// Whose records they are, and the number of their first chunk.
struct Source {
  std::uint32_t block;
  std::uint32_t thread;
  std::uint32_t sequence;
};

// What became of records.
struct Written {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;    // could not be written, or make no sense
  int error = 0;             // errno of those that could not be written; 0: there is no memory to encode them
  std::uint32_t chunks = 0;  // sequence numbers that they took, also if they could not be written
};

// Encodes `bytes` bytes of records and appends them to the node's file. The chunks of the same records are always the
// same, so records may be written twice: a reader keeps one copy.
Written write_records(const format::SegmentHeader& segment, const Source& source, const char* records,
                      std::uint64_t bytes) noexcept;

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
