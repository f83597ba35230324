// The requests under way of a process, with their numbers in tare's records.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "format/record.h"

namespace tare::importers::otf2 {

class RequestNumbers {
 public:
  // A new number. The archive's number may be in use again by now.
  std::uint32_t begin(std::uint64_t request) {
    if (++last_ == format::no_request) ++last_;
    numbers_[request] = last_;
    return last_;
  }
  // Returns the number and removes it; no_request if it is not known.
  std::uint32_t end(std::uint64_t request) {
    const auto found = numbers_.extract(request);
    return found.empty() ? format::no_request : found.mapped();
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by the archive's
  std::uint32_t last_ = format::no_request;
};

}  // namespace tare::importers::otf2
