// A segment as a reader sees it: a file that another process may be writing to, may have died while writing
// to, or that may hold anything. Read with pread, not mapped: that takes no memory for the holes of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/segment.h"
#include "reader/result.h"

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
  std::vector<std::uint64_t> lookups;  // by function number
};

// Records that have not been drained.
struct BufferCopy {
  std::vector<char> records;
  std::uint32_t sequence = 0;  // of the chunk that they begin
  std::uint32_t thread = 0;
};

// How many there are; stops at one that makes no sense.
std::uint64_t count_records(const BufferCopy& buffer);

class SegmentFile {
 public:
  // The header is read and checked against the size of the file; later reads use this copy of the layout.
  static Result<SegmentFile> open(const std::string& directory, const SegmentName& name);

  SegmentFile(SegmentFile&& other) noexcept;
  SegmentFile& operator=(SegmentFile&& other) noexcept;
  ~SegmentFile();

  const SegmentName& name() const { return name_; }
  int fd() const { return fd_; }
  // False if the process died, or is, before its header was complete: there is nothing in it.
  bool is_initialised() const { return initialised_; }

  // The process as it is now.
  Result<format::ProcessRecord> process() const;
  // The definition log as published now, from byte `from` on.
  Result<std::string> definitions(std::uint64_t from = 0) const;
  // How much of it the process has written to the run directory.
  Result<std::uint64_t> definitions_written() const;
  // The requests under way; empty if the process has no request table.
  Result<std::vector<format::RequestEntry>> requests() const;
  // Location blocks in use now.
  Result<std::uint32_t> locations() const;
  Result<LocationCopy> location(std::uint32_t block) const;
  // Never torn: read again if the owner drained meanwhile. Fails if that happens again and again.
  Result<BufferCopy> buffer(std::uint32_t block) const;

 private:
  SegmentFile(int fd, SegmentName name) : fd_(fd), name_(std::move(name)) {}

  bool read(void* to, std::uint64_t bytes, std::uint64_t offset) const;
  bool read_call(std::uint64_t location_at, format::ThreadCall& call) const;
  Failure cut_off() const;
  std::optional<std::string> check_layout(std::uint64_t file_bytes) const;

  int fd_;
  SegmentName name_;
  bool initialised_ = false;
  std::uint32_t functions_ = 0;
  std::uint64_t definitions_at_ = 0;
  std::uint64_t definitions_capacity_ = 0;
  std::uint64_t requests_at_ = 0;
  std::uint64_t locations_at_ = 0;
  std::uint64_t location_stride_ = 0;
  std::uint64_t max_locations_ = 0;
  std::uint32_t row_capacity_ = 0;
  std::uint64_t buffer_bytes_ = 0;
};

}  // namespace tare::reader
