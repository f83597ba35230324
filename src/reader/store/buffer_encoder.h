// Encodes the records of an event buffer as chunks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/segment.h"
#include "reader/store/segment_file.h"

namespace tare::reader {

// Makes the same chunks that the process itself would have written. Not thread-safe.
class BufferEncoder {
 public:
  BufferEncoder();
  ~BufferEncoder();
  BufferEncoder(const BufferEncoder&) = delete;
  BufferEncoder& operator=(const BufferEncoder&) = delete;

  struct Encoded {
    std::vector<std::string> chunks;  // sealed chunks, in order
    std::uint64_t records = 0;
    std::uint64_t unreadable_bytes = 0;  // bytes after the last valid record
  };
  Encoded encode(const format::ProcessRecord& process, std::uint32_t block, const BufferCopy& buffer);

 private:
  void* workspace_;
};

}  // namespace tare::reader
