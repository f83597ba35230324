// Keeps errno, which tare's calls must not change for the program.
#pragma once

#include <cerrno>

namespace tare::recorder {

// Restores errno at the end of the scope.
class ErrnoGuard {
 public:
  ErrnoGuard() noexcept : saved_(errno) {}
  ~ErrnoGuard() { errno = saved_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  int saved_;
};

}  // namespace tare::recorder
