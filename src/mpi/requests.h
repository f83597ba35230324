// Requests under way of which something must be known when they complete: receives (whose bytes are credited
// to the row of the call that started them) and persistent requests (whose bytes count at every start).
// Plain sends are not here: all about them is known when they start.
//
// Bounded; requests that do not fit are counted (ProcessRecord::untracked_requests), and miss their bytes.
// Thread-safe; the locks are taken only once a second thread has called MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/segment.h"

namespace tare::mpi {

// The row that a request's bytes go to. By key, not by address: another thread may complete the request,
// and credits the row of that key in its own table.
struct RowKey {
  std::uint64_t address;
  std::uint16_t function;
  std::uint8_t size_class;
  std::uint32_t communicator;

  static RowKey of(const format::ProfileRow& row) noexcept {
    return {row.address, row.function, row.size_class, row.communicator};
  }
};

struct Request {
  std::uint64_t handle;
  std::uint64_t bytes;  // of a persistent send, at every start
  RowKey row;           // of the call that started it
  std::uint32_t id;     // of this request, as handles are used again
  bool receives;
  bool persistent;
  bool active;
};

class Requests {
 public:
  // Number of requests in the table; a hint, for skipping work when there are none.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // Adds a request, in place of an older one of the same handle. False if it does not fit.
  bool put(const Request& request) noexcept;

  // A copy of the request of a handle; its handle is 0 if there is none.
  Request find(std::uint64_t handle) noexcept;

  // Number of the request of a handle, to recognise it later; 0 if there is none.
  std::uint32_t id_of(std::uint64_t handle) noexcept { return count() == 0 ? 0 : find(handle).id; }

  // Replaces the request of the same handle and id, if it is still there.
  void update(const Request& request) noexcept;

  // Removes the request of a handle and id, if it is still there.
  void remove(std::uint64_t handle, std::uint32_t id) noexcept;

  // From here on more than one thread uses the table.
  void share() noexcept { shared_ = true; }
  bool shared() const noexcept { return shared_; }

  void after_fork() noexcept;

  static constexpr unsigned shards = 64;
  static constexpr unsigned slots = 256;

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> last_id_{0};
  bool shared_ = false;
};

[[gnu::visibility("hidden")]] extern Requests requests;

}  // namespace tare::mpi
