// What message sampling left behind for one process, and where it lies until it is asked for.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "format/sample.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {

// Of the process that received the messages.
struct Samples {
  format::SampleSummary summary{};
  std::vector<format::SampleClass> classes;  // those with messages
};

// Reads the payload of a samples chunk; what `samples` held is replaced. False if it is malformed.
bool parse_samples(std::string_view payload, Samples& samples);

// The newest of a process: a chunk on disk, or a copy from the segment. Neither, if it did not sample.
struct SampleSource {
  const ChunkRef* chunk = nullptr;        // of Run::files()
  std::shared_ptr<const Samples> copy{};  // if not null, this one
};

}  // namespace tare::reader
