#include "mpi/objects/requests.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "recorder/segment.h"

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

  bool put(std::uint64_t handle, std::uint8_t kind = format::plain_request) { return put(handle, {0, 1, kind}); }
  bool put(std::uint64_t handle, Starter starter) {
    return requests_->put(handle, starter, [&](Request& entry) {
      entry.tag = ++last_tag_;
      entry.active = true;
    });
  }
  // Puts requests from a handle on, as many as fit. Returns the first handle for which there is no room.
  std::uint64_t fill(std::uint64_t handle) {
    while (put(handle)) ++handle;
    return handle;
  }
  // Handles of which each lies in the same entry if it is the only one.
  std::vector<std::uint64_t> colliding(std::size_t count) {
    std::map<const Request*, std::vector<std::uint64_t>> by_entry;
    for (std::uint64_t handle = 100;; ++handle) {
      put(handle);
      std::vector<std::uint64_t>& here = by_entry[requests_->of(handle)];
      here.push_back(handle);
      requests_->free(handle, 0);
      if (here.size() == count) return here;
    }
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
        requests_->free(handle, 0);
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

TEST_F(RequestsTest, HandleZeroIsNone) {
  EXPECT_EQ(requests_->of(0), nullptr);
  put(8);
  EXPECT_EQ(requests_->of(0), nullptr);
  requests_->free(0, 0);
  EXPECT_EQ(requests_->count(), 1U);
  EXPECT_EQ(handles(), (std::multiset<std::uint64_t>{8}));
}

TEST_F(RequestsTest, RequestsOfOneHandleAndRowStandBesideOneAnotherInOneEntry) {
  put(8);
  put(8);
  EXPECT_EQ(requests_->count(), 1U);
  requests_->finish(*requests_->of(8));
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_EQ(requests_->of(8)->starts, 1);
  requests_->finish(*requests_->of(8));
  EXPECT_EQ(requests_->of(8), nullptr);
}

// As a call does that has looked all of its requests up before it completes them. Only one handle at a time can lie
// where all of these hash to.
TEST_F(RequestsTest, EveryStartOfAHandleIsCompletedOnceAndNoMore) {
  const std::vector<std::uint64_t> some = colliding(3);
  std::mt19937_64 random{1};
  for (int round = 0; round < 2000; ++round) {
    requests_->put(77, {0, 1, format::plain_request}, [](Request&) {});  // a neighbour, perhaps, in the index
    std::map<std::pair<std::uint64_t, std::uint16_t>, int> starts;
    std::map<std::uint64_t, int> left;
    const auto rows = static_cast<std::uint16_t>(1 + random() % 5);
    const auto all = static_cast<int>(random() % 20);
    const std::uint64_t handles_used = 1 + random() % some.size();
    for (int i = 0; i < all; ++i) {
      const auto row = static_cast<std::uint16_t>(1 + random() % rows);
      const std::uint64_t handle = some[random() % handles_used];
      ASSERT_TRUE(put(handle, {0, row, format::plain_request}));
      ++starts[{handle, row}];
      ++left[handle];
    }
    ASSERT_EQ(requests_->count(), starts.size() + 1);
    std::map<std::uint64_t, const Request*> found;
    for (const auto& [handle, number] : left) found[handle] = requests_->of(handle);
    Request taken;
    for (int i = 0; i < all; ++i) {
      auto at = left.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(random() % left.size()));
      const std::uint64_t handle = at->first;
      ASSERT_NE(found[handle], nullptr);
      ASSERT_TRUE(requests_->claim(handle, *found[handle], 0, taken));
      ASSERT_EQ(taken.handle, handle);
      ASSERT_GE((--starts[{handle, taken.row}]), 0);
      // MPI_PROC_NULL may have had the handle as often as it likes.
      if (--at->second == 0) {
        EXPECT_FALSE(requests_->claim(handle, *found[handle], 0, taken));
        left.erase(at);
      }
    }
    requests_->free(77, 0);
    ASSERT_EQ(requests_->count(), 0U);
    ASSERT_EQ(handles().size(), 0U);
  }
}

TEST_F(RequestsTest, TheNewestOfAHandleIsTakenFirst) {
  put(8, {0, 1, format::plain_request});  // never completed, as far as is known
  put(8, {0, 2, format::plain_request});
  put(8, {0, 1, format::plain_request});
  put(8, {0, 3, format::plain_request});
  Request taken;
  for (const int row : {3, 1, 1, 2}) {
    ASSERT_TRUE(requests_->claim(8, *requests_->of(8), 0, taken));
    EXPECT_EQ(taken.row, row);
  }
}

TEST_F(RequestsTest, AThreadCompletesItsOwnOfAHandleFirst) {
  put(8, {0, 1, format::plain_request});
  put(8, {1, 2, format::plain_request});
  Request taken;
  ASSERT_TRUE(requests_->claim(8, *requests_->of(8), 0, taken));
  EXPECT_EQ(taken.block, 0U);
  ASSERT_TRUE(requests_->claim(8, *requests_->of(8), 0, taken));
  EXPECT_EQ(taken.block, 1U);
}

TEST_F(RequestsTest, WhatOtherThreadsHaveStartedMeanwhileIsTheirs) {
  requests_->share();
  put(8, {0, 1, format::plain_request});
  RequestCopy copies[2];
  for (RequestCopy& copy : copies) ASSERT_TRUE(requests_->copy(8, 0, 1, copy));
  put(8, {1, 2, format::plain_request});
  Request taken;
  EXPECT_TRUE(requests_->claim(8, copies[0], 0, taken));
  EXPECT_EQ(taken.row, 1);
  EXPECT_FALSE(requests_->claim(8, copies[1], 0, taken));
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_EQ(requests_->of(8)->row, 2);
}

TEST_F(RequestsTest, AReceiveTakesThePlaceOfAnOlderOneOfItsHandle) {
  put(8, format::receive_request);
  put(8, format::receive_request);
  EXPECT_EQ(requests_->of(8)->tag, 2);
  requests_->finish(*requests_->of(8));
  EXPECT_EQ(requests_->count(), 0U);
}

TEST_F(RequestsTest, AReceiveIsCreditedThoughAnotherThreadHasItsHandleNow) {
  requests_->share();
  put(8, {0, 1, format::receive_request});
  RequestCopy copy;
  ASSERT_TRUE(requests_->copy(8, 0, 1, copy));
  put(8, {1, 2, format::receive_request});
  Request taken;
  ASSERT_TRUE(requests_->claim(8, copy, 0, taken));
  EXPECT_EQ(taken.row, 1);
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_EQ(requests_->of(8)->row, 2);
}

// A freed entry is not what a look before the call has found any more, whatever it is used for next.
TEST_F(RequestsTest, AFreedEntryIsNobodys) {
  put(8);
  const Request* found = requests_->of(8);
  requests_->finish(*found);
  EXPECT_FALSE(requests_->is_as_found(*found, 8, 0));
  put(9, {0, 5, format::plain_request});
  Request taken;
  EXPECT_FALSE(requests_->is_as_found(*found, 8, 0));
  EXPECT_FALSE(requests_->claim(8, *found, 0, taken));
  EXPECT_EQ(requests_->of(9)->starts, 1);
}

TEST_F(RequestsTest, AHandleOfWhichAStartHadNoRoomIsNobodys) {
  put(1, {0, 1, format::plain_request});
  fill(2);
  const std::uint32_t count = requests_->count();
  EXPECT_FALSE(put(1, {0, 2, format::plain_request}));
  EXPECT_TRUE(requests_->of(1)->unrecorded());
  EXPECT_EQ(requests_->count(), count);
}

// The second request of a handle needs two entries: the first one has to make room, too.
TEST_F(RequestsTest, AHandleForWhoseSecondRequestThereIsRoomForOneIsNobodys) {
  put(1, {0, 1, format::plain_request});
  const std::uint64_t next = fill(2);
  const std::uint64_t elsewhere = next - 1;  // the last one found its own entry taken
  requests_->free(elsewhere, 0);
  const std::uint32_t count = requests_->count();
  EXPECT_FALSE(put(1, {0, 2, format::plain_request}));
  EXPECT_TRUE(requests_->of(1)->unrecorded());
  EXPECT_EQ(requests_->count(), count);
  EXPECT_TRUE(put(elsewhere));
}

TEST_F(RequestsTest, PersistentOnesStayUntilTheyAreForgotten) {
  put(8, format::persistent_request);
  requests_->of(8)->waiter = 1;
  requests_->finish(*requests_->of(8));
  ASSERT_NE(requests_->of(8), nullptr);
  EXPECT_FALSE(requests_->of(8)->active);
  EXPECT_EQ(requests_->of(8)->waiter, 0U);
  requests_->free(8, 0);
  EXPECT_EQ(requests_->of(8), nullptr);
}

TEST_F(RequestsTest, WhatDoesNotFitIsSaid) {
  const std::uint64_t next = fill(1);
  // All entries are in use, but some of the 512 that only handles that hash to them can have.
  EXPECT_GE(requests_->count(), format::request_capacity - 512U);
  EXPECT_LT(requests_->count(), format::request_capacity);
  EXPECT_FALSE(put(next));
  requests_->free(7, 0);
  requests_->free(next - 1, 0);
  EXPECT_TRUE(put(next));
}

}  // namespace
}  // namespace mpi
}  // namespace tare
