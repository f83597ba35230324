// Where ranks sit, and whose clocks are compared.
#include "mpi/sampling/seats.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tare::mpi::sampling {
namespace {

std::vector<Seat> seats_of(const std::vector<std::uint64_t>& nodes, std::uint64_t world = 7) {
  std::vector<Seat> seats(nodes.size());
  EXPECT_TRUE(assign_seats(nodes.data(), static_cast<std::uint32_t>(nodes.size()), world, seats.data()));
  return seats;
}

TEST(Seats, AreOfTheRanksOfANodeInTheirOrder) {
  const auto seats = seats_of({50, 20, 50, 20, 20, 90});
  const std::vector<std::uint32_t> numbers = {0, 1, 0, 1, 1, 2};
  const std::vector<std::uint32_t> places = {0, 0, 1, 1, 2, 0};
  const std::vector<std::uint32_t> sizes = {2, 3, 2, 3, 3, 1};
  const std::vector<std::int32_t> firsts = {0, 1, 0, 1, 1, 5};
  for (std::size_t rank = 0; rank < seats.size(); ++rank) {
    EXPECT_EQ(seats[rank].nodes, 3U);
    EXPECT_EQ(seats[rank].world, 7U);
    EXPECT_EQ(seats[rank].number, numbers[rank]);
    EXPECT_EQ(seats[rank].place, places[rank]);
    EXPECT_EQ(seats[rank].size, sizes[rank]);
    EXPECT_EQ(seats[rank].first, firsts[rank]);
    EXPECT_EQ(seats[rank].all_take_part, 1);
  }
  EXPECT_EQ(seats[0].node_file, seats[2].node_file);
  EXPECT_NE(seats[0].node_file, seats[1].node_file);
  EXPECT_NE(seats[0].node_file, seats_of({50, 20}, 8)[0].node_file) << "another world on the same node";
}

TEST(Seats, AreNotOfRanksThatTakeNoPart) {
  const auto seats = seats_of({0, 20, 0, 20});
  EXPECT_EQ(seats[0].size, 0U);
  EXPECT_EQ(seats[2].size, 0U);
  EXPECT_EQ(seats[1].size, 2U);
  EXPECT_EQ(seats[1].place, 0U);
  EXPECT_EQ(seats[1].number, 0U);
  EXPECT_EQ(seats[3].place, 1U);
  for (const Seat& seat : seats) {
    EXPECT_EQ(seat.nodes, 1U);
    EXPECT_EQ(seat.all_take_part, 0);
  }
}

// As ClockComparison goes through them: from the highest level down, both sides of a comparison at the same one.
TEST(Seats, HaveEveryClockComparedOnceWithOneThatIsKnown) {
  for (std::uint32_t nodes = 1; nodes <= 40; ++nodes) {
    std::vector<std::uint64_t> of_rank;
    for (std::uint32_t rank = 0; rank < 2 * nodes; ++rank) of_rank.push_back(1000 + rank / 2);
    const auto seats = seats_of(of_rank);
    std::set<std::int32_t> known = {0};
    std::uint32_t compared = 0;
    for (unsigned level = clock_levels; level-- > 0;) {
      for (std::size_t rank = 0; rank < seats.size(); ++rank) {
        const std::int32_t other = seats[rank].others[level];
        if (other < 0) continue;
        EXPECT_EQ(seats[rank].place, 0U);
        EXPECT_EQ(seats[static_cast<std::size_t>(other)].others[level], static_cast<std::int32_t>(rank));
        if ((seats[rank].number >> level & 1U) == 0) continue;
        EXPECT_TRUE(known.contains(other));
        EXPECT_TRUE(known.insert(static_cast<std::int32_t>(rank)).second);
        ++compared;
      }
    }
    EXPECT_EQ(compared, nodes - 1);
  }
}

}  // namespace
}  // namespace tare::mpi::sampling
