#include "reader/matching/match_stream.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reader/testing/script.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::any_source;
using format::any_tag;
using format::no_peer;
using format::no_tag;
using format::proc_null;

constexpr std::int64_t origin = 1'700'000'000'000'000'000;  // tick 0 (process_record)

class MatcherTest : public ::testing::Test {
 protected:
  void match() {
    file = run_of(ranks, second);
    auto opened = Run::of_memory(file);
    ASSERT_TRUE(opened) << opened.error();
    auto stream = MatchStream::open(*opened);
    ASSERT_TRUE(stream) << stream.error();
    while (stream->next()) {
      messages.insert(messages.end(), stream->messages().begin(), stream->messages().end());
      collectives.insert(collectives.end(), stream->collectives().begin(), stream->collectives().end());
    }
    warnings = stream->warnings();
    std::sort(messages.begin(), messages.end(),
              [](const Message& a, const Message& b) { return a.sent.posted.enter_ns < b.sent.posted.enter_ns; });
  }
  // "source->destination", then the begins of the calls that sent it, posted the receive and completed the receive.
  std::string line(const Message& of) const {
    const auto at = [](std::int64_t ns) { return std::to_string(ns - origin - 2000); };
    std::string text = std::to_string(of.source) + "->" + std::to_string(of.destination);
    text += of.sent.rank < 0 ? " -" : " " + at(of.sent.posted.enter_ns);
    if (of.received.rank < 0) return text + " -";
    text += " " + at(of.received.posted.enter_ns);
    return text + (of.received.is_complete ? " " + at(of.received.completed.enter_ns) : " ?");
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const Message& message : messages) all.push_back(line(message));
    return all;
  }
  using Lines = std::vector<std::string>;
  // Rank 0 sends a message, and rank 1 receives one.
  void send_and_receive(std::int32_t tag = 3, std::uint64_t sent = format::no_bytes,
                        std::uint64_t received = format::no_bytes) {
    ranks[0].call("MPI_Send", 10, 1, tag, format::no_request, 1, sent);
    ranks[1].call("MPI_Recv", 10, 0, tag, format::no_request, 1, received);
  }

  std::vector<Script> ranks{2};
  std::vector<SecondThread> second;
  std::string file;
  std::vector<Message> messages;
  std::vector<Collective> collectives;
  std::vector<std::string> warnings;
};

TEST_F(MatcherTest, MessagesOfAChannelAreReceivedInOrder) {
  for (int i = 0; i < 3; ++i) ranks[0].call("MPI_Send", 10, 1, 3, 0, 1, 64);
  ranks[0].call("MPI_Send", 10, 1, 4);
  ranks[1].compute(100);
  ranks[1].call("MPI_Recv", 10, 0, 4);
  for (int i = 0; i < 3; ++i) ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 110 110", "0->1 10 120 120", "0->1 20 130 130", "0->1 30 100 100"}));
  EXPECT_EQ(messages[0].sent.bytes, 64U);
  EXPECT_EQ(messages[0].tag, 3);
}

TEST_F(MatcherTest, ACallThatFailedIsNoMessage) {
  ranks[0].fails("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].fails("MPI_Recv", 10, no_peer, no_tag);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 10 10 10", "0->1 20 20 20"}));
}

TEST_F(MatcherTest, TheReceiverMayComeFirst) {
  ranks[0].compute(500);
  ranks[0].call("MPI_Ssend", 10, 1, 3);
  ranks[1].call("MPI_Recv", 520, 0, 3);
  match();
  EXPECT_EQ(lines(), Lines{"0->1 500 0 0"});
}

TEST_F(MatcherTest, ReceivesAreCompletedElsewhere) {
  ranks[0].call("MPI_Isend", 10, 1, 3, 5);
  ranks[0].call("MPI_Isend", 10, 1, 3, 6);
  ranks[0].call("MPI_Waitall", 10);
  ranks[0].completes(5);
  ranks[0].completes(6);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 7);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 8);
  ranks[1].compute(100);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(8, 0, 3);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(7, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 0 130", "0->1 10 10 120"}));
  EXPECT_EQ(messages[0].sent.completed.enter_ns, origin + 2020);
  EXPECT_EQ(messages[0].sent.completed.number, 2U);
  EXPECT_EQ(messages[0].received.bytes, 8U);
}

TEST_F(MatcherTest, WildcardsTakeWhatTheyRecorded) {
  // The receive with wildcards was posted first, so it took the first message of the channel, although it completes
  // last.
  ranks.resize(3);
  ranks[0].call("MPI_Send", 10, 2, 3);
  ranks[0].call("MPI_Send", 10, 2, 3);
  ranks[1].compute(100);
  ranks[1].call("MPI_Send", 10, 2, 4);
  ranks[2].call("MPI_Irecv", 10, any_source, any_tag, 5);
  ranks[2].call("MPI_Irecv", 10, 0, 3, 6);
  ranks[2].call("MPI_Irecv", 10, any_source, 4, 7);
  ranks[2].compute(200);
  ranks[2].call("MPI_Wait", 10);
  ranks[2].completes(6, 0, 3);
  ranks[2].call("MPI_Wait", 10);
  ranks[2].completes(5, 0, 3);
  ranks[2].call("MPI_Wait", 10);
  ranks[2].completes(7, 1, 4);
  match();
  EXPECT_EQ(lines(), (Lines{"0->2 0 0 240", "0->2 10 10 230", "1->2 100 20 250"}));
}

TEST_F(MatcherTest, CancelledReceivesTakeNothing) {
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].call("MPI_Irecv", 10, any_source, 3, 6);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(6);
  ranks[1].call("MPI_Recv", 100, 0, 3);
  ranks[0].compute(100);
  ranks[0].call("MPI_Send", 10, 1, 3);
  match();
  EXPECT_EQ(lines(), Lines{"0->1 100 40 40"});
}

TEST_F(MatcherTest, AReceiveThatIsCancelledLateGivesItsMessageToTheNext) {
  // Both messages are sent before the cancellation completes; the second receive completes before that, too.
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 6);
  ranks[0].compute(30);
  for (int i = 0; i < 3; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  ranks[1].call("MPI_Cancel", 10);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(6, 0, 3);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 30 10 130", "0->1 40 150 150", "0->1 50 160 160"}));
}

TEST_F(MatcherTest, OfSeveralReceivesAnyMayBeCancelled) {
  for (std::uint32_t request = 5; request < 9; ++request) ranks[1].call("MPI_Irecv", 10, 0, 3, request);
  ranks[0].compute(50);
  for (int i = 0; i < 3; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(100);
  for (int i = 0; i < 2; ++i) ranks[1].call("MPI_Cancel", 10);
  ranks[1].call("MPI_Waitall", 10);
  for (const std::uint32_t request : {8U, 6U}) ranks[1].completes(request);
  ranks[1].call("MPI_Waitall", 10);
  for (const std::uint32_t request : {7U, 5U}) ranks[1].completes(request, 0, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 50 0 170", "0->1 60 20 170", "0->1 70 180 180"}));
}

TEST_F(MatcherTest, AFailedReceiveHasTakenItsMessage) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5);  // no status, and nobody called MPI_Cancel
  ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 0 10", "0->1 10 20 20"}));
}

TEST_F(MatcherTest, ExchangesAreTwoMessages) {
  ranks[0].exchange("MPI_Sendrecv", 10, 1, 3, 1, 4);
  ranks[1].compute(5);
  ranks[1].exchange("MPI_Sendrecv", 10, 0, 4, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 5 5", "1->0 5 0 0"}));
}

TEST_F(MatcherTest, PersistentRequestsSendAtEveryStart) {
  ranks[0].call("MPI_Send_init", 10, 1, 3, 5);
  ranks[1].call("MPI_Recv_init", 10, 0, 3, 6);
  for (int i = 0; i < 2; ++i) {
    ranks[0].call("MPI_Start", 10, 1, 3, 5, 1, 8);
    ranks[0].call("MPI_Wait", 10);
    ranks[0].completes(5);
    ranks[1].call("MPI_Startall", 10);
    ranks[1].starts(6, 0, 3, format::no_bytes);
    ranks[1].starts(7, proc_null, 3, format::no_bytes);
    ranks[1].call("MPI_Wait", 10);
    ranks[1].completes(6, 0, 3);
    ranks[1].call("MPI_Wait", 10);
    ranks[1].completes(7, proc_null);
  }
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 10 10 20", "0->1 30 40 50"}));
}

TEST_F(MatcherTest, AMatchedProbeStandsForItsReceive) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Probe", 10, 0, 3);   // takes nothing
  ranks[1].call("MPI_Mprobe", 10, 0, 3);  // takes the first
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].call("MPI_Mrecv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 10 30", "0->1 10 20 20"}));
}

TEST_F(MatcherTest, MessagesThatWereProbedTogetherAreToldApartByTheirLength) {
  for (const std::uint64_t bytes : {10, 20, 30}) ranks[0].call("MPI_Send", 10, 1, 3, format::no_request, 1, bytes);
  ranks[1].compute(100);
  for (int i = 0; i < 3; ++i) ranks[1].call("MPI_Mprobe", 10, 0, 3);
  for (const std::uint64_t bytes : {30, 10, 20}) ranks[1].call("MPI_Mrecv", 10, 0, 3, format::no_request, 1, bytes);
  match();
  for (const Message& message : messages) EXPECT_EQ(message.sent.bytes, message.received.bytes);
  EXPECT_EQ(messages.size(), 3U);
}

TEST_F(MatcherTest, AThreadReceivesWhatItHasProbed) {
  for (int i = 0; i < 2; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  Script other;
  ranks[1].compute(10);
  ranks[1].call("MPI_Mprobe", 5, 0, 3);
  other.compute(20);
  other.call("MPI_Mprobe", 5, 0, 3);
  other.compute(5);
  other.call("MPI_Mrecv", 5, 0, 3);
  ranks[1].compute(25);
  ranks[1].call("MPI_Mrecv", 5, 0, 3);
  second.push_back({1, other});
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 10 40", "0->1 10 20 30"}));
}

TEST_F(MatcherTest, AnotherThreadMayComplete) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  Script other;
  other.compute(100);
  other.call("MPI_Wait", 10);
  other.completes(5, 0, 3);
  second.push_back({1, other});
  match();
  EXPECT_EQ(lines(), Lines{"0->1 0 0 100"});
  EXPECT_EQ(messages[0].received.completed.thread, 1U);
  EXPECT_EQ(messages[0].received.completed.number, 0U);
}

TEST_F(MatcherTest, WhatIsNeverReceivedIsToldAtTheEnd) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(5);
  ranks[1].call("MPI_Irecv", 10, 0, 4, 5);
  match();
  std::vector<std::string> found = lines();
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (Lines{"0->1 - 5 ?", "0->1 0 -"}));
}

TEST_F(MatcherTest, WithoutItsBeginNothingIsMatched) {
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Barrier", 10);
  ranks[1].is_overwritten(100);  // it has none at all
  match();
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(collectives.size(), 0U);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(MatcherTest, BehindAGapNothingIsMatched) {
  for (int i = 0; i < 3; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].compute(5);
  ranks[1].loses();
  ranks[1].compute(20);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  for (Script& rank : ranks) rank.call("MPI_Barrier", 10);
  match();
  EXPECT_EQ(lines(), Lines{"0->1 0 0 0"});
  EXPECT_EQ(collectives.size(), 0U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("rank 1"), std::string::npos);
}

// Both ranks have gaps of different lengths that end with the same spell.
TEST_F(MatcherTest, BehindAGapThatEndsWithASpellAllIsNumberedAnew) {
  for (int i = 0; i < 3; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].call("MPI_Barrier", 10);
  ranks[0].is_left_out(60, 5);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].is_left_out(90, 5);
  ranks[0].compute(10);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].compute(20);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  for (Script& rank : ranks) rank.call("MPI_Barrier", 10);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 0 0", "0->1 110 120 120"}));
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(collectives[0].parts.size(), 2U);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(MatcherTest, TracesThatGoOnWithDifferentSpellsAreNotMatched) {
  ranks[0].is_left_out(100, 5);
  ranks[1].is_left_out(100, 6);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  for (Script& rank : ranks) rank.call("MPI_Barrier", 10);
  match();
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(collectives.size(), 0U);
}

// The first message after the gap is taken by a receive that was posted in the gap.
TEST_F(MatcherTest, ARankWithRequestsAtTheEndOfAGapIsNotMatched) {
  ranks[0].is_left_out(100, 5);
  ranks[1].is_left_out(100, 5, format::spell_with_requests);
  for (int i = 0; i < 2; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  match();
  EXPECT_EQ(lines(), Lines{});
  ranks[0].is_left_out(200, 7);
  ranks[1].is_left_out(200, 7);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  messages.clear();
  match();
  EXPECT_EQ(lines(), Lines{"0->1 320 310 310"});
}

// The same, but a call that was only counted has posted the receive. So it is known when it completes, here two spells
// later. What follows the next spell that only counts is not concerned.
TEST_F(MatcherTest, ARankInWhichARequestOfAGapCompletesIsNotMatched) {
  ranks[1].begins_spell(4, format::unmeasured_spell);
  for (Script& rank : ranks) rank.is_left_out(100, 5);
  for (int i = 0; i < 2; ++i) ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  ranks[1].begins_spell(6, 0);
  ranks[1].begins_spell(7, format::spell_completes_unknown);
  ranks[1].begins_spell(8, format::unmeasured_spell);
  for (Script& rank : ranks) rank.is_left_out(100, 9);
  send_and_receive();
  match();
  EXPECT_EQ(lines(), Lines{"0->1 220 210 210"});
}

TEST_F(MatcherTest, ARequestThatCompletesBehindACutDoesNotConcernWhatFollows) {
  for (Script& rank : ranks) rank.is_left_out(100, 5, format::cut_spell | format::spell_completes_unknown);
  send_and_receive();
  for (Script& rank : ranks) rank.is_left_out(100, 6);
  send_and_receive();
  match();
  EXPECT_EQ(lines(), Lines{"0->1 210 210 210"});
}

// A message is sent in the gap and received after it, before the next one is sent.
TEST_F(MatcherTest, AMessageThatCrossesTheEndOfAGapIsNotTakenForTheNext) {
  for (Script& rank : ranks) rank.is_left_out(100, 5);
  ranks[1].call("MPI_Recv", 10, 0, 3, format::no_request, 1, 8);
  ranks[0].compute(5000);
  for (int i = 0; i < 2; ++i) {
    ranks[0].call("MPI_Send", 10, 1, 3);
    ranks[1].compute(5000);
    ranks[1].call("MPI_Recv", 10, 0, 3, format::no_request, 1, 8);
    for (Script& rank : ranks) rank.is_left_out(100, 6);  // nor is what follows
  }
  match();
  EXPECT_EQ(lines(), Lines{});
}

TEST_F(MatcherTest, AMessageOfTheWrongSizeIsNotMatched) {
  for (Script& rank : ranks) rank.is_left_out(100, 5);
  send_and_receive(3, 16, 8);
  for (const int tag : {3, 4}) send_and_receive(tag);
  match();
  EXPECT_EQ(lines(), Lines{"0->1 120 120 120"}) << "of tag 4";
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("messages of 1 channel "), std::string::npos);
}

// Before the first gap all messages are matched. They show what happens in gaps.
TEST_F(MatcherTest, AChannelWhoseMessagesLieInTwoSpellsIsNotMatchedAfterAGap) {
  for (Script& rank : ranks) rank.begins_spell(1, format::traced_spell);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[0].compute(10);
  ranks[1].compute(20);
  for (Script& rank : ranks) rank.begins_spell(2, format::traced_spell);
  ranks[0].compute(10);
  ranks[1].call("MPI_Recv", 10, 0, 3);
  for (Script& rank : ranks) {
    rank.is_left_out(100, 3);
    rank.compute(10);
  }
  for (const int tag : {3, 4}) send_and_receive(tag);
  for (Script& rank : ranks) rank.begins_spell(4, format::traced_spell);
  match();
  EXPECT_EQ(lines(), (Lines{"0->1 0 20 20", "0->1 150 150 150"})) << "of tag 4 after the gap";
}

// Requests that were under way when the gap began complete in the gap, which is not recorded.
TEST_F(MatcherTest, RequestsOfBeforeAGapAreForgotten) {
  ranks[1].call("MPI_Irecv", 10, any_source, any_tag, 5);
  for (Script& rank : ranks) rank.is_left_out(100, 5);
  ranks[0].compute(10);
  ranks[0].call("MPI_Send", 10, 1, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 3, 5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5, 0, 3);
  match();
  EXPECT_EQ(lines(), Lines{"0->1 110 110 120"});
}

TEST_F(MatcherTest, CollectivesAreTheSameOnAllMembersInTheirOrder) {
  ranks[0].call("MPI_Bcast", 10, 1);
  ranks[0].call("MPI_Iallreduce", 10, no_peer, no_tag, 5);
  ranks[0].compute(100);
  ranks[0].call("MPI_Wait", 10);
  ranks[0].completes(5);
  ranks[1].compute(50);
  ranks[1].call("MPI_Bcast", 10, 1);
  ranks[1].call("MPI_Iallreduce", 10, no_peer, no_tag, 5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5);
  match();
  ASSERT_EQ(collectives.size(), 2U);
  EXPECT_EQ(collectives[0].root_world, 1);
  EXPECT_EQ(collectives[0].number, 0U);
  EXPECT_EQ(collectives[1].number, 1U);
  ASSERT_EQ(collectives[1].parts.size(), 2U);
  EXPECT_EQ(collectives[1].parts[0].rank, 0);
  EXPECT_EQ(collectives[1].parts[0].posted.enter_ns, origin + 2010);
  EXPECT_EQ(collectives[1].parts[0].completed.enter_ns, origin + 2120);
  EXPECT_EQ(collectives[1].parts[1].completed.enter_ns, origin + 2070);
}

TEST_F(MatcherTest, CollectivesThatNotAllHaveComeToAreToldAtTheEnd) {
  ranks[0].call("MPI_Barrier", 10);
  match();
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(collectives[0].size, 2);
  EXPECT_EQ(collectives[0].parts.size(), 1U);
}

TEST_F(MatcherTest, MessagesThatWereSentBeforeTheirReceivesAreQueued) {
  for (const std::int32_t tag : {3, 4, 5}) ranks[0].call("MPI_Send", 10, 1, tag);
  ranks[1].call("MPI_Irecv", 10, any_source, 3, 5);
  ranks[1].compute(100);
  for (const std::int32_t tag : {5, 4}) ranks[1].call("MPI_Recv", 10, 0, tag);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5, 0, 3);
  match();
  ASSERT_EQ(messages.size(), 3U);
  using Found = std::pair<bool, std::optional<std::uint32_t>>;
  std::vector<Found> found;
  for (const Message& of : messages) found.emplace_back(of.is_unexpected(), of.received.queued);
  // While the first receive is under way, it is not known which message it takes.
  EXPECT_EQ(found, (std::vector<Found>{{false, 1}, {true, std::nullopt}, {true, std::nullopt}}));
}

TEST_F(MatcherTest, AMessageForWhichAReceiveIsPostedIsNotQueued) {
  for (const std::int32_t tag : {3, 4, 5}) ranks[0].call("MPI_Send", 10, 1, tag);
  ranks[1].compute(100);
  ranks[1].call("MPI_Irecv", 10, any_source, 3, 5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(5, 0, 3);
  ranks[1].call("MPI_Irecv", 10, 0, 4, 6);
  ranks[1].call("MPI_Recv", 10, 0, 5);
  ranks[1].call("MPI_Wait", 10);
  ranks[1].completes(6, 0, 4);
  match();
  std::map<std::int32_t, std::optional<std::uint32_t>> found;
  for (const Message& of : messages) found[of.tag] = of.received.queued;
  EXPECT_EQ(found, (std::map<std::int32_t, std::optional<std::uint32_t>>{{3, 3}, {4, 2}, {5, 1}}));
}

}  // namespace
}  // namespace tare::reader
