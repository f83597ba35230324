// How many requests of this process are under way: a spell may begin only where there are none, because a tool that
// sees the start of a request must see its completion.
#pragma once

#include <cstdint>

#include "mpi/referee/treatment.h"

namespace tare::mpi::referee {

class Pending {
 public:
  // How the MPI library represents handles.
  void begin(unsigned handle_bytes, std::uint64_t null) noexcept {
    bytes_ = handle_bytes;
    null_ = null;
  }

  bool none() const noexcept { return open_ == 0; }
  void start() noexcept { ++open_; }
  void begin_persistent(std::uintptr_t requests, int count) noexcept;
  void wait_all(std::uintptr_t requests, int count) noexcept;
  void free(std::uintptr_t request) noexcept;

  // Around a call whose result tells what it has completed. `words`: its first four arguments.
  long before(Kind kind, const std::uintptr_t (&words)[4]) const noexcept;
  void after(Kind kind, const std::uintptr_t (&words)[4], long before) noexcept;

 private:
  static constexpr unsigned persistent_slots = 2048;
  struct Persistent {
    std::uint64_t handle = 0;  // 0: none
    bool is_active = false;
    bool is_freed = false;  // the handle may be that of another request now
  };

  std::uint64_t handle_at(std::uintptr_t requests, int index) const noexcept;
  Persistent* find(std::uint64_t handle) noexcept;
  Persistent* find_or_add(std::uint64_t handle) noexcept;
  // The request had this handle before it was completed.
  void complete(std::uint64_t handle) noexcept;
  // The request has this handle after it was completed.
  void completed(std::uint64_t handle) noexcept;
  void close(long count) noexcept;

  long open_ = 0;
  unsigned bytes_ = 8;
  std::uint64_t null_ = 0;
  unsigned persistents_ = 0;
  Persistent persistent_[persistent_slots] = {};
};

}  // namespace tare::mpi::referee
