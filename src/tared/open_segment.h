// The segment of a process of the run, opened by tared. The process may change its content at any time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "format/descriptor.h"
#include "format/liveness.h"
#include "format/segment_layout.h"

namespace tare::tared {

// Whether the process that started tared exists. It is identified by a pidfd if the kernel has them, so a later process
// with the same id is not taken for it. A zombie counts as ended.
class Watched {
 public:
  explicit Watched(pid_t pid);
  bool is_there() const;

 private:
  pid_t pid_;
  format::Descriptor process_;
};

// A part of a file, mapped shared; nothing if the file is shorter.
class Mapping {
 public:
  Mapping(int fd, std::uint64_t offset, std::uint64_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  explicit operator bool() const { return memory_ != nullptr; }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  std::uint64_t bytes_;
  void* memory_;
};

class OpenSegment {
 public:
  OpenSegment(const std::string& path, pid_t pid);

  // False if it is from another build or user, or its process has not filled in its head yet.
  bool is_ready() const { return ready_; }
  format::Life life() const;

  // A checked copy of its head. The layout must be taken only from here.
  format::SegmentHeader& header() { return *header_; }
  const format::SegmentHeader& header() const { return *header_; }
  // The live head.
  format::SegmentHeader& shared() const { return *shared_header_->as<format::SegmentHeader>(); }
  int fd() const { return file_.fd(); }

  // The number of location blocks now; at most as many as a process can have.
  std::uint32_t locations() const;
  // The offset of a block in the file.
  std::uint64_t location_at(std::uint32_t block) const {
    return header_->locations_at + block * header_->location_stride;
  }

 private:
  bool take_header();

  std::string name_;
  pid_t pid_;  // in its own PID namespace
  format::Descriptor file_;
  std::unique_ptr<Mapping> shared_header_;
  std::unique_ptr<format::SegmentHeader> header_;
  bool ready_ = false;
};

}  // namespace tare::tared
