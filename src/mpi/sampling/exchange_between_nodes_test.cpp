// What goes from sender to receiver where they share no memory.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "mpi/sampling/testing/two_ranks.h"

namespace tare::mpi::sampling {
namespace {

using testing::Memory;
using testing::Table;
using testing::TwoRanks;

// The same on two nodes. What is told lies in `way` until somebody listens.
class TwoNodes : public TwoRanks {
 protected:
  void begin(const char* text) {
    Spec spec;
    ASSERT_EQ(nullptr, format::parse_sample_spec(text, spec));
    way.clear();
    for (int i = 0; i < 2; ++i) {
      node[i].join(nodes[i].at(), 1, 0, i);
      side[i].begin(spec, text, &table[i].summary, table[i].rows.data());
      side[i].set_rank(i, [](const void*, std::int32_t peer) noexcept { return peer; });
      side[i].set_node(&node[i]);
      side[i].set_private_path({[](const MessageRecord& record, std::int32_t) noexcept {
                                  way.push_back(record);
                                  return true;
                                },
                                [](MessageRecord& record) noexcept {
                                  if (way.empty()) return false;
                                  record = way.front();
                                  way.pop_front();
                                  return true;
                                }});
      side[i].set_clock_offset(0, 50, i);
    }
  }
  void receive_now(std::int32_t tag, std::uint64_t bytes) {
    const std::uint64_t now = recorder::now();
    side[1].received({9, 5, nullptr}, {0, tag}, {now, now, now}, bytes, 22);
  }

  static inline std::deque<MessageRecord> way;
  Memory nodes[2] = {Memory(Node::bytes(1)), Memory(Node::bytes(1))};
};

TEST_F(TwoNodes, PairWhateverComesFirst) {
  for (const char* text : {"random:1,stat", "counter:1,0,stat"}) {
    table[0] = table[1] = Table(64);
    side_ = std::make_unique<Sampler[]>(2);
    side = side_.get();
    begin(text);
    for (int round = 0; round < 100; ++round) {
      for (std::uint64_t i = 0; i < 6; ++i) send(static_cast<std::int32_t>(i % 3), 8 + i);
      if (round % 2 == 0) side[1].listen();
      for (std::uint64_t tag = 0; tag < 3; ++tag)
        for (std::uint64_t i = tag; i < 6; i += 3) receive_now(static_cast<std::int32_t>(tag), 8 + i);
      if (round % 10 == 0) side[1].poll();
    }
    side[1].listen();
    for (int i = 0; i < 2; ++i) side[i].finish();
    EXPECT_EQ(table[0].summary.chosen, 600U) << text;
    EXPECT_EQ(table[1].summary.paired, 600U) << text;
    EXPECT_EQ(table[1].summary.contradictory, 0U);
    EXPECT_EQ(table[1].summary.recordless, 0U);
    EXPECT_EQ(table[1].summary.unpaired, 0U);
    std::uint64_t count = 0;
    for (const format::SampleClass& c : table[1].rows) {
      count += c.count;
      if (c.count == 0) continue;
      EXPECT_GE(c.uncertainty_ns, 100U);
      EXPECT_LT(c.latency_max, 60'000'000'000U);
    }
    EXPECT_EQ(count, 600U);
  }
}

TEST_F(TwoNodes, PairMessagesWhoseCommunicatorExistsNoMore) {
  begin("random:1,stat");
  for (int i = 0; i < 3; ++i) send(0, 8);
  for (int i = 0; i < 3; ++i) receive_now(0, 8);
  side[1].remove_communicator(9);
  side[1].listen();
  side[1].remove_communicator(9);
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.paired, 3U);
  EXPECT_EQ(table[1].summary.recordless, 0U);
}

TEST_F(TwoNodes, CountWhatNobodyTellsOf) {
  begin("random:1,stat");
  for (int i = 0; i < 10; ++i) send(0, 8);
  way.pop_back();
  for (int i = 0; i < 10; ++i) receive_now(0, 8);
  send(0, 8);
  side[1].listen();
  for (int i = 0; i < 2; ++i) side[i].finish();
  EXPECT_EQ(table[1].summary.paired, 9U);
  EXPECT_EQ(table[1].summary.recordless, 1U);
  EXPECT_EQ(table[1].summary.unpaired, 1U);
}

}  // namespace
}  // namespace tare::mpi::sampling
