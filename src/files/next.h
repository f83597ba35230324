// The functions below this library, which its entry points call. They are looked up before the program begins, because
// a call may be in a signal handler or in the child of vfork.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

namespace tare::files {

// A function that makes one system call, which takes its place before the constructors of this library have run.
template <long number, class Result, class... Parameters>
class Next {
 public:
  void find(const char* name) noexcept { found_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, name)); }
  [[gnu::always_inline]] Result operator()(Parameters... parameters) const {
    return found_ != nullptr ? found_(parameters...) : static_cast<Result>(syscall(number, parameters...));
  }

 private:
  Result (*found_)(Parameters...) = nullptr;
};

// Another function of the C library. Before the constructors of this library have run, a call looks it up.
template <class Result, class... Parameters>
class NextOfLibrary {
 public:
  void find(const char* name) noexcept { found_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, name)); }
  [[gnu::always_inline]] Result operator()(const char* name, Parameters... parameters) {
    if (found_ == nullptr) [[unlikely]]
      find(name);
    return found_(parameters...);
  }

 private:
  Result (*found_)(Parameters...) = nullptr;
};

}  // namespace tare::files
