// The segment of a process of the run, for draining its buffers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tared/open_segment.h"

namespace tare::tared {

class Segment {
 public:
  Segment(const std::string& path, pid_t pid) : file_(path, pid) {}

  bool is_ready() const { return file_.is_ready(); }
  format::Life life() const { return file_.life(); }

  // Drains a full sub-buffer of each location.
  enum class Drained { nothing, some, failed };
  Drained drain();

 private:
  void map_new_locations();

  OpenSegment file_;
  std::vector<std::unique_ptr<Mapping>> locations_;
  std::vector<std::uint64_t> copy_;  // of a sub-buffer
};

}  // namespace tare::tared
