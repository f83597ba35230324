#include "mpi/sampling/node.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "mpi/sampling/sampler.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {
namespace {

// A rank is told by so many others at most, and by all of them of so many messages that it has not received yet.
constexpr std::uint32_t most_writers = 64;
constexpr std::uint32_t slots_of_rank = 4096;

std::uint32_t writers(std::uint32_t size) noexcept { return std::min(size, most_writers); }
std::uint32_t slots(std::uint32_t size) noexcept { return std::bit_floor(slots_of_rank / writers(size)); }

constinit Node node;

bool path_of(std::uint64_t name, char (&path)[768]) noexcept {
  const char* directory = getenv("TARE_SEGMENT_DIR");
  const char* run_id = getenv("TARE_RUN_ID");
  if (run_id == nullptr) return false;
  std::snprintf(path, sizeof path, "%s/tare_mail-%s-%016llx", directory == nullptr ? "/dev/shm" : directory, run_id,
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

void Node::prepare(void* memory, std::uint32_t size) noexcept {
  *static_cast<Head*>(memory) = {size, size * writers(size), slots(size), 0, 0};
}

void Node::join(void* memory, std::uint32_t place, std::int32_t rank) noexcept {
  head_ = static_cast<Head*>(memory);
  own_ = place;
  doubted_ = &doubts()[place];
  told_by_ = &directory(place, 0);
  std::atomic_ref(ranks()[place]).store(rank + 1, std::memory_order_release);
}

Mailbox* Node::to(std::uint32_t place) noexcept {
  std::uint32_t& number = directory(place, own_);
  if (number == 0) {
    std::atomic_ref used(head_->used);
    if (used.load(std::memory_order_relaxed) >= head_->mailboxes) return nullptr;
    const std::uint32_t taken = used.fetch_add(1, std::memory_order_relaxed) + 1;
    if (taken > head_->mailboxes) return nullptr;
    mailbox(taken)->open(head_->slots);
    std::atomic_ref(number).store(taken, std::memory_order_release);
    tell_news(place);
  }
  return mailbox(number);
}

bool make_node_file(std::uint64_t name, std::uint32_t size) noexcept {
  char path[768];
  if (!path_of(name, path)) return false;
  if (!recorder::create_file(path)) return false;
  void* memory = recorder::map_file(path, 0, Node::bytes(size));
  if (memory == nullptr) {
    unlink(path);
    return false;
  }
  Node::prepare(memory, size);
  recorder::unmap_memory(memory, Node::bytes(size));
  return true;
}

void open_node_file(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept {
  char path[768];
  if (!path_of(name, path)) return;
  if (void* memory = recorder::map_file(path, 0, Node::bytes(size))) node.join(memory, place, rank);
}

void use_node_file(std::uint64_t name, std::uint32_t place) noexcept {
  char path[768];
  if (place == 0 && path_of(name, path)) unlink(path);
  if (node.joined()) sampler.set_node(&node);
}

}  // namespace tare::mpi::sampling
