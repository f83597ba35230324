#include "mpi/messages.h"

#include "recorder/system.h"

namespace tare::mpi {
namespace {

constexpr unsigned slots = 256;
constinit Message messages[slots] = {};
constinit recorder::SpinLock messages_lock;

Message& slot_of(std::uint64_t handle) noexcept {
  static_assert(slots == 1U << (64 - 56));
  return messages[handle * 0x9e3779b97f4a7c15U >> 56];
}

}  // namespace

void add_message(const Message& message) noexcept {
  messages_lock.lock();
  slot_of(message.handle) = message;
  messages_lock.unlock();
}

Message take_message(std::uint64_t handle) noexcept {
  Message taken;
  messages_lock.lock();
  if (Message& known = slot_of(handle); known.handle == handle) {
    taken = known;
    known = {};
  }
  messages_lock.unlock();
  return taken;
}

}  // namespace tare::mpi
