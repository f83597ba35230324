#include "format/event_codec.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "format/decompress.h"
#include "format/testing/event_rows.h"

namespace tare::format {
namespace {

class EventCodec : public ::testing::Test {
 protected:
  EventCodec()
      : workspace_(std::memset(std::aligned_alloc(64, (EventEncoder::workspace_bytes() + 63) / 64 * 64), 0x55,
                               EventEncoder::workspace_bytes())),
        encoder_(workspace_) {}
  ~EventCodec() override { std::free(workspace_); }

  template <class Record>
  void add(const Record& record) {
    const char* bytes = reinterpret_cast<const char*>(&record);
    records_.insert(records_.end(), bytes, bytes + sizeof record);
  }
  void add_call(std::uint64_t enter, std::uint64_t leave, std::uint16_t function, std::int32_t peer,
                std::uint64_t bytes, std::uint32_t request = 0) {
    add(CallRecord{{function, 6}, function * 3U, enter, leave, bytes, peer, peer + 1, 1, request});
  }
  // Encodes what has been added and decodes it again.
  DecodedEvents round_trip(unsigned shift = 0) {
    ChunkHeader identity{};
    identity.process = 42;
    chunk_ = encoder_.encode(identity, records_.data(), records_.size(), shift);
    ChunkHeader header;
    std::memcpy(&header, chunk_.data, sizeof header);
    EXPECT_TRUE(is_chunk_header(chunk_.data));
    EXPECT_EQ(header.process, 42U);
    EXPECT_EQ(crc32c(chunk_.data + sizeof header, header.stored_bytes), header.payload_crc);
    std::vector<char> raw;
    std::string error;
    EXPECT_TRUE(decompress(header, chunk_.data + sizeof header, raw, error)) << error;
    DecodedEvents events;
    EXPECT_TRUE(decode_events(header, raw.data(), raw.size(), events, error)) << error;
    return events;
  }

  void* workspace_;
  EventEncoder encoder_;
  std::vector<char> records_;
  EventEncoder::Chunk chunk_{};
};

TEST_F(EventCodec, NewMemoryMakesTheSameChunksAsUsed) {
  const auto free = [](void* memory) { std::free(memory); };
  const std::unique_ptr<void, decltype(free)> zeroed(std::calloc(1, EventEncoder::workspace_bytes() + 64), free);
  const auto begin = (reinterpret_cast<std::uintptr_t>(zeroed.get()) + 63) / 64 * 64;
  EventEncoder encoder(reinterpret_cast<void*>(begin), EventEncoder::Memory::zeroed);
  for (unsigned i = 0; i < 300; ++i) {
    add_call(i * 10, i * 10 + 5, 1 + i % 7, static_cast<std::int32_t>(i % 5), 8, 16 + i % 3);
    add(CompletionRecord{{completion, 3}, 16 + i % 4, 8, 1, 2});
  }
  for (int round = 0; round < 3; ++round) {
    const auto one = encoder_.encode({}, records_.data(), records_.size(), 0);
    const auto other = encoder.encode({}, records_.data(), records_.size(), 0);
    EXPECT_EQ(std::string(one.data, one.bytes), std::string(other.data, other.bytes)) << round;
  }
}

TEST_F(EventCodec, WhatWasReceivedBesideComesBack) {
  const CallRecord call{{7, 6}, 21, 100, 200, 80, 1, 2, 3, no_request};
  ExchangeRecord exchange{{{7, 8}, 21, 300, 400, 80, 1, 2, 3, no_request}, 160, 5, 6};
  add(call);
  add(exchange);
  add(call);
  exchange.received = 161;
  add(exchange);
  exchange.source = no_peer;
  add(exchange);
  exchange.source_tag = no_tag;
  add(exchange);
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.calls.size(), 6U);
  const std::uint64_t received[] = {no_bytes, 160, no_bytes, 161, 161, 161};
  const std::int32_t source[] = {no_peer, 5, no_peer, 5, no_peer, no_peer};
  const std::int32_t source_tag[] = {no_tag, 6, no_tag, 6, 6, no_tag};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(events.calls[i].received, received[i]) << i;
    EXPECT_EQ(events.calls[i].source, source[i]) << i;
    EXPECT_EQ(events.calls[i].source_tag, source_tag[i]) << i;
    EXPECT_EQ(events.calls[i].bytes, 80U);
    EXPECT_EQ(events.calls[i].peer, 1);
  }
}

TEST_F(EventCodec, CallsComeBack) {
  std::mt19937_64 random(3);
  std::vector<CallRecord> calls;
  std::uint64_t now = 1'000'000'000'000;
  for (int i = 0; i < 3000; ++i) {
    CallRecord call{{static_cast<std::uint16_t>(1 + random() % 600), 6},
                    static_cast<std::uint32_t>(random() % 50),
                    now,
                    now + random() % 100'000,
                    random() % 3 == 0 ? no_bytes : random() % 1'000'000,
                    random() % 5 == 0 ? no_peer : static_cast<std::int32_t>(random() % 8) - 2,
                    random() % 5 == 0 ? no_tag : static_cast<std::int32_t>(random()),
                    static_cast<std::uint32_t>(random() % 4),
                    static_cast<std::uint32_t>(2 + random() % 1000000)};
    now = call.leave + random() % 1000;
    calls.push_back(call);
    add(call);
  }
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.calls.size(), calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(events.calls[i].enter, calls[i].enter);
    EXPECT_EQ(events.calls[i].leave, calls[i].leave);
    EXPECT_EQ(events.calls[i].bytes, calls[i].bytes);
    EXPECT_EQ(events.calls[i].peer, calls[i].peer);
    EXPECT_EQ(events.calls[i].tag, calls[i].tag);
    EXPECT_EQ(events.calls[i].site, calls[i].site);
    EXPECT_EQ(events.calls[i].function, calls[i].head.kind);
    EXPECT_EQ(events.calls[i].communicator, calls[i].communicator);
    EXPECT_EQ(events.calls[i].request, calls[i].request);
  }
}

TEST_F(EventCodec, KindsKeepTheirOrder) {
  add(FlushRecord{{flush, 4}, 17, 100, 200, 300});
  add(CompletionRecord{{completion, 3}, 5, 64, 1, 2});  // of a call in the chunk before
  add_call(1000, 1010, 3, 1, 8);
  add(CompletionRecord{{completion, 3}, 6, 80, 3, 4});
  add(CompletionRecord{{completion, 3}, 7, no_bytes, no_peer, no_tag});
  add_call(1020, 1030, 4, 2, 9);
  add(LossRecord{{loss, 4}, 0, 1040, 1050, 12});
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.completions.size(), 3U);
  EXPECT_EQ(events.completions[0].call, UINT32_MAX);
  EXPECT_EQ(events.completions[1].call, 0U);
  EXPECT_EQ(events.completions[2].call, 0U);
  EXPECT_EQ(events.completions[2].bytes, no_bytes);
  ASSERT_EQ(events.flushes.size(), 1U);
  EXPECT_EQ(events.flushes[0].enter, 100U);
  EXPECT_EQ(events.flushes[0].leave, 200U);
  EXPECT_EQ(events.flushes[0].records, 17U);
  ASSERT_EQ(events.losses.size(), 1U);
  EXPECT_EQ(events.losses[0].records, 12U);
}

TEST_F(EventCodec, EventsOfTheApi) {
  const auto add_event = [&](std::uint32_t type, std::uint64_t time, std::vector<std::uint64_t> parameters) {
    add(EventRecord{{event, static_cast<std::uint16_t>(2 + parameters.size())}, type, time});
    for (const std::uint64_t p : parameters) add(p);
  };
  const auto add_raw = [&](std::uint32_t type, std::uint64_t time, std::string text) {
    const std::uint64_t bytes = text.size();
    text.resize((bytes + 7) / 8 * 8);
    add(RawEventRecord{{raw_event, static_cast<std::uint16_t>(3 + text.size() / 8)}, type, time, bytes});
    records_.insert(records_.end(), text.begin(), text.end());
  };
  std::mt19937_64 random(11);
  struct Expected {
    std::uint32_t type;
    std::uint64_t time;
    std::vector<std::uint64_t> parameters;
  };
  std::vector<Expected> expected;
  for (std::uint64_t i = 0; i < 500; ++i) {
    Expected e{static_cast<std::uint32_t>(random() % 5), 1000 + 10 * i, {}};
    for (std::uint32_t p = 0; p < 2 * e.type; ++p) e.parameters.push_back(p % 2 == 0 ? i : random());
    add_event(e.type, e.time, e.parameters);
    expected.push_back(e);
    if (i % 100 == 3) add_raw(9, 1005 + 10 * i, std::string(i, 'x'));
  }
  add_raw(10, 9000, "");
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.events.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const DecodedEvent& e = events.events[i];
    EXPECT_EQ(e.type, expected[i].type);
    EXPECT_EQ(e.time, expected[i].time);
    const auto first = events.parameters.begin() + static_cast<std::ptrdiff_t>(e.at);
    EXPECT_EQ(std::vector<std::uint64_t>(first, first + e.count), expected[i].parameters);
  }
  ASSERT_EQ(events.raw_events.size(), 6U);
  EXPECT_EQ(events.raw_events[1].time, 2035U);
  EXPECT_EQ(events.text.substr(events.raw_events[1].at, events.raw_events[1].count), std::string(103, 'x'));
  EXPECT_EQ(events.raw_events[5].count, 0U);
}

TEST_F(EventCodec, CallsOfOtherSources) {
  const auto add_source_call = [&](std::uint32_t function, std::uint64_t enter, std::uint64_t leave,
                                   std::uint32_t object, const std::vector<std::uint64_t>& arguments) {
    add(SourceCallRecord{
        {source_call, static_cast<std::uint16_t>(4 + arguments.size())}, function, enter, leave, function + 1, object});
    for (const std::uint64_t argument : arguments) add(argument);
  };
  add_source_call(900, 1000, 1070, 3, {4096, UINT64_MAX});
  add_call(2000, 2500, 3, 1, 8);
  add_source_call(901, 2100, 2200, 0, {});  // within the call
  add(EventRecord{{event, 3}, 5, 2600});
  add(std::uint64_t{77});
  add_source_call(900, 3000, 3001, 4, {8, 9});
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.source_calls.size(), 3U);
  const auto arguments = [&](const DecodedSourceCall& call) {
    const auto first = events.arguments.begin() + static_cast<std::ptrdiff_t>(call.at);
    return std::vector<std::uint64_t>(first, first + call.count);
  };
  EXPECT_EQ(events.source_calls[0].function, 900U);
  EXPECT_EQ(events.source_calls[0].enter, 1000U);
  EXPECT_EQ(events.source_calls[0].leave, 1070U);
  EXPECT_EQ(events.source_calls[0].site, 901U);
  EXPECT_EQ(events.source_calls[0].object, 3U);
  EXPECT_EQ(arguments(events.source_calls[0]), (std::vector<std::uint64_t>{4096, UINT64_MAX}));
  EXPECT_EQ(events.source_calls[1].function, 901U);
  EXPECT_EQ(events.source_calls[1].enter, 2100U);
  EXPECT_TRUE(arguments(events.source_calls[1]).empty());
  EXPECT_EQ(events.source_calls[2].leave, 3001U);
  EXPECT_EQ(arguments(events.source_calls[2]), (std::vector<std::uint64_t>{8, 9}));
  ASSERT_EQ(events.calls.size(), 1U);
  EXPECT_EQ(events.calls[0].enter, 2000U);
  ASSERT_EQ(events.events.size(), 1U);
  EXPECT_EQ(events.parameters, std::vector<std::uint64_t>{77});
}

TEST_F(EventCodec, CompletionsFindTheirStart) {
  add_call(10, 11, 3, 1, 8, 50);
  add_call(12, 13, 3, 1, 8, 60);
  add_call(14, 15, 3, 1, 8, 70);
  add_call(16, 17, 4, 1, 8);
  add(CompletionRecord{{completion, 3}, 60, 8, 1, 2});
  add(CompletionRecord{{completion, 3}, 50, 8, 1, 2});
  add(CompletionRecord{{completion, 3}, 99, 8, 1, 2});  // started in an earlier chunk
  add_call(18, 19, 3, 1, 8, 50);                        // the number again, for another request
  add_call(20, 21, 4, 1, 8);
  add(CompletionRecord{{completion, 3}, 50, 8, 1, 2});
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.completions.size(), 4U);
  EXPECT_EQ(events.completions[0].start, 1U);
  EXPECT_EQ(events.completions[1].start, 0U);
  EXPECT_EQ(events.completions[2].start, UINT32_MAX);
  EXPECT_EQ(events.completions[2].request, 99U);
  EXPECT_EQ(events.completions[3].start, 4U);
  EXPECT_EQ(events.completions[3].call, 5U);
  EXPECT_EQ(events.calls[0].request, completed_in_chunk);
  EXPECT_EQ(events.calls[2].request, 70U);  // outlives the chunk
  EXPECT_EQ(events.calls[3].request, no_request);
}

TEST_F(EventCodec, WhatAnotherThreadStartedIsNotTakenForThisOnes) {
  add_call(10, 11, 3, 1, 8, 50);  // another thread completes it, and MPI gives that thread the handle
  add_call(12, 13, 4, 1, 8);
  add(CompletionRecord{{foreign_completion, 3}, 50, 8, 1, 2});
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.completions.size(), 1U);
  EXPECT_EQ(events.completions[0].start, UINT32_MAX);
  EXPECT_EQ(events.completions[0].request, 50U);
  EXPECT_EQ(events.completions[0].call, 1U);
  EXPECT_EQ(events.calls[0].request, 50U) << "outlives the chunk";
}

TEST_F(EventCodec, StartsOfOneCallAreNumberedAmongThoseOfCalls) {
  const auto start_of = [](std::uint32_t request, std::uint64_t bytes, std::int32_t tag) {
    return StartRecord{{start, 4}, request, bytes, 7, tag, 2, 0};
  };
  add(start_of(40, 800, 3));  // of a call in the chunk before
  add_call(10, 11, 3, 1, 8, 50);
  add_call(12, 13, 5, no_peer, no_bytes);
  add(start_of(60, 160, 4));
  add(start_of(70, no_bytes, any_tag));
  add_call(14, 15, 4, 1, 8);
  add(CompletionRecord{{completion, 3}, 70, 8, 1, 2});
  add(CompletionRecord{{completion, 3}, 50, no_bytes, no_peer, no_tag});
  add(CompletionRecord{{completion, 3}, 40, no_bytes, no_peer, no_tag});
  add(start_of(70, no_bytes, any_tag));  // again, and it outlives the chunk
  const DecodedEvents events = round_trip();
  ASSERT_EQ(events.starts.size(), 4U);
  EXPECT_EQ(events.starts[0].call, UINT32_MAX);
  EXPECT_EQ(events.starts[0].request, completed_in_chunk);
  EXPECT_EQ(events.starts[1].call, 1U);
  EXPECT_EQ(events.starts[1].request, 60U) << "outlives the chunk";
  EXPECT_EQ(events.starts[1].bytes, 160U);
  EXPECT_EQ(events.starts[1].peer, 7);
  EXPECT_EQ(events.starts[1].tag, 4);
  EXPECT_EQ(events.starts[1].communicator, 2U);
  EXPECT_EQ(events.starts[2].call, 1U);
  EXPECT_EQ(events.starts[2].request, completed_in_chunk);
  EXPECT_EQ(events.starts[2].bytes, no_bytes);
  EXPECT_EQ(events.starts[2].tag, any_tag);
  EXPECT_EQ(events.starts[3].call, 2U);
  EXPECT_EQ(events.starts[3].request, 70U);
  ASSERT_EQ(events.completions.size(), 3U);
  EXPECT_EQ(events.completions[0].nth, 2U);
  EXPECT_EQ(events.completions[0].start, UINT32_MAX);
  EXPECT_EQ(events.completions[1].nth, UINT32_MAX);
  EXPECT_EQ(events.completions[1].start, 0U);
  EXPECT_EQ(events.completions[2].nth, 0U);
}

// As MPI gives sends that are complete at once the same handle.
TEST_F(EventCodec, EachOfTheRequestsOfOneHandleCompletesOnce) {
  for (unsigned i = 0; i < 3; ++i) add_call(i * 10, i * 10 + 5, 3, 1, 8, 70);
  for (int i = 0; i < 4; ++i) add(CompletionRecord{{completion, 3}, 70, no_bytes, no_peer, no_tag});
  const DecodedEvents events = round_trip();
  for (const DecodedCall& call : events.calls) EXPECT_EQ(call.request, completed_in_chunk);
  ASSERT_EQ(events.completions.size(), 4U);
  EXPECT_EQ(events.completions[0].start, 2U);
  EXPECT_EQ(events.completions[1].start, 1U);
  EXPECT_EQ(events.completions[2].start, 0U);
  EXPECT_EQ(events.completions[3].start, UINT32_MAX);
  EXPECT_EQ(events.completions[3].request, 70U);
}

TEST_F(EventCodec, TimesAreShifted) {
  add_call(1001, 1011, 3, 1, 8);
  add_call(1013, 1031, 3, 1, 8);
  const DecodedEvents events = round_trip(1);
  EXPECT_EQ(events.calls[0].enter, 500U);
  EXPECT_EQ(events.calls[0].leave, 505U);
  EXPECT_EQ(events.calls[1].enter, 506U);
  EXPECT_EQ(events.calls[1].leave, 515U);
}

TEST_F(EventCodec, AClockThatStepsBackIsKept) {
  add_call(5000, 5010, 3, 1, 8);
  add_call(4000, 4010, 3, 1, 8);
  EXPECT_EQ(round_trip().calls[1].enter, 4000U);
}

TEST_F(EventCodec, StopsAtATornRecord) {
  add_call(1, 2, 3, 1, 8);
  add(RecordHead{0x9999, 7});
  records_.resize(records_.size() + 100);
  EXPECT_EQ(round_trip().calls.size(), 1U);
  EXPECT_EQ(chunk_.consumed, sizeof(CallRecord));
}

TEST_F(EventCodec, MoreThanOneChunk) {
  for (unsigned i = 0; i < chunk_records + 10; ++i) add_call(i * 10, i * 10 + 5, 1, 0, 4);
  EXPECT_EQ(round_trip().calls.size(), chunk_records);
  records_.erase(records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(chunk_.consumed));
  EXPECT_EQ(round_trip().calls.size(), 10U);
}

TEST_F(EventCodec, FlippedBytesNeverCrash) {
  for (unsigned i = 0; i < 50; ++i) {
    add_call(i * 10, i * 10 + 5, static_cast<std::uint16_t>(1 + i % 3), static_cast<std::int32_t>(i % 4), 4);
    if (i % 16 == 2) add(StartRecord{{start, 4}, i + 4, i, 1, 2, 3, 0});
    if (i % 4 == 0) add(CompletionRecord{{completion, 3}, i + 2, i, 1, 2});
    if (i % 8 == 1) {
      add(EventRecord{{event, 4}, i, i * 10});
      add(std::uint64_t{i});
      add(std::uint64_t{i} << 40);
      add(RawEventRecord{{raw_event, 4}, 1, i * 10, 5});
      add(std::uint64_t{0x4141414141});
    }
  }
  round_trip();
  ChunkHeader header;
  std::memcpy(&header, chunk_.data, sizeof header);
  std::vector<char> raw;
  std::string error;
  ASSERT_TRUE(decompress(header, chunk_.data + sizeof header, raw, error));
  DecodedEvents events;
  for (std::size_t i = 0; i < raw.size(); ++i)
    for (const int value : {0x00, 0x01, 0x7f, 0xff}) {
      // A copy of exact size on the heap lets AddressSanitizer see a read past its end.
      const auto copy = std::make_unique<char[]>(raw.size());
      std::memcpy(copy.get(), raw.data(), raw.size());
      copy[i] = static_cast<char>(value);
      decode_events(header, copy.get(), raw.size(), events, error);
    }
  for (std::size_t n = 0; n < raw.size(); ++n) {
    const auto copy = std::make_unique<char[]>(n + 1);
    std::memcpy(copy.get(), raw.data(), n);
    EXPECT_FALSE(decode_events(header, copy.get(), n, events, error)) << n;
  }
}

TEST_F(EventCodec, RepeatedCallsAreSmall) {
  for (unsigned i = 0; i < 2048; ++i) add_call(i * 50, i * 50 + 20 + i % 7, 3, 1, 1024);
  round_trip();
  EXPECT_LT(chunk_.bytes, 9 * 2048U / 4);  // of a call hardly more than its two times
}

}  // namespace
}  // namespace tare::format
