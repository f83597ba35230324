// The segment of a process of the run, as tared sees it: mapped as far as it needs it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

class Segment {
 public:
  Segment(const std::string& path, pid_t pid);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  // False if it is none of this build and this user, or its process has not yet filled in its head.
  bool is_ready() const { return ready_; }
  bool is_alive() const { return process_.is_there(); }

  // Drains a full sub-buffer of each location.
  enum class Drained { nothing, some, failed };
  Drained drain();

 private:
  bool take_header();
  void map_new_locations();

  Watched process_;
  int fd_;
  std::unique_ptr<Mapping> shared_header_;  // read but for the number of locations once, into:
  std::unique_ptr<format::SegmentHeader> header_;
  bool ready_ = false;
  std::vector<std::unique_ptr<Mapping>> locations_;
  std::vector<std::uint64_t> copy_;  // of a sub-buffer
};

}  // namespace tare::tared
