// Reads the calls of each rank in their order, with the lines of the program that make them. The structure of a run is
// found from these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "reader/events/event_chunks.h"
#include "reader/run/run.h"

namespace tare::reader {

// An MPI function and the line of the program that calls it, by any call path; or a single call path.
struct CalledLine {
  std::uint16_t function = 0;
  std::int32_t site = -1;  // index in Run::sites(), for a line that of its first site; -1: not known

  auto operator<=>(const CalledLine&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct RankCall {
  std::int64_t start_ns = 0, end_ns = 0;  // Unix times, after they were moved (Process::shown)
  std::int64_t before_ns = 0;  // time since the end of the previous call, or of a gap, without writes of the buffer
  std::int64_t lost_ns = 0;    // time of all gaps and writes of the buffer in the trace up to here
  bool is_behind_gap = false;  // there is a gap since the previous call
  std::uint32_t line = 0, path = 0;  // indices in RankLines
  bool is_outside = false;           // MPI_Init, MPI_Finalize and similar functions
};

// The lines and call paths of a rank.
struct RankLines {
  std::vector<CalledLine> lines{}, paths{};
};

class RankCalls {
 public:
  // Selects the thread with the most events of each rank, of those that call MPI. Fails as EventStream::open() does.
  // The run must outlive the result.
  static Result<RankCalls> of(Run& run);

  struct Rank {
    const Process* process = nullptr;
    std::uint32_t thread = 0;
    std::vector<const ChunkRef*> chunks{};
  };
  const std::vector<Rank>& ranks() const { return ranks_; }

  // Calls `some` with the calls of each chunk of a rank. New lines and paths are appended to `lines` before. Chunks
  // that cannot be read are left out. Thread-safe.
  using Some = std::function<void(std::span<const RankCall>)>;
  void read(std::size_t rank, RankLines& lines, const Some& some) const;

 private:
  Run* run_ = nullptr;
  // On the heap, because `ranks_` contains pointers into it.
  std::unique_ptr<EventChunks> chunks_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> first_site_;  // by site: the first site with the same line
  std::vector<bool> outside_;             // by function
};

}  // namespace tare::reader
