// The records of a buffer as chunks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/segment.h"
#include "reader/store/segment_file.h"

namespace tare::reader {

// Encodes the records of a buffer as the process would have: sealed chunks, one behind another.
class BufferEncoder {
 public:
  BufferEncoder();
  ~BufferEncoder();
  BufferEncoder(const BufferEncoder&) = delete;
  BufferEncoder& operator=(const BufferEncoder&) = delete;

  struct Encoded {
    std::vector<std::string> chunks;
    std::uint64_t records = 0;
    std::uint64_t unreadable_bytes = 0;  // behind the last record that makes sense
  };
  Encoded encode(const format::ProcessRecord& process, std::uint32_t block, const BufferCopy& buffer);

 private:
  void* workspace_;
};

}  // namespace tare::reader
