// Choosers and analyses of the user's: what they see, what becomes of what they say, and what they cannot harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>

#include "format/functions.h"
#include "mpi/sampling/testing/two_ranks.h"
#include "mpi/sampling/testing/watched_code.h"

namespace tare::mpi::sampling {
namespace {

std::string addressed(const void* watched) {
  char text[512];
  std::snprintf(text, sizeof text, "%s:%p", WATCHED_CODE, watched);
  return text;
}

class UserCodeOfTwoRanks : public testing::TwoRanks {
 protected:
  // Both ranks use the chooser `chooser`; the receiver has the analysis, too.
  void begin_with(const std::string& text) {
    Spec spec;
    ASSERT_EQ(nullptr, format::parse_sample_spec(text.c_str(), spec));
    for (int i = 0; i < 2; ++i) ASSERT_EQ(nullptr, side[i].load(spec));
    begin(text.c_str());
    for (int i = 0; i < 2; ++i) side[i].set_clock_rate(1);
  }
  void finish() {
    for (int i = 0; i < 2; ++i) side[i].finish();
  }
  void exchange(std::int32_t tag, std::uint64_t bytes) {
    send(tag, bytes);
    receive(tag, bytes);
    side[1].poll();
  }

  UserCodeOfTwoRanks() {
    chooser.chooses = 1;
    chooser.probability = 0.25;
  }

  watched chooser{};
  watched analysis{};
  const std::string both = addressed(&chooser) + ",stat,seed=5,analysis=" + addressed(&analysis);
};

TEST_F(UserCodeOfTwoRanks, SeesTheMessagesThatSatisfyTheKeys) {
  begin_with(both + ",size=16-");
  for (const std::uint64_t bytes : {16U, 8U, 24U}) exchange(3, bytes);
  ASSERT_EQ(chooser.asked, 2U);
  const tare_message& first = chooser.messages[0];
  const tare_message& second = chooser.messages[1];
  EXPECT_EQ(first.channel, channel_of(5, 0, 1, 3));
  EXPECT_EQ(first.communicator, 5U);
  EXPECT_EQ((std::array{first.source, first.destination, first.tag}), (std::array{0, 1, 3}));
  EXPECT_EQ((std::array{first.number, second.number}), (std::array<std::uint64_t, 2>{1, 3}));
  EXPECT_EQ((std::array{first.bytes, second.bytes}), (std::array<std::uint64_t, 2>{16, 24}));
  EXPECT_EQ(first.site, 11U);
  EXPECT_STREQ(first.function, format::function_name(1));
  EXPECT_STREQ(first.phase, "");
  EXPECT_GT(first.time_ns, 0);
  EXPECT_LE(first.time_ns, second.time_ns);
  EXPECT_EQ(table[1].summary.paired, 2U);
}

TEST_F(UserCodeOfTwoRanks, GetTheSameRandomNumbersAgain) {
  double sum = 0;
  begin_with(both);
  for (int i = 0; i < 200; ++i) exchange(i % 2, 8);
  for (int i = 0; i < 200; ++i) {
    const double random = chooser.messages[i].random;
    EXPECT_GE(random, 0);
    EXPECT_LT(random, 1);
    sum += random;
  }
  EXPECT_NEAR(sum / 200, 0.5, 5 * std::sqrt(1.0 / 12 / 200));
  Chooser again;
  again.use({.seed = 5}, 1, 1);
  EXPECT_EQ(chooser.messages[7].random, again.random_of(channel_of(5, 0, 1, 1), 4));
}

TEST_F(UserCodeOfTwoRanks, WeighMessagesByTheirProbability) {
  begin_with(both);
  exchange(0, 8);
  chooser.probability = 0.2;  // 1 / 0.2 has the exponent of 1 / 0.25
  exchange(0, 8);
  chooser.probability = 1;
  exchange(0, 8);
  chooser.chooses = 0;
  exchange(0, 8);
  EXPECT_EQ(table[0].summary.chosen, 3U);
  ASSERT_EQ(table[1].summary.classes, 3U);
  const format::SampleClass& quarter = table[1].rows[1];
  const format::SampleClass& whole = table[1].rows[2];
  EXPECT_EQ(quarter.count, 2U);
  EXPECT_FLOAT_EQ(static_cast<float>(quarter.weight), 9);
  EXPECT_FLOAT_EQ(static_cast<float>(quarter.weight_squared), 41);
  EXPECT_EQ((std::array{whole.weight, whole.weight_squared}), (std::array{1.0, 1.0}));
  EXPECT_EQ(whole.flags & format::weight_unknown, 0U);
}

TEST_F(UserCodeOfTwoRanks, HaveNoWeightWithoutAProbability) {
  begin_with(both);
  for (const double wrong : {0.0, -0.5, 1.5, std::nan(""), HUGE_VAL}) {
    chooser.probability = wrong;
    exchange(0, 8);
  }
  const format::SampleClass& all = table[1].rows[1];
  EXPECT_EQ(all.count, 5U);
  EXPECT_EQ(all.weight, 0);
  EXPECT_NE(all.flags & format::weight_unknown, 0U);
}

TEST_F(UserCodeOfTwoRanks, AnalysesWhatIsPaired) {
  begin_with(both);
  for (int i = 0; i < 3; ++i) exchange(4, 32);
  ASSERT_EQ(analysis.added, 3U);
  const tare_sampled_message& last = analysis.sampled[2];
  EXPECT_EQ((std::array{last.channel, last.number, last.bytes, last.communicator}),
            (std::array{channel_of(5, 0, 1, 4), std::uint64_t{3}, std::uint64_t{32}, std::uint64_t{5}}));
  EXPECT_EQ((std::array{last.source, last.destination, last.tag}), (std::array{0, 1, 4}));
  EXPECT_EQ((std::array{last.send_site, last.receive_site}), (std::array{11U, 22U}));
  EXPECT_EQ(last.weight, 4);
  EXPECT_EQ(last.uncertainty_ns, 0U);
  EXPECT_EQ(last.end_ns - last.posted_ns, 100);  // of receive()
  EXPECT_EQ(last.posted_ns, last.waited_ns);
  EXPECT_EQ(last.latency_ns, std::max<std::int64_t>(last.end_ns - last.send_ns, 0));
}

TEST_F(UserCodeOfTwoRanks, AnalysesMessagesWhenNothingIsLocked) {
  static Sampler* receiver;
  static int depth, nested;
  receiver = &side[1];
  depth = nested = 0;
  // Another thread would do the same: it leaves its messages to the one that is analysing.
  analysis.during_add = [] {
    if (++depth > 1) ++nested;
    const std::uint32_t receive = receiver->post({9, 5, nullptr}, {0, 7}, false);
    receiver->posted(receive, false, 200, 22);
    if (receiver->match(receive, {0, 7})) receiver->complete(receive, 200, 300, 8);
    receiver->poll();
    --depth;
  };
  begin_with(both);
  side[1].share();
  for (int i = 0; i < 4; ++i) send(7, 8);
  receive(7, 8);
  side[1].poll();
  EXPECT_EQ(analysis.added, 4U);
  EXPECT_EQ(nested, 0);
}

TEST_F(UserCodeOfTwoRanks, AnalysesTheRestInTheEnd) {
  begin_with(both);
  for (int i = 0; i < 200; ++i) {
    send(0, 8);
    receive(0, 8);
  }
  EXPECT_EQ(analysis.added, 0U);
  finish();
  EXPECT_EQ(analysis.added, 200U);
  EXPECT_EQ(analysis.sampled[199].number, 200U);
  EXPECT_EQ(analysis.ended, 2U);
  EXPECT_EQ(chooser.ended, 2U);
}

TEST_F(UserCodeOfTwoRanks, AsksWhileAnotherThreadSends) {
  static watched* first;
  static Sampler* sender;
  static Ticket other;
  first = &chooser;
  sender = &side[0];
  begin_with(both);
  side[0].share();
  // Another thread sends on the channel, and its call has not returned when the first is announced.
  chooser.leave = [] {
    first->leave = nullptr;
    first->chooses = 0;
    sender->begin_send(other, {1, 5, nullptr}, 1, 0, false, false, {8, 11, 1, ""});
    first->chooses = 1;
  };
  send(0, 8, false);
  side[0].end_send(other, Outcome::sent);
  side[0].end_send(ticket, Outcome::sent);
  EXPECT_EQ(table[0].summary.ambiguous, 1U) << "which of the two came first is not known";
  receive(0, 8);
  EXPECT_EQ(table[1].summary.paired, 0U);
}

TEST_F(UserCodeOfTwoRanks, KeepsErrno) {
  begin_with(both);
  errno = 5;
  exchange(0, 8);
  EXPECT_EQ(errno, 5);
  EXPECT_EQ(chooser.asked, 1U);
}

TEST_F(UserCodeOfTwoRanks, MayBeLeftByAJump) {
  static std::jmp_buf out;
  begin_with(both);
  side[0].share();
  chooser.leave = [] { std::longjmp(out, 1); };
  if (setjmp(out) == 0) send(0, 8);
  EXPECT_EQ(chooser.asked, 1U);
  side[0].left_send(1, 1, 0);
  chooser.leave = nullptr;
  exchange(1, 8);  // no lock is held
  EXPECT_EQ(table[1].summary.paired, 1U);
}

TEST_F(UserCodeOfTwoRanks, EndsTheProcessIfItThrows) {
  begin_with(both);
  chooser.leave = [] { throw std::runtime_error("thrown by a chooser"); };
  EXPECT_DEATH(
      {
        try {
          send(0, 8);
        } catch (...) {
          std::fputs("it has passed\n", stderr);
        }
        std::exit(0);
      },
      "thrown by a chooser");
}

TEST_F(UserCodeOfTwoRanks, CannotBeReplacedLater) {
  begin_with(both);
  EXPECT_EQ(nullptr, side[0].change("random:1,stat"));
  exchange(0, 8);
  EXPECT_EQ(chooser.asked, 0U);
  EXPECT_EQ(analysis.added, 1U) << "the analysis stays";
  EXPECT_EQ(nullptr, side[0].change(addressed(&chooser).c_str()));
  exchange(0, 8);
  EXPECT_EQ(chooser.asked, 1U);
  EXPECT_NE(nullptr, side[0].change(addressed(&analysis).c_str()));
  EXPECT_NE(nullptr, side[0].change(("random:1,analysis=" + addressed(&chooser)).c_str()));
}

// It lives as long as the process, as does what the user's code has allocated.
UserCode& new_code() {
  static auto& all = *new std::deque<UserCode>;
  return all.emplace_back();
}

std::string refused(const std::string& text) {
  Spec spec;
  EXPECT_EQ(nullptr, format::parse_sample_spec(text.c_str(), spec));
  const char* wrong = new_code().load(spec);
  return wrong == nullptr ? "" : wrong;
}

TEST(UserCode, IsRefusedWithTheReason) {
  const std::string wrong = WRONG_CODE;
  EXPECT_NE(refused("/nowhere/chooser.so").find("/nowhere/chooser.so"), std::string::npos);
  EXPECT_EQ(refused(wrong), wrong + " has a chooser of version 2; this tare knows versions up to 1");
  EXPECT_EQ(refused("random:1,analysis=" + wrong), wrong + " leaves out a function of its analysis");
  EXPECT_EQ(refused(WATCHED_CODE ":nonsense"), WATCHED_CODE " refuses its arguments 'nonsense'");
  EXPECT_EQ(refused(LATENCY_BY_SIZE), LATENCY_BY_SIZE " does not export tare_message_chooser_1()");
  EXPECT_EQ(refused("random:1,analysis=" LATENCY_BY_SIZE ":5"), "");
  EXPECT_EQ(refused(CHOOSE_BY_SIZE ":4096"), "");
  EXPECT_EQ(refused(CHOOSE_BY_SIZE ":x"), CHOOSE_BY_SIZE " refuses its arguments 'x'");
}

TEST(UserCode, OfTheExampleChoosesBySize) {
  Spec spec;
  ASSERT_EQ(nullptr, format::parse_sample_spec(CHOOSE_BY_SIZE ":1000", spec));
  UserCode& code = new_code();
  ASSERT_EQ(nullptr, code.load(spec));
  const auto weight_of = [&](std::uint64_t bytes, double random) {
    float weight = 0;
    tare_message message{};
    message.bytes = bytes;
    message.random = random;
    return code.choose(message, weight) ? weight : -1.0F;
  };
  EXPECT_FLOAT_EQ(weight_of(100, 0.0999), 10);
  EXPECT_FLOAT_EQ(weight_of(100, 0.1), -1);
  EXPECT_FLOAT_EQ(weight_of(0, 0), 1000);
  EXPECT_FLOAT_EQ(weight_of(1000, 0.99), 1);
  EXPECT_FLOAT_EQ(weight_of(5000, 0.99), 1);
}

}  // namespace
}  // namespace tare::mpi::sampling
