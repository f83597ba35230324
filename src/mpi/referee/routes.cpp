#include "mpi/referee/routes.h"

#include <atomic>

namespace tare::mpi::referee {

constinit Routes routes{};
constinit World world;

namespace {

void set(void*& slot, void* to) noexcept {
  const std::atomic_ref<void*> word(slot);
  if (word.load(std::memory_order_relaxed) != to) word.store(to, std::memory_order_release);
}

// All MPIs take a handle in a register, and those whose handles are narrower look at its low half.
int ask_library(Function function, std::uint64_t communicator) noexcept {
  int answer = -1;
  using Signature = int(std::uint64_t, int*);
  reinterpret_cast<Signature*>(tare_library[static_cast<unsigned>(function)])(communicator, &answer);
  return answer;
}

}  // namespace

// Calls by tools need not ask, and would take longer than without a referee. Past the tools, only the program calls.
void Routes::set_profiling(unsigned number, unsigned route) noexcept {
  const bool asked = asks[number] && (route == 0 || seen[number] != plain);
  set(tare_profiling_slots[number], (asked ? asking : to[route]).profiling[number]);
}

void Routes::use(unsigned route) noexcept {
  for (unsigned i = 1; i <= format::mpi_function_count; ++i) {
    if (missing[i]) continue;
    set(tare_slots[i], (asks[i] ? asking : to[route]).plain[i]);
    set_profiling(i, route);
  }
}

void World::begin(std::uint64_t world, unsigned handle_bytes) noexcept {
  world_ = world;
  mask_ = handle_bytes == 4 ? 0xffffffffU : ~std::uint64_t{0};
}

bool World::has_as_many_ranks(std::uint64_t communicator) const noexcept {
  communicator &= mask_;
  constexpr auto size = Function::MPI_Comm_size;
  return communicator == world_ || ask_library(size, communicator) == ask_library(size, world_);
}

void World::describe(SpellFileHeader& header) const noexcept {
  header.rank = ask_library(Function::MPI_Comm_rank, world_);
  header.ranks = ask_library(Function::MPI_Comm_size, world_);
}

}  // namespace tare::mpi::referee
