// Whether a thread is inside a call that is measured, or in tare's own code. Then the calls that it makes are not the
// program's: those of the MPI library, and those of a signal handler that has interrupted tare. src/stack/inside.h says
// how the state is corrected for calls that do not return.
#pragma once

#include <cstdint>

extern "C" {
// The Inside (src/stack/inside.h) of the call that this thread is in. 0: none. not_to_be_left: the thread is in tare's
// own code.
[[gnu::visibility("hidden")]] extern constinit thread_local std::uintptr_t tare_inside
    [[gnu::tls_model("initial-exec")]];
}

namespace tare::recorder {

inline constexpr std::uintptr_t not_to_be_left = UINTPTR_MAX;

// Lives while a thread is in tare's own code.
class OwnCode {
 public:
  OwnCode() noexcept : before_(tare_inside) { tare_inside = not_to_be_left; }
  ~OwnCode() { tare_inside = before_; }
  OwnCode(const OwnCode&) = delete;
  OwnCode& operator=(const OwnCode&) = delete;

 private:
  const std::uintptr_t before_;
};

}  // namespace tare::recorder
