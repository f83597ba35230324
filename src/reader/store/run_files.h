// The files of a run directory, mapped and cut into chunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/result.h"
#include "reader/store/chunk_scan.h"
#include "reader/store/mapped_file.h"

namespace tare::reader {

struct RunFiles {
  std::vector<MappedFile> maps;    // keep the chunks' payloads valid
  std::vector<std::string> names;  // by ChunkRef::file
  std::vector<ChunkRef> chunks;    // by file, in its order; of copies of event chunks only the first
  std::vector<std::string> warnings;

  // Gives back the memory of what was read so far; to be called on the way through many processes, every so many.
  void release() const;

  // Every *.tare file of the directory, sorted by name.
  static Result<RunFiles> open(const std::string& run_dir);
  // Those of one run of an archive.
  static Result<RunFiles> open_archived(const std::string& archive, const std::string& member);
  // One file in memory, which must outlive the result.
  static Result<RunFiles> of_memory(std::string_view bytes, const std::string& name);
};

}  // namespace tare::reader
