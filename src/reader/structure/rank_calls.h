// The calls of each rank in their order, line by line of the program: what its structure is found from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "reader/events/event_chunks.h"
#include "reader/run/run.h"

namespace tare::reader {

// An MPI function and the line of the program that calls it, whatever the path to there; or one path.
struct CalledLine {
  std::uint16_t function = 0;
  std::int32_t site = -1;  // of Run::sites(); of a line: the first one of it; -1: not known

  auto operator<=>(const CalledLine&) const = default;
};

struct RankCall {
  std::int64_t start_ns = 0, end_ns = 0;  // unix, as shown
  std::int64_t before_ns = 0;             // since the end of the call before it, without the next
  std::int64_t lost_ns = 0;               // all gaps of the trace, and writes of the buffer, up to here
  bool is_behind_gap = false;             // there is one since the call before it
  std::uint32_t line = 0, path = 0;       // in those of the rank
  bool is_outside = false;                // MPI_Init, MPI_Finalize and the like
};

// The lines that a rank calls, and the paths, by the numbers that its calls have.
struct RankLines {
  std::vector<CalledLine> lines{}, paths{};
};

class RankCalls {
 public:
  // Of each rank the thread with most events. Fails as EventStream::open() does. The run must outlive it.
  static Result<RankCalls> of(Run& run);

  struct Rank {
    const Process* process = nullptr;
    std::uint32_t thread = 0;
    std::vector<const ChunkRef*> chunks{};
  };
  const std::vector<Rank>& ranks() const { return ranks_; }

  // Gives `some` the calls of a rank, a chunk at a time; `lines` grows before its numbers are used. Several threads may
  // read. Chunks that cannot be read are left out.
  using Some = std::function<void(std::span<const RankCall>)>;
  void read(std::size_t rank, RankLines& lines, const Some& some) const;

 private:
  Run* run_ = nullptr;
  // Not moved, as ranks point into it.
  std::unique_ptr<EventChunks> chunks_;
  std::vector<Rank> ranks_;
  std::vector<std::int32_t> first_site_;  // of the line of each site
  std::vector<bool> outside_;             // by function
};

}  // namespace tare::reader
