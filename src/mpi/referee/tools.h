// The tools that are weighed: libraries that are preloaded below the referee.
#pragma once

#include <cstdint>

#include "mpi/interposition/library.h"
#include "mpi/referee/spell_file.h"

namespace tare::mpi::referee {

class Tools {
 public:
  // Finds those of a list of paths, with colons in between. Calls the loader: hold no lock.
  void find(const char* paths) noexcept;

  unsigned count() const noexcept { return count_; }
  bool is_loaded(unsigned tool) const noexcept { return tools_[tool].handle != nullptr; }
  // The tool's own function of this name; nullptr: it has none. `library`: where MPI's are.
  void* function(unsigned tool, const char* name, const Library& library) const noexcept;
  // The function of this name that is neither a tool's nor this library's; nullptr: there is none.
  void* below(const char* name) const noexcept;
  // Whether code of a tool makes a call that returns to the address.
  bool contain(const void* address) const noexcept;

 private:
  struct Tool {
    void* handle = nullptr;
    std::uintptr_t begin = 0, end = 0;
  };
  Tool tools_[max_tools] = {};
  unsigned count_ = 0;
};

}  // namespace tare::mpi::referee
