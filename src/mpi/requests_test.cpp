#include "mpi/requests.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "recorder/process.h"

namespace tare {
namespace {

format::RequestTable* table_of_test = nullptr;

}  // namespace

format::RequestTable* recorder::request_table() noexcept { return table_of_test; }

namespace mpi {
namespace {

class RequestsTest : public testing::Test {
 protected:
  RequestsTest() { table_of_test = table_.get(); }

  bool put(std::uint64_t handle, std::uint8_t kind = format::plain_request) {
    return requests_->put(handle, kind == format::plain_request, [&](Request& entry) {
      entry.kind = kind;
      entry.tag = ++last_tag_;
      entry.active = true;
    });
  }
  // As a reader of the segment sees them.
  std::multiset<std::uint64_t> handles() const {
    std::multiset<std::uint64_t> found;
    for (std::uint32_t number = 1; number <= table_->used; ++number)
      if (table_->entries[number].handle != 0) found.insert(table_->entries[number].handle);
    return found;
  }

  std::unique_ptr<format::RequestTable> table_{new format::RequestTable{}};
  std::unique_ptr<Requests> requests_{new Requests};
  int last_tag_ = 0;
};

TEST_F(RequestsTest, AreFoundUntilTheyAreFinishedInAnyOrder) {
  std::mt19937_64 random{1};
  std::map<std::uint64_t, int> known;  // tags
  std::vector<std::uint64_t> order;
  for (int step = 0; step < 100'000; ++step) {
    // Rising and falling, up to near the capacity: then many lie behind one another in the index.
    const bool grows = step / 13'000 % 2 == 0;
    if (order.empty() || random() % 16 < (grows ? 15U : 1U)) {
      const std::uint64_t handle = 1 + random() % 1'000'000;
      if (known.count(handle) != 0) continue;
      ASSERT_TRUE(put(handle));
      known[handle] = last_tag_;
      order.push_back(handle);
    } else {
      std::swap(order[random() % order.size()], order.back());
      const std::uint64_t handle = order.back();
      order.pop_back();
      const Request* entry = requests_->of(handle);
      ASSERT_NE(entry, nullptr);
      ASSERT_EQ(entry->tag, known[handle]);
      if (handle % 2 == 0)
        requests_->finish(*entry);
      else
        requests_->forget(handle);
      known.erase(handle);
      ASSERT_EQ(requests_->of(handle), nullptr);
    }
    ASSERT_EQ(requests_->count(), known.size());
    if (step % 1000 != 0) continue;
    std::multiset<std::uint64_t> expected;
    for (const auto& [handle, tag] : known) {
      expected.insert(handle);
      const Request* entry = requests_->of(handle);
      ASSERT_NE(entry, nullptr);
      ASSERT_EQ(entry->tag, tag);
    }
    ASSERT_EQ(handles(), expected);
  }
}

TEST_F(RequestsTest, SendsOfOneHandleStandBesideOneAnother) {
  put(8);
  put(8);
  requests_->finish(*requests_->of(8));
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_EQ(requests_->of(8)->starts, 1);
  requests_->finish(*requests_->of(8));
  EXPECT_EQ(requests_->of(8), nullptr);
}

TEST_F(RequestsTest, OthersTakeThePlaceOfAnOlderOneOfTheirHandle) {
  put(8);
  put(8, format::receive_request);
  EXPECT_EQ(requests_->of(8)->tag, 2);
  requests_->finish(*requests_->of(8));
  EXPECT_EQ(requests_->count(), 0U);
}

TEST_F(RequestsTest, PersistentOnesStayUntilTheyAreForgotten) {
  put(8, format::persistent_request);
  requests_->of(8)->waiter = 1;
  requests_->finish(*requests_->of(8));
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_FALSE(requests_->of(8)->active);
  EXPECT_EQ(requests_->of(8)->waiter, 0U);
  requests_->forget(8);
  EXPECT_EQ(requests_->of(8), nullptr);
}

TEST_F(RequestsTest, ACopyDoesNotFinishTheNextOneOfItsHandle) {
  requests_->share();
  put(8);
  const Request first = requests_->find(8);
  requests_->finish(first);
  put(8);
  requests_->finish(first);
  ASSERT_NE(requests_->of(8), nullptr);
  requests_->finish(requests_->find(8));
  EXPECT_EQ(requests_->of(8), nullptr);
}

TEST_F(RequestsTest, WhatDoesNotFitIsSaid) {
  for (std::uint64_t handle = 1; handle < format::request_capacity; ++handle) ASSERT_TRUE(put(handle));
  EXPECT_FALSE(put(format::request_capacity));
  requests_->forget(7);
  EXPECT_TRUE(put(format::request_capacity));
}

}  // namespace
}  // namespace mpi
}  // namespace tare
