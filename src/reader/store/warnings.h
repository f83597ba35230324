// What a reader of a run has to know of damage.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tare::reader {

// Lines in the order in which they were added, each once.
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
