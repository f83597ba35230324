#include "mpi/sampling/node.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "mpi/sampling/sampler.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {
namespace {

constinit NodeFile* file = nullptr;

std::uint64_t head_bytes(std::uint32_t size) noexcept {
  return (sizeof(NodeFile) + size * sizeof(std::int32_t) + 4095) / 4096 * 4096;
}
std::uint64_t file_bytes(std::uint32_t size) noexcept { return head_bytes(size) + size * sizeof(Mailbox); }

bool path_of(std::uint64_t name, char (&path)[768]) noexcept {
  const char* directory = getenv("TARE_SEGMENT_DIR");
  const char* run_id = getenv("TARE_RUN_ID");
  if (run_id == nullptr) return false;
  std::snprintf(path, sizeof path, "%s/tare_mail-%s-%016llx", directory == nullptr ? "/dev/shm" : directory, run_id,
                static_cast<unsigned long long>(name));
  return true;
}

}  // namespace

bool make_node_file(std::uint64_t name, std::uint32_t size) noexcept {
  char path[768];
  if (!path_of(name, path)) return false;
  if (!recorder::create_file(path)) return false;
  void* memory = recorder::map_file(path, 0, file_bytes(size));
  if (memory == nullptr) {
    unlink(path);
    return false;
  }
  static_cast<NodeFile*>(memory)->size = size;
  recorder::unmap_memory(memory, file_bytes(size));
  return true;
}

bool open_node_file(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept {
  char path[768];
  if (!path_of(name, path)) return false;
  void* memory = recorder::map_file(path, 0, file_bytes(size));
  if (memory == nullptr) return false;
  file = static_cast<NodeFile*>(memory);
  std::atomic_ref(file->ranks[place]).store(rank + 1, std::memory_order_release);
  return true;
}

void use_node_file(std::uint64_t name, std::uint32_t place) noexcept {
  char path[768];
  if (place == 0 && path_of(name, path)) unlink(path);
  if (file == nullptr) return;
  const std::uint32_t size = file->size;
  auto* ranks = static_cast<std::int32_t*>(recorder::map_memory(size * sizeof(std::int32_t)));
  if (ranks == nullptr) return;
  for (std::uint32_t i = 0; i < size; ++i) ranks[i] = file->ranks[i] - 1;
  auto* mailboxes = reinterpret_cast<Mailbox*>(reinterpret_cast<char*>(file) + head_bytes(size));
  sampler.set_node(mailboxes, ranks, size, place);
}

}  // namespace tare::mpi::sampling
