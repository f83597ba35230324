#include "tared/tree/packet.h"

#include <gtest/gtest.h>

#include <random>

namespace tare::tared {
namespace {

std::vector<Packet> one_of_each(const Bytes& payload) {
  Part part;
  part.round = 7;
  part.ranks = RankSet::of_range(4, 9);
  part.lost = RankSet::of_range(100, 3);
  part.first_offload_ns = -5;
  part.last_offload_ns = 12;
  part.clock_error_ns = 3;
  part.cost = {1, 2, 3, 4};
  part.dropped = 6;
  part.reduced = payload;
  return {Hello{3, 5, RankSet::of_range(0, 64), 128, "statistics"},
          Names{{{1, "MPI_Send"}, {2, ""}}},
          part,
          Lost{9, RankSet::of_range(1, 1)},
          Ping{11},
          Pong{1, 2, 3, 1, 0},
          Taken{5},
          Pace{6, 7, 8},
          Command{payload},
          End{},
          Bye{},
          Begin{8},
          FilterChange{9, "none+groups"}};
}

TEST(Packet, IsWhatWasEncoded) {
  const Bytes payload(100, std::byte{42});
  const auto packets = one_of_each(payload);
  ASSERT_EQ(packets.size(), std::variant_size_v<Packet>);
  for (const Packet& packet : packets) {
    Bytes bytes;
    encode(packet, bytes);
    Packet back;
    ASSERT_TRUE(decode(bytes, back)) << packet.index();
    EXPECT_EQ(back.index(), packet.index());
    Bytes again;
    encode(back, again);
    EXPECT_EQ(again, bytes);
  }
}

TEST(Packet, CutOffOrChangedIsRefusedOrReadable) {
  std::mt19937 random(1);
  const Bytes payload(20, std::byte{42});
  for (const Packet& packet : one_of_each(payload)) {
    Bytes bytes;
    encode(packet, bytes);
    Packet back;
    const bool ends_with_bytes = std::holds_alternative<Part>(packet) || std::holds_alternative<Command>(packet);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_TRUE(!decode(std::span(bytes).first(cut), back) || ends_with_bytes) << packet.index() << " " << cut;
    bytes.push_back(std::byte{0});
    EXPECT_EQ(decode(bytes, back), ends_with_bytes) << packet.index();
    bytes.pop_back();
    for (int trial = 0; trial < 1000; ++trial) {
      Bytes changed = bytes;
      changed[random() % changed.size()] = static_cast<std::byte>(random());
      if (!decode(changed, back)) continue;
      Bytes again;
      encode(back, again);
      EXPECT_EQ(again, changed) << "what is accepted is understood wholly";
    }
  }
}

TEST(Packet, SizesAreBelievedNoFurtherThanThereAreBytes) {
  Bytes bytes;
  encode(Names{{{1, "a"}}}, bytes);
  for (const std::size_t at : {8U, 20U})
    for (std::size_t i = 0; i < 4; ++i) {
      Bytes wild = bytes;
      wild[at + i] = std::byte{0xff};
      Packet back;
      EXPECT_FALSE(decode(wild, back));
    }
}

TEST(Packet, APartWithoutSenseIsRefused) {
  const auto is_read = [](const Part& part) {
    Bytes bytes;
    encode(part, bytes);
    Packet back;
    return decode(bytes, back);
  };
  Part part;
  EXPECT_FALSE(is_read(part)) << "of no rank";
  part.ranks = RankSet::of_range(4, 9);
  EXPECT_TRUE(is_read(part));
  part.lost = RankSet::of_range(12, 1);
  EXPECT_FALSE(is_read(part)) << "a rank in it and lost";
  part.lost.clear();
  part.first_offload_ns = 1;
  EXPECT_FALSE(is_read(part)) << "the first after the last";
}

}  // namespace
}  // namespace tare::tared
