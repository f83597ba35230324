#include "mpi/sampling/seats.h"

#include <algorithm>
#include <bit>

#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/message.h"

namespace tare::mpi::sampling {
namespace {

struct Sitter {
  std::uint64_t node;
  std::int32_t rank;
};

// The first ranks of the nodes with which node `number` compares clocks. It learns the offset from the node whose
// number lacks its lowest set bit. Then it passes the offset on to the nodes whose numbers are greater by lower powers
// of two.
void find_others(Seat& seat, const Sitter* firsts) noexcept {
  const unsigned levels = seat.number == 0 ? clock_levels : static_cast<unsigned>(std::countr_zero(seat.number)) + 1;
  for (unsigned level = 0; level < levels && level < clock_levels; ++level) {
    const std::uint32_t step = 1U << level;
    const bool learns = (seat.number & step) != 0;
    if (learns || step < seat.nodes - seat.number)
      seat.others[level] = firsts[learns ? seat.number - step : seat.number + step].rank;
  }
}

}  // namespace

bool assign_seats(const std::uint64_t* node_of, std::uint32_t ranks, std::uint64_t world, Seat* seats) noexcept {
  const std::uint64_t bytes = 2 * ranks * sizeof(Sitter);
  auto* sitters = static_cast<Sitter*>(recorder::map_memory(bytes));
  if (sitters == nullptr) return false;
  Sitter* firsts = sitters + ranks;
  std::uint32_t count = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    seats[rank] = {};
    seats[rank].world = world;
    std::fill_n(seats[rank].others, clock_levels, -1);
    if (node_of[rank] != 0) sitters[count++] = {node_of[rank], static_cast<std::int32_t>(rank)};
  }
  std::sort(sitters, sitters + count,
            [](const Sitter& a, const Sitter& b) { return a.node != b.node ? a.node < b.node : a.rank < b.rank; });
  std::uint32_t nodes = 0;
  for (std::uint32_t from = 0; from < count;) {
    std::uint32_t to = from;
    while (to < count && sitters[to].node == sitters[from].node) ++to;
    for (std::uint32_t at = from; at < to; ++at) {
      Seat& seat = seats[sitters[at].rank];
      seat.node_file = mix(world ^ sitters[at].node);
      seat.size = to - from;
      seat.place = at - from;
      seat.first = sitters[from].rank;
    }
    firsts[nodes++] = sitters[from];
    from = to;
  }
  std::sort(firsts, firsts + nodes, [](const Sitter& a, const Sitter& b) { return a.rank < b.rank; });
  for (std::uint32_t number = 0; number < nodes; ++number) seats[firsts[number].rank].number = number;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Seat& seat = seats[rank];
    seat.nodes = nodes;
    seat.all_take_part = count == ranks ? 1 : 0;
    if (seat.size == 0) continue;
    seat.number = seats[seat.first].number;
    if (seat.place == 0) find_others(seat, firsts);
  }
  recorder::unmap_memory(sitters, bytes);
  return true;
}

}  // namespace tare::mpi::sampling
