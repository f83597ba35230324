// For tests: two ranks that exchange messages.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "mpi/sampling/sampler.h"
#include "mpi/sampling/testing/shared_memory.h"

namespace tare::mpi::sampling::testing {

struct Table {
  format::SampleSummary summary{};
  std::vector<format::SampleClass> rows;
  explicit Table(std::uint32_t capacity) : rows(capacity) { summary.capacity = capacity; }
};

// Two samplers of one process that act as two ranks of a node.
class TwoRanks : public ::testing::Test {
 protected:
  void begin(const char* text) {
    Spec spec;
    ASSERT_EQ(nullptr, format::parse_sample_spec(text, spec));
    for (int i = 0; i < 2; ++i) node[i].join(memory.at(), 2, static_cast<std::uint32_t>(i), i);
    for (int i = 0; i < 2; ++i) {
      side[i].begin(spec, text, &table[i].summary, table[i].rows.data());
      side[i].set_rank(i, [](const void*, std::int32_t peer) noexcept { return peer; });
      if (meets_at_once) side[i].set_node(&node[i]);
    }
  }
  void send(std::int32_t tag, std::uint64_t bytes, bool ends = true) {
    const Sent sent{bytes, 11, 1, "MPI_COMM_WORLD"};
    ticket = {};
    SendChannel* channel = side[0].number_sent(1, 1, tag);
    if (channel == nullptr)
      side[0].begin_send(ticket, {1, 5, nullptr}, 1, tag, false, false, sent);
    else if (side[0].chooses(*channel))
      side[0].chosen(ticket, *channel, sent);
    if (ends) side[0].end_send(ticket, Outcome::sent);
  }
  void receive(std::int32_t tag, std::uint64_t bytes) {
    side[1].received({9, 5, nullptr}, {0, tag}, {200, 200, 300}, bytes, 22);
  }

  bool meets_at_once = true;
  Ticket ticket{};
  Memory memory{Node::bytes(2)};
  Node node[2];
  Table table[2] = {Table(64), Table(64)};
  std::unique_ptr<Sampler[]> side_ = std::make_unique<Sampler[]>(2);
  Sampler* side = side_.get();
};

}  // namespace tare::mpi::sampling::testing
