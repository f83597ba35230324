#include "mpi/objects/describe.h"

namespace tare::mpi {

constinit std::atomic<bool> has_world{false};

namespace {

// Further sessions are only counted: any open one is enough.
constexpr unsigned max_sessions = 16;
constinit std::atomic<std::uint64_t> sessions[max_sessions] = {};
constinit std::atomic<unsigned> open_sessions{0};

bool replace(std::uint64_t old, std::uint64_t handle) noexcept {
  for (auto& session : sessions) {
    std::uint64_t expected = old;
    if (session.compare_exchange_strong(expected, handle)) return true;
  }
  return false;
}

}  // namespace

void add_session(std::uint64_t handle) noexcept {
  open_sessions.fetch_add(1);
  replace(0, handle);
}

bool remove_session(std::uint64_t handle) noexcept {
  if (handle == 0) return false;
  replace(handle, 0);
  return open_sessions.fetch_sub(1) == 1;
}

void forget_sessions() noexcept {
  for (auto& session : sessions) session.store(0);
  open_sessions.store(0);
}

std::uint64_t any_session() noexcept {
  for (const auto& session : sessions)
    if (const std::uint64_t handle = session.load(); handle != 0) return handle;
  return 0;
}

}  // namespace tare::mpi
