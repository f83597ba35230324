// The files of a run directory, mapped into memory and split into chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/result.h"
#include "reader/store/chunk_scan.h"
#include "reader/store/mapped_file.h"

namespace tare::reader {

// The last bytes of an answer (run/answers.h).
inline constexpr std::string_view end_of_answer = "tare: end of the answer\n";

struct RunFiles {
  std::vector<MappedFile> maps;    // keep the chunks' payloads valid
  std::vector<std::string> names;  // by ChunkRef::file
  std::vector<ChunkRef> chunks;    // in the order of files; of copies of an event chunk, the one with the most records
  std::vector<std::string> warnings;
  std::size_t answers = SIZE_MAX;  // index in `names` of the first of add_answers()

  // Releases the memory of what was read so far. To be called regularly while many processes are read.
  void release() const;

  // Opens all *.tare files of the directory whose names begin with `prefix`, sorted by name.
  static Result<RunFiles> open(const std::string& run_dir, const std::string& prefix = "");
  // Adds the chunks of answers (run/answers.h) of these names, behind all others. Fails if one has no end.
  std::optional<Failure> add_answers(const std::string& run_dir, const std::vector<std::string>& files);
  // Opens the files of one run of an archive.
  static Result<RunFiles> open_archived(const std::string& archive, const std::string& member);
  // Opens one file that is in memory. `bytes` must outlive the result.
  static Result<RunFiles> of_memory(std::string_view bytes, const std::string& name);
};

}  // namespace tare::reader
