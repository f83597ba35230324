#include "shared_counters.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

// Made by the linker. This file has no counters itself: the pass that makes them uses these names.
extern "C" {
extern std::uint8_t __start___sancov_cntrs[] __attribute__((weak, visibility("hidden")));
extern std::uint8_t __stop___sancov_cntrs[] __attribute__((weak, visibility("hidden")));
}

namespace tare::fuzz {

SharedCounters::SharedCounters() : bytes_(static_cast<std::size_t>(__stop___sancov_cntrs - __start___sancov_cntrs)) {
  if (bytes_ == 0) return;
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  shared_ = static_cast<std::uint8_t*>(memory);
}

void SharedCounters::publish() const { std::copy_n(__start___sancov_cntrs, bytes_, shared_); }

void SharedCounters::take() const {
  for (std::size_t i = 0; i < bytes_; ++i)
    __start___sancov_cntrs[i] = std::max(__start___sancov_cntrs[i], std::exchange(shared_[i], std::uint8_t{0}));
}

}  // namespace tare::fuzz
