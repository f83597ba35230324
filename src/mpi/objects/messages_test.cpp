#include "mpi/objects/messages.h"

#include <gtest/gtest.h>

namespace tare::mpi {
namespace {

constexpr std::uint64_t from_nobody = 5;

TEST(Messages, AreTakenOnce) {
  add_message({8, 1, 3, 7, 0});
  const Message taken = take_message(8);
  EXPECT_EQ(taken.communicator, 1U);
  EXPECT_EQ(taken.peer, 3);
  EXPECT_EQ(take_message(8).handle, 0U);
  EXPECT_EQ(take_message(0).handle, 0U);
}

TEST(Messages, OfAHandleThatIsUsedAgainAreTheNewest) {
  add_message({8, 1, 3, 7, 0});
  add_message({8, 2, 4, 7, 0});
  EXPECT_EQ(take_message(8).communicator, 2U);
  EXPECT_EQ(take_message(8).handle, 0U);
}

TEST(Messages, FromNobodyHaveOneHandle) {
  for (int i = 0; i < 3; ++i) add_message({from_nobody, 1, format::proc_null, 7, 0});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take_message(from_nobody).communicator, 1U);
  EXPECT_EQ(take_message(from_nobody).handle, 0U);
}

TEST(Messages, FromNobodyOnSeveralCommunicatorsAreOfNoneThatIsKnown) {
  add_message({from_nobody, 1, format::proc_null, 7, 0});
  add_message({from_nobody, 2, format::proc_null, 7, 0});
  for (int i = 0; i < 2; ++i) {
    const Message taken = take_message(from_nobody);
    EXPECT_EQ(taken.communicator, format::no_communicator);
    EXPECT_EQ(taken.peer, format::proc_null);
  }
  add_message({from_nobody, 2, format::proc_null, 7, 0});
  EXPECT_EQ(take_message(from_nobody).communicator, 2U) << "as if nothing had been";
}

}  // namespace
}  // namespace tare::mpi
