// A segment as a reader sees it: a file that another process may be writing to, may have died while writing
// to, or that may hold anything. Read with pread, not mapped: that takes no memory for the holes of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/segment_layout.h"
#include "format/weighed.h"
#include "reader/result.h"
#include "reader/store/liveness.h"
#include "reader/store/owners.h"

namespace tare::reader {

// What a segment is named after.
struct SegmentName {
  std::string file;  // tare-<run id>-<pid>-<n>
  unsigned pid = 0;
};

// The segments of a run in a directory, sorted; none if there is no such directory. Every run's if run_id is
// empty.
std::vector<SegmentName> list_segments(const std::string& directory, const std::string& run_id);

// A location as it was at one moment; counters of a running one may be a call apart.
struct LocationCopy {
  std::uint32_t block = 0;
  format::ThreadCall call{};  // of one moment
  format::LocationSummary summary{};
  std::vector<format::ProfileRow> rows;
  std::vector<format::PeerEntry> peers;
  std::vector<format::PhaseEntry> phases;
  std::vector<format::WeighedCalls> weighed;
  std::vector<std::uint64_t> lookups;  // by function number
};

// Records that have not been drained, by sub-buffer.
struct BufferCopy {
  struct Part {
    std::uint32_t thread = 0;
    std::vector<char> records;
  };
  std::vector<Part> parts;
  format::RingShape ring{};
  std::uint64_t oldest = 0;    // ordinal of the first part
  std::uint32_t sequence = 0;  // of the chunk that it begins
};

// How many there are; of each part those before one that makes no sense.
std::uint64_t count_records(const BufferCopy& buffer);
// Removes those that ended before `ticks`.
void remove_older(BufferCopy& buffer, std::uint64_t ticks);

class SegmentFile {
 public:
  // The header is read and checked against the size of the file; later reads use this copy of the layout. Fails if
  // it belongs to none of `owners`.
  static Result<SegmentFile> open(const std::string& directory, const SegmentName& name, const Owners& owners);

  SegmentFile(SegmentFile&& other) noexcept;
  SegmentFile& operator=(SegmentFile&& other) noexcept;
  ~SegmentFile();

  const SegmentName& name() const { return name_; }
  int fd() const { return fd_; }
  // False if the process died, or is, before its header was complete: there is nothing in it.
  bool is_initialised() const { return initialised_; }
  // Events older than this when the process ended are to be left out; 0: none are.
  std::uint64_t keep_ns() const { return layout_.keep_ns; }

  // Of what can be read of it.
  Maker maker() const;
  // The process as it is now.
  Result<format::ProcessRecord> process() const;
  // The definition log as published now, from byte `from` on.
  Result<std::string> definitions(std::uint64_t from = 0) const;
  // How much of it the process has written to the run directory.
  Result<std::uint64_t> definitions_written() const;
  // The requests under way; empty if the process has no request table.
  Result<std::vector<format::RequestEntry>> requests() const;
  // What message sampling has found so far, as the payload of a samples chunk; empty if the process does not sample.
  Result<std::string> samples() const;
  // What measured spells say of others, as the payload of a spell_sums chunk; empty if all calls are measured.
  Result<std::string> spell_sums() const;
  // What handing snapshots to the monitor has cost, as the payload of an offloads chunk; empty if it is not monitored.
  Result<std::string> offloads() const;
  // Location blocks in use now.
  Result<std::uint32_t> locations() const;
  Result<LocationCopy> location(std::uint32_t block) const;
  // Never torn: what was drained meanwhile is left out, being on disk.
  Result<BufferCopy> buffer(std::uint32_t block) const;

 private:
  SegmentFile(int fd, SegmentName name) : fd_(fd), name_(std::move(name)) {}

  bool read(void* to, std::uint64_t bytes, std::uint64_t offset) const;
  bool read_call(std::uint64_t location_at, format::ThreadCall& call) const;
  bool read_sub_buffer(BufferCopy::Part& part, std::uint64_t buffer_at, std::uint64_t ordinal,
                       std::uint64_t head) const;
  Failure cut_off() const;

  int fd_;
  SegmentName name_;
  bool initialised_ = false;
  format::SegmentLayout layout_{};
  std::uint64_t max_locations_ = 0;
};

}  // namespace tare::reader
