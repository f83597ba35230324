// Coverage of a child process, as if its parent had run the code: else the fuzzer would see nothing of what an input
// reaches there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tare::fuzz {

// To be made before the child. Wants the counters of -fsanitize=fuzzer; without them it does nothing.
class SharedCounters {
 public:
  SharedCounters();
  // In the child, at its end.
  void publish() const;
  // In the parent, behind the child's end.
  void take() const;

 private:
  std::size_t bytes_;
  std::uint8_t* shared_ = nullptr;
};

}  // namespace tare::fuzz
