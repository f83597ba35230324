#include "mpi/sampling/node.h"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "format/segment_name.h"
#include "recorder/room.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {
namespace {

// The most ranks that have a mailbox to one rank, and the most records in all of these that it has not read.
constexpr std::uint32_t max_writers = 64;
constexpr std::uint32_t slots_of_rank = 4096;

std::uint32_t writers(std::uint32_t size) noexcept { return std::min(size, max_writers); }
std::uint32_t slots(std::uint32_t size) noexcept { return std::bit_floor(slots_of_rank / writers(size)); }

constinit Node node;

// The file of this process, while the file has a name.
constinit char path[PATH_MAX] = "";

// Where the file of so many bytes lies is the same for all ranks of the node (room.h).
bool name_file(std::uint64_t name, std::uint64_t bytes) noexcept {
  const char* run_dir = secure_getenv("TARE_RUN_DIR");
  const char* segment_dir = secure_getenv("TARE_SEGMENT_DIR");
  const char* run_id = secure_getenv("TARE_RUN_ID");
  if (run_dir == nullptr || run_id == nullptr) return false;
  const char* directory = segment_dir == nullptr ? recorder::shared_memory : segment_dir;
  if (!recorder::suits_all(directory, bytes)) directory = run_dir;
  std::snprintf(path, sizeof path, "%s/%s%s%s%016llx", directory, format::segment_prefix, run_id, format::mail_suffix,
                static_cast<unsigned long long>(name));
  return true;
}

}  // namespace

std::uint64_t Node::mailboxes_at(std::uint32_t size) noexcept {
  const std::uint64_t words = std::uint64_t{size} * (3 + std::uint64_t{size});
  return (sizeof(Head) + words * sizeof(std::uint32_t) + 4095) / 4096 * 4096;
}

std::uint64_t Node::bytes(std::uint32_t size) noexcept {
  return mailboxes_at(size) + std::uint64_t{size} * writers(size) * Mailbox::bytes(slots(size));
}

bool Node::join(void* memory, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept {
  head_ = static_cast<Head*>(memory);
  size_ = size;
  mailboxes_ = size * writers(size);
  slots_ = slots(size);
  own_ = place;
  retracted_ = &retractions()[place];
  reported_by_ = &directory(place, 0);
  std::atomic_ref(ranks()[place]).store(rank + 1, std::memory_order_release);
  return std::atomic_ref(head_->joined).fetch_add(1, std::memory_order_acq_rel) + 1 == size;
}

Mailbox* Node::to(std::uint32_t place) noexcept {
  const std::atomic_ref number(directory(place, own_));
  std::uint32_t given = number.load(std::memory_order_relaxed);
  if (given == 0) {
    const std::atomic_ref used(head_->used);
    if (used.load(std::memory_order_relaxed) >= mailboxes_) return nullptr;
    given = used.fetch_add(1, std::memory_order_relaxed) + 1;
    if (given > mailboxes_) return nullptr;
    number.store(given, std::memory_order_release);
    note_change(place);
  }
  return mailbox(given);
}

Node* join_node(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept {
  if (!name_file(name, Node::bytes(size))) return nullptr;
  recorder::create_file(path);
  void* memory = recorder::map_file(path, 0, Node::bytes(size));
  if (memory == nullptr) {
    close_node();
    return nullptr;
  }
  if (node.join(memory, size, place, rank)) close_node();
  return &node;
}

void close_node() noexcept {
  if (path[0] != '\0') recorder::remove_file(path);
  path[0] = '\0';
}

}  // namespace tare::mpi::sampling
