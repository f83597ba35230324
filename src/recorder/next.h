// The functions below this library, which entry points of its sources call. They are looked up before the program
// begins, because a call may be in a signal handler or in the child of vfork.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

namespace tare::recorder {

// A function that makes one system call, which takes its place before the constructors of this library have run.
template <long number, class Result, class... Parameters>
class Next {
 public:
  explicit constexpr Next(const char* name) noexcept : name_(name) {}
  void find() noexcept { found_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, name_)); }
  [[gnu::always_inline]] Result operator()(Parameters... parameters) const {
    return found_ != nullptr ? found_(parameters...) : static_cast<Result>(syscall(number, parameters...));
  }

 private:
  Result (*found_)(Parameters...) = nullptr;
  const char* name_;
};

// Another function of the C library. Before the constructors of this library have run, a call looks it up.
template <class Result, class... Parameters>
class NextOfLibrary {
 public:
  explicit constexpr NextOfLibrary(const char* name) noexcept : name_(name) {}
  void find() noexcept { found_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, name_)); }
  [[gnu::always_inline]] Result operator()(Parameters... parameters) {
    if (found_ == nullptr) [[unlikely]]
      find();
    return found_(parameters...);
  }

 private:
  Result (*found_)(Parameters...) = nullptr;
  const char* name_;
};

template <class... Functions>
void find_all(Functions&... functions) noexcept {
  (functions.find(), ...);
}

}  // namespace tare::recorder
