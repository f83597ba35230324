// Warnings of a run about damaged, missing or incomplete data.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tare::reader {

// Keeps lines in the order in which they were added; equal lines once.
class Warnings {
 public:
  void add(std::string line) {
    if (known_.insert(line).second) lines_.push_back(std::move(line));
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
  std::unordered_set<std::string> known_;
};

}  // namespace tare::reader
