// The results of message sampling of one process, and where to read them from.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/sample.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {

// Samples of the messages that a process received.
struct Samples {
  format::SampleSummary summary{};
  std::vector<format::SampleClass> classes;  // those with messages
  std::string analysis;                      // the result of the user's analysis; empty: none
};

// Replaces `samples` by the payload of a samples chunk. False if the payload is malformed.
bool parse_samples(std::string_view payload, Samples& samples);

// Where the newest samples of a process are: a chunk on disk, or a copy from the segment. Both are null if the process
// did not sample.
struct SampleSource {
  const ChunkRef* chunk = nullptr;        // of Run::files()
  std::shared_ptr<const Samples> copy{};  // used if not null
};

}  // namespace tare::reader
