// Reads a segment. Its process may be writing to it, or may have died while writing, and the file may be damaged. The
// file is read with pread() and not mapped, because the holes of a mapped file would take memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/chunk.h"
#include "format/descriptor.h"
#include "format/liveness.h"
#include "format/segment_layout.h"
#include "format/weighed.h"
#include "reader/result.h"
#include "reader/store/owners.h"

namespace tare::reader {

// The name of a segment file.
struct SegmentName {
  std::string file;  // tare-<run id>-<pid>-<n>
  unsigned pid = 0;
};

// The segments of a run in a directory, sorted by name; none if there is no such directory. Files of other users with
// such names are not opened, and nothing is done about the processes that they name.
struct ListedSegments {
  std::vector<SegmentName> names;
  std::uint64_t foreign = 0;
};
ListedSegments list_segments(const std::string& directory, const std::string& run_id, const Owners& owners);

// A copy of a location. If its thread is running, the counters may be from before and after a call.
struct LocationCopy {
  std::uint32_t block = 0;
  format::ThreadCall call{};    // consistent in itself, except if the thread makes calls all the time (read_call)
  std::uint64_t last_time = 0;  // when it was last seen to begin or end a call, in ticks
  format::LocationSummary summary{};
  std::vector<format::ProfileRow> rows;
  std::vector<format::PeerEntry> peers;
  std::vector<format::PhaseEntry> phases;
  std::vector<format::WeighedCalls> weighed;
  std::vector<std::uint64_t> lookups;  // by function number
};

// A copy of the records of an event buffer that have not been drained.
struct BufferCopy {
  // The records of one sub-buffer.
  struct Part {
    std::uint32_t thread = 0;
    std::vector<char> records;
  };
  std::vector<Part> parts;
  format::RingShape ring{};
  std::uint64_t oldest = 0;    // ordinal of the sub-buffer of the first part
  std::uint32_t sequence = 0;  // number of the chunk that begins with the first part
};

// The number of records. In each part, counting ends at the first invalid record.
std::uint64_t count_records(const BufferCopy& buffer);
// Removes the records that ended before `ticks`. Returns their bytes.
std::uint64_t remove_older(BufferCopy& buffer, std::uint64_t ticks);

class SegmentFile {
 public:
  // Reads the header once and checks it against the size of the file. Later reads use this copy of the layout. Fails if
  // `owners` does not trust the owner of the file.
  static Result<SegmentFile> open(const std::string& directory, const SegmentName& name, const Owners& owners);

  const SegmentName& name() const { return name_; }
  int fd() const { return file_.fd(); }
  // False if the process has not completed the header yet, or died before that. The segment is then empty.
  bool is_initialised() const { return initialised_; }
  // Whether it was made for the run directory with this key (format/run_key.h).
  bool is_of(const std::string& run_key) const { return run_key_ == run_key; }
  // The age, in ns before the end of the process, from which on events are to be left out; 0: all are kept.
  std::uint64_t keep_ns() const { return layout_.keep_ns; }

  // Who made it; of no meaning if it is not initialised.
  const format::Maker& maker() const { return maker_; }
  // Whether its file was made or resized in the last seconds.
  bool is_new() const;
  // Whether its process lives.
  format::Life life() const;

  // The functions below read the current state of the segment. They fail if the file is cut off or damaged.

  Result<format::ProcessRecord> process() const;
  // The definition log from byte `from` on.
  Result<std::string> definitions(std::uint64_t from = 0) const;
  // How many bytes of the definition log the process has written to the run directory.
  Result<std::uint64_t> definitions_written() const;
  // The requests that have not completed; empty if the process has no request table.
  Result<std::vector<format::RequestEntry>> requests() const;
  // The payloads of the chunks that a process writes once at its end, as far as it has any: samples, spell_sums,
  // offloads, stacks, scheduling.
  struct Payload {
    format::ChunkType type;
    std::string bytes;
  };
  Result<std::vector<Payload>> payloads() const;
  // The number of location blocks in use.
  Result<std::uint32_t> locations() const;
  Result<LocationCopy> location(std::uint32_t block) const;
  // A consistent copy. Records that were drained during the copy are left out, because they are on disk.
  Result<BufferCopy> buffer(std::uint32_t block) const;

 private:
  SegmentFile(format::Descriptor file, SegmentName name) : file_(std::move(file)), name_(std::move(name)) {}

  bool read(void* to, std::uint64_t bytes, std::uint64_t offset) const;
  bool read_call(std::uint64_t location_at, LocationCopy& location) const;
  bool read_sub_buffer(BufferCopy::Part& part, std::uint64_t buffer_at, std::uint64_t ordinal,
                       std::uint64_t head) const;
  bool read_samples(std::string& payload) const;
  bool read_scheduling(std::string& payload) const;
  bool read_stacks(std::string& payload) const;
  bool read_files(std::string& payload) const;
  Failure cut_off() const;

  format::Descriptor file_;
  SegmentName name_;
  bool initialised_ = false;
  format::Maker maker_{};
  format::SegmentLayout layout_{};
  std::string run_key_;
  std::uint64_t max_locations_ = 0;
};

}  // namespace tare::reader
