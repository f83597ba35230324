// A directory for what a fuzzer has tare write.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace tare::fuzz {

// In memory, for as long as the fuzzer runs.
struct Directory {
  Directory() {
    char name[] = "/dev/shm/tare-fuzz-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    root = name;
  }
  ~Directory() { std::filesystem::remove_all(root); }
  std::string root;
};

}  // namespace tare::fuzz
