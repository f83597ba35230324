// The segment of a process of the run, as tared opens it: what lies in it, the process may change or spoil at any time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "format/segment_layout.h"

namespace tare::tared {

// Whether a process is there. It is known by more than its number where the kernel can do that, so that another one
// which has it next is not taken for it; one that has ended and is waited for is not there.
class Watched {
 public:
  explicit Watched(pid_t pid);
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  bool is_there() const;

 private:
  pid_t pid_;
  int fd_;
};

// Part of a file, mapped shared; nothing if it does not reach so far.
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
  ~OpenSegment();
  OpenSegment(const OpenSegment&) = delete;
  OpenSegment& operator=(const OpenSegment&) = delete;

  // False if it is none of this build and this user, or its process has not yet filled in its head.
  bool is_ready() const { return ready_; }
  bool is_alive() const { return process_.is_there(); }

  // Its head as it was found, and checked. Where things lie, only this says.
  format::SegmentHeader& header() { return *header_; }
  const format::SegmentHeader& header() const { return *header_; }
  // And as it is now.
  format::SegmentHeader& shared() const { return *shared_header_->as<format::SegmentHeader>(); }
  int fd() const { return fd_; }

  // Location blocks that there are now: no more than a process can have.
  std::uint32_t locations() const;
  // Where one lies in the file.
  std::uint64_t location_at(std::uint32_t block) const {
    return header_->locations_at + block * header_->location_stride;
  }

 private:
  bool take_header();

  Watched process_;
  int fd_;
  std::unique_ptr<Mapping> shared_header_;
  std::unique_ptr<format::SegmentHeader> header_;
  bool ready_ = false;
};

}  // namespace tare::tared
