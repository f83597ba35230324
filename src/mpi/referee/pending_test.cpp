#include "mpi/referee/pending.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tare::mpi::referee {
namespace {

constexpr std::uint32_t null = 7;

std::uintptr_t at(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

struct PendingTest : testing::Test {
  Pending pending;
  std::uint32_t handles[3] = {100, 101, 102};
  void SetUp() override { pending.begin(sizeof handles[0], null); }
  void start(int count) {
    for (int i = 0; i < count; ++i) pending.start();
  }
  // A call that completes these, which MPI sets to null, as its result tells.
  void call(Kind kind, const std::uintptr_t (&words)[4], std::initializer_list<int> completed) {
    const long before = pending.before(kind, words);
    for (const int i : completed) handles[i] = null;
    pending.after(kind, words, before);
  }
};

TEST_F(PendingTest, WaitingCompletesWhatIsNotNull) {
  start(2);
  handles[1] = null;
  pending.wait_all(at(handles), 3);
  EXPECT_TRUE(pending.none());
}

TEST_F(PendingTest, PollsTellWhatTheyHaveCompleted) {
  start(3);
  int flag = 0;
  call(Kind::tests_one, {at(handles), at(&flag), 0, 0}, {});
  flag = 1;
  call(Kind::tests_one, {at(handles), at(&flag), 0, 0}, {0});
  EXPECT_FALSE(pending.none());
  call(Kind::tests_one, {at(handles), at(&flag), 0, 0}, {});  // of no request
  EXPECT_FALSE(pending.none());
  call(Kind::tests_all, {3, at(handles), at(&flag), 0}, {1, 2});
  EXPECT_TRUE(pending.none());
}

TEST_F(PendingTest, OneOfSeveralIsTold) {
  start(3);
  int index = 2, flag = 1;
  call(Kind::waits_any, {3, at(handles), at(&index), 0}, {2});
  index = 0;
  call(Kind::tests_any, {3, at(handles), at(&index), at(&flag)}, {0});
  EXPECT_FALSE(pending.none());
  flag = 0;
  call(Kind::tests_any, {3, at(handles), at(&index), at(&flag)}, {});
  EXPECT_FALSE(pending.none());
  index = -1;  // as MPI_UNDEFINED: there was none
  call(Kind::waits_any, {3, at(handles), at(&index), 0}, {});
  EXPECT_FALSE(pending.none());
  index = 1;
  call(Kind::waits_any, {3, at(handles), at(&index), 0}, {1});
  EXPECT_TRUE(pending.none());
}

TEST_F(PendingTest, SomeAreTold) {
  start(3);
  int count = 2, indices[] = {0, 2};
  call(Kind::waits_some, {3, at(handles), at(&count), at(indices)}, {0, 2});
  EXPECT_FALSE(pending.none());
  count = -1;
  call(Kind::tests_some, {3, at(handles), at(&count), at(indices)}, {});
  EXPECT_FALSE(pending.none());
  count = 1;
  indices[0] = 1;
  call(Kind::tests_some, {3, at(handles), at(&count), at(indices)}, {1});
  EXPECT_TRUE(pending.none());
}

TEST_F(PendingTest, PersistentRequestsKeepTheirHandle) {
  pending.begin_persistent(at(handles), 2);
  start(1);
  pending.wait_all(at(handles), 2);
  EXPECT_FALSE(pending.none());
  pending.wait_all(at(handles), 2);  // they are not active
  EXPECT_FALSE(pending.none());
  pending.wait_all(at(handles), 3);
  EXPECT_TRUE(pending.none());
  pending.begin_persistent(at(handles), 1);
  int flag = 1;
  call(Kind::tests_all, {2, at(handles), at(&flag), 0}, {});
  EXPECT_TRUE(pending.none());
}

TEST_F(PendingTest, AHandleIsUsedAgain) {
  pending.begin_persistent(at(handles), 1);
  pending.wait_all(at(handles), 1);
  pending.free(at(handles));
  start(1);
  pending.wait_all(at(handles), 1);
  EXPECT_TRUE(pending.none());
  start(1);
  pending.free(at(handles));
  EXPECT_TRUE(pending.none());
}

}  // namespace
}  // namespace tare::mpi::referee
