#include "mpi/objects/describe.h"

namespace tare::mpi {

constinit std::atomic<bool> has_world{false};

namespace {

// Further sessions are not remembered: any open one is enough.
constexpr unsigned max_sessions = 16;
constinit std::atomic<std::uint64_t> sessions[max_sessions] = {};

bool replace(std::uint64_t old, std::uint64_t handle) noexcept {
  for (auto& session : sessions) {
    std::uint64_t expected = old;
    if (session.compare_exchange_strong(expected, handle)) return true;
  }
  return false;
}

}  // namespace

void add_session(std::uint64_t handle) noexcept { replace(0, handle); }

void remove_session(std::uint64_t handle) noexcept {
  if (handle != 0) replace(handle, 0);
}

std::uint64_t any_session() noexcept {
  for (const auto& session : sessions)
    if (const std::uint64_t handle = session.load(); handle != 0) return handle;
  return 0;
}

}  // namespace tare::mpi
