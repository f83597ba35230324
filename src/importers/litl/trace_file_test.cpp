// Traces as liblitl writes them are in tests/integration/test_import_litl.py; these are made by hand, to be wrong.
#include "importers/litl/trace_file.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tare::importers::litl {
namespace {

template <typename Number>
std::string bytes_of(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string padded(std::string text, std::size_t size) {
  text.resize(size, '\0');
  return text;
}

constexpr std::uint64_t origin = 418;  // behind the headers of a file with one process

std::string headers() {
  return padded("0.1.9", 8) + padded("Linux node7 6.1 x86_64", 128) + bytes_of(std::uint16_t{1}) + padded("app", 256) +
         bytes_of(std::uint16_t{1}) + bytes_of(std::uint16_t{1}) + bytes_of(std::uint32_t{512}) +
         bytes_of(std::uint64_t{0}) + bytes_of(origin);
}
std::string pair(std::uint64_t thread, std::uint64_t offset) { return bytes_of(thread) + bytes_of(offset); }
std::string regular(std::uint64_t time, std::uint32_t code, const std::vector<std::uint64_t>& parameters) {
  std::string bytes = bytes_of(time) + bytes_of(code) + '\0' + static_cast<char>(parameters.size());
  for (const std::uint64_t each : parameters) bytes += bytes_of(each);
  return bytes;
}
std::string raw(std::uint64_t time, std::uint32_t code, const std::string& data) {
  return bytes_of(time) + bytes_of(code) + '\1' + bytes_of(static_cast<std::uint32_t>(data.size())) + data;
}
std::string link(std::uint64_t offset) { return regular(0, 13, {offset}); }

// All that is in a file, or what is wrong with it.
std::string read(const std::string& bytes) {
  // On the heap and no longer than it is, so that a read outside is seen.
  const std::vector<char> heap(bytes.begin(), bytes.end());
  const std::string_view view(heap.data(), heap.size());
  const auto file = TraceFile::read(view);
  if (!file) return file.error();
  std::string found = file->host() + ":";
  std::uint64_t left = view.size();
  for (const Process& process : file->processes()) {
    found += process.name;
    for (const Thread& thread : process.threads) {
      found += " [" + std::to_string(thread.id) + "]";
      const std::string error = file->read_events(process, thread, left, [&found](const Event& event) {
        found += " " + std::to_string(event.time_ns) + "/" + std::to_string(event.code) + "/" +
                 std::to_string(event.data.size());
        return true;
      });
      if (!error.empty()) return error;
    }
  }
  return found;
}

const std::string chunk = regular(5, 1, {}) + raw(6, 2, "abc");
// Two threads, one of them in a second slot of pairs, with a chunk more, and one without events.
const std::string slot = pair(11, 16 * 3) + pair(12, 0) + pair(0, 16 * 3 + chunk.size() + 22);
const std::string second_slot = pair(13, slot.size() + chunk.size() + 22 + 32) + pair(0, 0);
const std::string second = regular(7, 3, {1, 2}) + link(0);

TEST(LitlTraceFile, EventsOfThreadsInSlotsAndChunks) {
  const std::string more = slot + chunk + link(slot.size() + chunk.size() + 22 + 32 + second.size()) + second_slot +
                           second + raw(9, 4, "") + link(0);
  EXPECT_EQ(read(headers() + more), "node7:app [11] 5/1/0 6/2/3 9/4/0 [12] [13] 7/3/16");
}

TEST(LitlTraceFile, AnEventWithTheCodeOfALinkIsNone) {
  const std::string events = regular(5, 13, {7}) + regular(0, 13, {}) + raw(0, 13, "12345678") + link(0);
  EXPECT_EQ(read(headers() + pair(1, 32) + pair(0, 0) + events), "node7:app [1] 5/13/8 0/13/0 0/13/8");
}

TEST(LitlTraceFile, CutOffAnywhere) {
  const std::string whole = headers() + slot + chunk + link(0) + second_slot + second;
  ASSERT_EQ(read(whole), "node7:app [11] 5/1/0 6/2/3 [12] [13] 7/3/16");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string found = read(whole.substr(0, size));
    EXPECT_EQ(found, size < 138 ? "it is no trace of LiTL" : "it is cut off, or damaged") << size;
  }
}

TEST(LitlTraceFile, PairsAndChunksThatLeadBack) {
  const std::string back = "it is damaged: its chunks do not follow one another";
  EXPECT_EQ(read(headers() + pair(1, 48) + pair(0, 16) + pair(0, 0) + chunk + link(0)), back);
  EXPECT_EQ(read(headers() + pair(1, 32) + pair(0, 0) + chunk + link(32)), back);
  // The limit is for all threads together. A limit for each thread would allow the square of the size.
  EXPECT_EQ(read(headers() + pair(1, 80) + pair(2, 80) + pair(3, 80) + pair(4, 80) + pair(0, 0) +
                 raw(1, 1, std::string(500, 'x')) + link(0)),
            back);
}

TEST(LitlTraceFile, Lengths) {
  std::string longer = raw(6, 2, "abc");
  longer.replace(13, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(read(headers() + pair(1, 32) + pair(0, 0) + longer + link(0)), "it is cut off, or damaged");
  EXPECT_EQ(read(headers() + pair(1, UINT64_MAX) + pair(0, 0)), "it is cut off, or damaged");
  std::string unknown = raw(6, 2, "abc");
  unknown[12] = 9;
  EXPECT_EQ(read(headers() + pair(1, 32) + pair(0, 0) + unknown), "it is damaged: it has an event of type 9");
}

TEST(LitlTraceFile, OtherFiles) {
  EXPECT_FALSE(TraceFile::is_one("[Generic]\n"));
  EXPECT_FALSE(TraceFile::is_one(std::string(1000, '\0')));
  EXPECT_FALSE(TraceFile::is_one(std::string(1000, '1')));
  EXPECT_TRUE(TraceFile::is_one(headers()));
}

}  // namespace
}  // namespace tare::importers::litl
