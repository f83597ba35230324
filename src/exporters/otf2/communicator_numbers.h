// The communicators of a run that an archive defines, and their numbers in it: without a gap, as OTF2 wants them.
#pragma once

#include <otf2/otf2.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare::exporters::otf2 {

class CommunicatorNumbers {
 public:
  // `known`: by communicator of the run, whether it is defined.
  explicit CommunicatorNumbers(const std::vector<bool>& known) {
    for (const bool is_known : known) numbers_.push_back(is_known ? count_++ : OTF2_UNDEFINED_COMM);
  }

  // `communicator`: its place in Run::communicators(), or negative. Of one that is not defined: OTF2_UNDEFINED_COMM.
  OTF2_CommRef of(std::int32_t communicator) const {
    return communicator < 0 ? OTF2_UNDEFINED_COMM : numbers_[static_cast<std::size_t>(communicator)];
  }
  bool has(std::int32_t communicator) const { return of(communicator) != OTF2_UNDEFINED_COMM; }
  // How many are defined, and the number of the first one that is not of the run.
  OTF2_CommRef count() const { return count_; }

 private:
  std::vector<OTF2_CommRef> numbers_;
  OTF2_CommRef count_ = 0;
};

}  // namespace tare::exporters::otf2
