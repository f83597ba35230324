#include "tared/sweetspot/stage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <utility>

namespace tare::tared {

namespace {
std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }
}  // namespace

std::int64_t irregular_offset_ns(std::uint32_t round, std::int64_t interval_ns) {
  std::mt19937 random(1);  // gives the same numbers on every node, by the C++ standard
  double intervals = 0;
  for (std::uint32_t i = 0; i < round; ++i) intervals -= std::log((static_cast<double>(random()) + 0.5) / 0x1p32);
  return static_cast<std::int64_t>(intervals * static_cast<double>(interval_ns));
}

Stage::Stage(const StageShape& shape) : shape_(shape) {
  slot_bytes_ = rounded(sizeof(Slot) + shape.max_events * sizeof(Metrics));
  const std::uint64_t rings = rounded(shape.ranks * sizeof(Ring));
  const std::uint64_t offloads = rounded(std::uint64_t{shape.ranks} * shape.max_rounds * sizeof(Offload));
  const std::uint64_t keys = rounded(shape.max_events * sizeof(EventKey));
  const std::uint64_t players = rounded(shape.players * sizeof(std::atomic<std::int64_t>));
  const std::uint64_t slots = std::uint64_t{shape.ranks} * shape.slots * slot_bytes_;
  const std::uint64_t last_point = rounded(sizeof(std::atomic<std::uint64_t>));
  bytes_ = rings + offloads + keys + players + rounded(sizeof(pthread_barrier_t)) + last_point + slots;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(memory);
  std::byte* at = memory_;
  const auto place = [&at](std::uint64_t bytes) { return std::exchange(at, at + bytes); };
  rings_ = reinterpret_cast<Ring*>(place(rings));
  offloads_ = reinterpret_cast<Offload*>(place(offloads));
  keys_ = reinterpret_cast<EventKey*>(place(keys));
  played_ns_ = reinterpret_cast<std::atomic<std::int64_t>*>(place(players));
  barrier_ = reinterpret_cast<pthread_barrier_t*>(place(rounded(sizeof(pthread_barrier_t))));
  last_point_ = reinterpret_cast<std::atomic<std::uint64_t>*>(place(last_point));
  slots_ = at;
  for (std::uint32_t event = 0; event < shape.max_events; ++event)
    keys_[event] = event_key("synthetic event " + std::to_string(event));
  std::sort(keys_, keys_ + shape.max_events);
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(barrier_, &attributes, std::max(shape.players, 1U));
  pthread_barrierattr_destroy(&attributes);
}

Stage::~Stage() { munmap(memory_, bytes_); }

Stage::Slot& Stage::slot(std::uint32_t rank, std::uint64_t number) {
  const std::uint64_t index = std::uint64_t{rank} * shape_.slots + number % shape_.slots;
  return *reinterpret_cast<Slot*>(slots_ + index * slot_bytes_);
}

Metrics* Stage::values(std::uint32_t rank, std::uint64_t number) {
  return reinterpret_cast<Metrics*>(&slot(rank, number) + 1);
}

bool Stage::has_room(std::uint32_t rank) {
  Ring& ring = rings_[rank];
  return ring.head.load(std::memory_order_relaxed) - ring.tail.load(std::memory_order_acquire) < shape_.slots;
}

void Stage::put(std::uint32_t rank, const Slot& about, std::span<const Metrics> values) {
  Ring& ring = rings_[rank];
  const std::uint64_t head = ring.head.load(std::memory_order_relaxed);
  slot(rank, head) = about;
  std::memcpy(this->values(rank, head), values.data(), values.size_bytes());
  ring.head.store(head + 1, std::memory_order_release);
}

void Stage::reset(std::uint32_t rounds) {
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank)
    for (std::uint32_t round = 0; round < rounds; ++round) {
      offload(rank, round).cost_ns.store(0, std::memory_order_relaxed);
      offload(rank, round).fate.store(Fate::none, std::memory_order_relaxed);
    }
  for (std::uint32_t player = 0; player < shape_.players; ++player) played_ns_[player] = 0;
}

}  // namespace tare::tared
