// Requests from the calls that start them to those that complete them, on a made-up MPI.
#include "mpi/roles/completion.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>
#include <vector>

#include "mpi/testing/made_up_mpi.h"

namespace tare::mpi {
namespace {

using testing::MadeUpPage;
using testing::RecordingThread;
using testing::unknown_completions;
using Status = MadeUpPage::Status;

constexpr int at_once = 0x6c000001;  // the handle of all requests that are complete when they are started
constexpr std::uint32_t send_site = 1, other_site = 2, receive_site = 3, wait_site = 4;

// The peer of a call, without the communicator.
struct To : Role {
  int peer;
  explicit To(int p) noexcept : peer(p) {}
  void before(Thread&, recorder::Call& call) noexcept { call.peer = Peer<MadeUpPage>::normal(peer); }
};

class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    requests.after_fork();
    testing::request_table = table_.get();
  }
  ~CompletionTest() override { requests.after_fork(); }

  void isend(RecordingThread& in, std::uint32_t site, int handle, int peer = 1) {
    in.call(
        Function::MPI_Isend, site, 5, [] { return MadeUpPage::success; }, To{peer},
        Starts<MadeUpPage, format::plain_request>{&handle});
  }
  void irecv(RecordingThread& in, std::uint32_t site, int handle, int peer = 1) {
    in.call(
        Function::MPI_Irecv, site, 5, [] { return MadeUpPage::success; }, To{peer},
        Starts<MadeUpPage, format::receive_request>{&handle});
  }
  // MPI_Waitall, or MPI_Testall if there is a flag; of receives, MPI says that each got `bytes`.
  void complete_all(RecordingThread& in, std::vector<int> handles, std::uint64_t ticks, unsigned bytes = 0,
                    const int* flag = nullptr) {
    const auto count = static_cast<int>(handles.size());
    const auto in_one_call = [&](Function function, auto&& completes) {
      in.call(
          function, wait_site, ticks,
          [&] {
            Status* statuses = completes.status();
            for (int i = 0; i < count; ++i) {
              if (statuses != MadeUpPage::statuses_ignore()) statuses[i] = MadeUpPage::received(1, 7, bytes);
              handles[static_cast<std::size_t>(i)] = MadeUpPage::request_null();
            }
            return MadeUpPage::success;
          },
          completes);
    };
    if (flag == nullptr)
      in_one_call(Function::MPI_Waitall,
                  CompletesAllByWaiting<MadeUpPage, false>{count, handles.data(), MadeUpPage::statuses_ignore()});
    else
      in_one_call(Function::MPI_Testall,
                  CompletesAll<MadeUpPage, false>{count, handles.data(), flag, MadeUpPage::statuses_ignore()});
  }

  std::unique_ptr<format::RequestTable> table_{new format::RequestTable{}};
  RecordingThread first_;
};

TEST_F(CompletionTest, ReceivesAndTheWaitForThemAreCreditedToTheCallsThatStartedThem) {
  irecv(first_, receive_site, 0x10);
  isend(first_, send_site, 0x11);
  complete_all(first_, {0x10, 0x11}, 100, 24);
  EXPECT_EQ(first_.row(receive_site).bytes, 24U);
  EXPECT_EQ(first_.row(receive_site).waited_ticks, 50U);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 50U);
  EXPECT_EQ(first_.waited(), 100U);
  EXPECT_TRUE(first_.is_clean_behind());
}

// More of them than a row table has rows: what a freed entry holds must not be taken for one.
TEST_F(CompletionTest, RequestsOfOneHandleAreCreditedToTheirRowsAndToNoOthers) {
  constexpr int sends = 3000;
  for (int i = 0; i < 100; ++i) irecv(first_, receive_site, 0x1000 + i);  // so that entries lie in the free list
  std::vector<int> handles;
  for (int i = 0; i < 100; ++i) handles.push_back(0x1000 + i);
  complete_all(first_, handles, 0);
  handles.assign(sends, at_once);
  for (int i = 0; i < sends; ++i) isend(first_, send_site, at_once, MadeUpPage::proc_null);
  isend(first_, other_site, at_once);
  handles.push_back(at_once);
  complete_all(first_, handles, sends + 1);
  EXPECT_EQ(first_.row(send_site).waited_ticks, sends);
  EXPECT_EQ(first_.row(other_site).waited_ticks, 1U);
  EXPECT_EQ(first_.waited(), sends + 1U);
  EXPECT_TRUE(first_.is_clean_behind());
  EXPECT_EQ(requests.count(), 0U);
}

TEST_F(CompletionTest, MoreCompletionsOfAHandleThanStartsAreNobodys) {
  unknown_completions = 0;
  isend(first_, send_site, at_once);
  complete_all(first_, std::vector<int>(20, at_once), 100);
  EXPECT_EQ(unknown_completions, 19);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 5U);
  isend(first_, send_site, at_once);
  complete_all(first_, std::vector<int>(4, at_once), 20);
  EXPECT_EQ(unknown_completions, 19 + 3);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 10U);
  EXPECT_EQ(first_.waited(), 10U);
  EXPECT_TRUE(first_.is_clean_behind());
  // One at a time, as MPI_Waitany and MPI_Waitsome do.
  isend(first_, send_site, at_once);
  int handles[12], indices[12], done = 12;
  std::fill(std::begin(handles), std::end(handles), at_once);
  for (int i = 0; i < 12; ++i) indices[i] = i;
  first_.call(
      Function::MPI_Waitsome, wait_site, 120, [] { return MadeUpPage::success; },
      CompletesSome<MadeUpPage, false>{12, handles, &done, indices, MadeUpPage::statuses_ignore(), true});
  EXPECT_EQ(first_.row(send_site).waited_ticks, 20U);
  EXPECT_TRUE(first_.is_clean_behind());
}

// Nothing is received from nobody, and the handle may be that of sends.
TEST_F(CompletionTest, AReceiveFromNobodySharesTheHandleOfSends) {
  isend(first_, send_site, at_once);
  irecv(first_, receive_site, at_once, MadeUpPage::proc_null);
  isend(first_, send_site, at_once);
  complete_all(first_, {at_once, at_once, at_once}, 90, 24);
  EXPECT_EQ(first_.row(receive_site).waited_ticks, 30U);
  EXPECT_EQ(first_.row(receive_site).bytes, 0U);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 60U);
  EXPECT_EQ(requests.count(), 0U);
}

TEST_F(CompletionTest, WhatIsStartedWithoutBeingRecordedIsCreditedToNobody) {
  first_.trace();
  first_.pause();
  irecv(first_, receive_site, 0x10);
  isend(first_, send_site, at_once);
  first_.resume();
  isend(first_, other_site, at_once);
  complete_all(first_, {at_once, at_once, 0x10}, 90, 24);
  EXPECT_EQ(first_.row(other_site).waited_ticks, 30U);
  EXPECT_EQ(first_.waited(), 30U);
  EXPECT_EQ(first_.completions().size(), 1U) << "of those that the trace has the start of";
  EXPECT_TRUE(first_.is_clean_behind());
  EXPECT_EQ(requests.count(), 0U);
}

TEST_F(CompletionTest, WhatCompletesWithoutBeingRecordedIsCreditedToNobody) {
  irecv(first_, receive_site, 0x10);
  isend(first_, send_site, at_once);
  first_.pause();
  complete_all(first_, {0x10, at_once}, 100, 24);
  first_.resume();
  EXPECT_EQ(first_.row(receive_site).bytes, 0U);
  EXPECT_EQ(first_.waited(), 0U);
  EXPECT_EQ(requests.count(), 0U);
  EXPECT_TRUE(first_.is_clean_behind());
  irecv(first_, receive_site, 0x10);  // as if nothing had been
  complete_all(first_, {0x10}, 100, 24);
  EXPECT_EQ(first_.row(receive_site).bytes, 24U);
  EXPECT_EQ(first_.waited(), 100U);
}

TEST_F(CompletionTest, APersistentRequestIsCreditedToItsLastStartIfThatIsRecorded) {
  int handle = 0x20;
  const auto start = [&] {
    first_.call(
        Function::MPI_Start, send_site, 5, [] { return MadeUpPage::success; },
        StartsPersistent<MadeUpPage>{1, &handle});
  };
  first_.call(
      Function::MPI_Recv_init, other_site, 5, [] { return MadeUpPage::success; }, To{1},
      Starts<MadeUpPage, format::receive_request | format::persistent_request>{&handle});
  for (const bool paused : {false, true, false}) {
    if (paused) first_.pause();
    start();
    first_.resume();
    complete_all(first_, {handle}, 100, 8);
  }
  EXPECT_EQ(first_.row(send_site).waited_ticks, 200U);
  EXPECT_EQ(first_.row(send_site).bytes, 16U);
  EXPECT_EQ(first_.waited(), 200U);
  EXPECT_TRUE(first_.is_clean_behind());
}

TEST_F(CompletionTest, AnInactiveRequestIsNoneThatACallCompletes) {
  int handle = 0x20;
  first_.call(
      Function::MPI_Recv_init, other_site, 5, [] { return MadeUpPage::success; }, To{1},
      Starts<MadeUpPage, format::receive_request | format::persistent_request>{&handle});
  isend(first_, send_site, 0x21);
  complete_all(first_, {handle, 0x21}, 100);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 100U);
  EXPECT_EQ(first_.waited(), 100U);
}

// A call that was only counted has started it. MPI_Waitsome says so by completing it; MPI_Waitall may have.
TEST_F(CompletionTest, APersistentRequestThatCompletesAlthoughInactiveIsUnknown) {
  int handle = 0x20, index = 0, done = 1;
  first_.call(
      Function::MPI_Recv_init, other_site, 5, [] { return MadeUpPage::success; }, To{1},
      Starts<MadeUpPage, format::receive_request | format::persistent_request>{&handle});
  unknown_completions = 0;
  for (const bool waits : {true, false})
    for (const int completed : {1, 0}) {
      done = completed;
      first_.call(
          Function::MPI_Waitsome, wait_site, 120, [] { return MadeUpPage::success; },
          CompletesSome<MadeUpPage, false>{1, &handle, &done, &index, MadeUpPage::statuses_ignore(), waits});
    }
  EXPECT_EQ(unknown_completions, 2);
  complete_all(first_, {handle}, 100);
  EXPECT_EQ(unknown_completions, 3);
}

// A thread's share of a handle that threads have together is its own.
TEST_F(CompletionTest, ThreadsThatShareAHandleCompleteTheirOwn) {
  RecordingThread second{1};
  isend(first_, send_site, at_once);
  isend(second, send_site, at_once);
  isend(first_, other_site, at_once);
  complete_all(second, {at_once}, 10);
  complete_all(first_, {at_once, at_once}, 40);
  EXPECT_EQ(second.row(send_site).waited_ticks, 10U);
  EXPECT_EQ(first_.row(send_site).waited_ticks, 20U);
  EXPECT_EQ(first_.row(other_site).waited_ticks, 20U);
  EXPECT_EQ(requests.count(), 0U);
}

// Without memory for its requests, a call must not have MPI write to where there is none.
TEST_F(CompletionTest, WithoutMemoryNoStatusesAreAskedFor) {
  constexpr int count = RequestRoom::few + 1;
  const int done = 1;
  std::vector<int> handles;
  for (int i = 0; i < count; ++i) {
    handles.push_back(0x1000 + i);
    irecv(first_, receive_site, handles.back());
  }
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  for (const int* flag : {static_cast<const int*>(nullptr), &done}) {
    Snapshot<MadeUpPage, false> snapshot;
    const rlimit none{0, before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    snapshot.take(first_.thread(), count, handles.data(), flag == nullptr);
    setrlimit(RLIMIT_AS, &before);
    EXPECT_FALSE(snapshot) << "there was memory";
    EXPECT_EQ(snapshot.statuses(MadeUpPage::statuses_ignore()), MadeUpPage::statuses_ignore());
    EXPECT_EQ(snapshot.filled(MadeUpPage::statuses_ignore()), nullptr);
  }
  EXPECT_EQ(first_.thread().scratch, nullptr);
  // And with memory there is room for all.
  complete_all(first_, handles, 64, 8, &done);
  EXPECT_EQ(first_.row(receive_site).bytes, 8U * count);
}

}  // namespace
}  // namespace tare::mpi
