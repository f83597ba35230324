#include "mpi/objects/messages.h"

#include "recorder/system.h"

namespace tare::mpi {
namespace {

constexpr unsigned capacity = 256;
constinit Message messages[capacity] = {};
// Messages from MPI_PROC_NULL share one handle, MPI_MESSAGE_NO_PROC. This counts those beyond the first.
constinit std::uint32_t others[capacity] = {};
constinit unsigned used = 0;  // entries that were ever used; programs have few such messages at a time
constinit recorder::SpinLock messages_lock;

// The entry of a handle; for 0, the first free entry. nullptr if there is none.
Message* find(std::uint64_t handle) noexcept {
  for (unsigned at = 0; at < used; ++at)
    if (messages[at].handle == handle) return &messages[at];
  return handle == 0 && used < capacity ? &messages[used++] : nullptr;
}

}  // namespace

void add_message(const Message& message) noexcept {
  messages_lock.lock();
  Message* known = find(message.handle);
  const bool shares = known != nullptr && message.peer == format::proc_null && known->peer == format::proc_null;
  if (known == nullptr) known = find(0);
  if (shares) {
    ++others[known - messages];
    if (known->communicator != message.communicator) known->communicator = format::no_communicator;
  } else if (known != nullptr) {
    *known = message;
    others[known - messages] = 0;
  }
  messages_lock.unlock();
}

bool note_receive(std::uint64_t handle, std::uint32_t receive) noexcept {
  messages_lock.lock();
  Message* known = handle == 0 ? nullptr : find(handle);
  if (known != nullptr) known->receive = receive;
  messages_lock.unlock();
  return known != nullptr;
}

Message take_message(std::uint64_t handle) noexcept {
  Message taken;
  messages_lock.lock();
  if (Message* known = handle == 0 ? nullptr : find(handle)) {
    taken = *known;
    if (others[known - messages] == 0)
      *known = {};
    else
      --others[known - messages];
  }
  messages_lock.unlock();
  return taken;
}

}  // namespace tare::mpi
