// The functions of GNU's runtime, or of another one that has them, below this library.
#pragma once

#include <atomic>

namespace tare::openmp {

// What a call would have reached without tare.
struct NextFunction {
  void* address;
  bool has_ompt;  // its runtime tells tools of events itself
};

// One function. Most programs have one runtime, in their search order. A runtime that Python or a plugin loader has
// opened with an extension is not there, and there may be several: which is meant depends on the caller.
class Next {
 public:
  constexpr explicit Next(const char* name) noexcept : name_(name) {}

  // `caller`: the return address of the call. May call the loader. Ends the process if there is none, as the loader
  // does with an undefined symbol.
  NextFunction of(const void* caller) noexcept {
    void* address = address_.load(std::memory_order_acquire);
    if (address != nullptr) [[likely]]
      return {address, has_ompt_};
    return find(caller);
  }

 private:
  [[gnu::cold, gnu::noinline]] NextFunction find(const void* caller) noexcept;

  const char* name_;
  std::atomic<void*> address_{nullptr};  // in the program's search order
  bool has_ompt_ = false;                // set before `address_`
};

// For a forked child: no thread holds a lock.
void release_next() noexcept;

}  // namespace tare::openmp
