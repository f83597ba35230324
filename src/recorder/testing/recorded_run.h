// Runs a program that records with the API in a forked child of the test, and reads back what it recorded.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "format/chunk.h"
#include "format/decompress.h"
#include "format/definition.h"
#include "format/segment.h"
#include "format/testing/event_rows.h"
#include "tare/tare.hpp"

namespace tare::recorder {

using format::EventClass;
using Words = std::vector<std::uint64_t>;

struct Type {
  EventClass event_class;
  std::string name, unit;
  unsigned parameters;
};
struct Event {
  std::uint64_t process;
  std::uint32_t location;
  Type type;
  std::uint64_t time;
  Words words;
  std::string text;
};

// The contents of a run directory.
struct ReadBack {
  std::vector<Event> events;
  std::vector<Event> raws;
  std::map<std::uint64_t, tare::format::ProcessRecord> processes;
  std::map<std::pair<std::uint64_t, std::uint32_t>, tare::format::LocationSummary> blocks;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Type> types;
  std::map<std::uint32_t, std::vector<std::string>> threads;  // the names that each has had
  std::vector<std::uint32_t> spells;                          // the number of each that has ended
  std::size_t definitions = 0, flushes = 0, losses = 0, lost = 0;

  std::size_t count(const std::string& name) const {
    std::size_t n = 0;
    for (const Event& event : events) n += event.type.name == name ? 1 : 0;
    return n;
  }
  std::vector<Words> words(const std::string& name) const {
    std::vector<Words> out;
    for (const Event& event : events)
      if (event.type.name == name) out.push_back(event.words);
    return out;
  }
};

inline void read_definitions(ReadBack& run, std::uint64_t process, const std::vector<char>& raw) {
  for (std::size_t at = 0; at + sizeof(tare::format::DefinitionHead) <= raw.size();) {
    tare::format::EventTypeDefinition d;
    tare::format::DefinitionHead head;
    std::memcpy(&head, raw.data() + at, sizeof head);
    ASSERT_NE(head.bytes, 0U);
    if (head.kind == tare::format::DefinitionKind::event_type) {
      std::memcpy(&d, raw.data() + at, sizeof d);
      const char* name = raw.data() + at + sizeof d;
      run.types[{process, d.type}] = {
          d.event_class, {name, d.name_bytes}, {name + d.name_bytes, d.unit_bytes}, d.parameters};
      ++run.definitions;
    }
    if (head.kind == tare::format::DefinitionKind::thread) {
      tare::format::ThreadDefinition thread;
      std::memcpy(&thread, raw.data() + at, sizeof thread);
      run.threads[thread.thread].push_back({raw.data() + at + sizeof thread, thread.name_bytes});
    }
    if (head.kind == tare::format::DefinitionKind::spell) {
      tare::format::SpellDefinition spell;
      std::memcpy(&spell, raw.data() + at, sizeof spell);
      if ((spell.head.flags & tare::format::unfinished_spell) == 0) run.spells.push_back(spell.spell);
    }
    at += head.bytes;
  }
}

inline void read_chunk(ReadBack& run, const tare::format::ChunkHeader& header, const std::vector<char>& raw) {
  using tare::format::ChunkType;
  if (header.type == ChunkType::definitions) read_definitions(run, header.process, raw);
  if (header.type == ChunkType::process)
    std::memcpy(&run.processes[header.process], raw.data(), sizeof(tare::format::ProcessRecord));
  if (header.type == ChunkType::profile)
    std::memcpy(&run.blocks[{header.process, header.block}], raw.data(), sizeof(tare::format::LocationSummary));
  if (header.type != ChunkType::events) return;
  tare::format::DecodedEvents decoded;
  std::string error;
  ASSERT_TRUE(tare::format::decode_events(header, raw.data(), raw.size(), decoded, error)) << error;
  run.flushes += decoded.flushes.size();
  run.losses += decoded.losses.size();
  for (const auto& loss : decoded.losses) run.lost += loss.records;
  const auto type_of = [&](std::uint32_t number) {
    const auto found = run.types.find({header.process, number});
    EXPECT_NE(found, run.types.end()) << "type " << number << " is used before its definition";
    return found == run.types.end() ? Type{} : found->second;
  };
  for (const auto& event : decoded.events) {
    const auto* first = decoded.parameters.data() + event.at;
    run.events.push_back(
        {header.process, header.location, type_of(event.type), event.time, {first, first + event.count}, {}});
  }
  for (const auto& event : decoded.raw_events)
    run.raws.push_back({header.process,
                        header.location,
                        type_of(event.type),
                        event.time,
                        {},
                        decoded.text.substr(event.at, event.count)});
}

// Calls visit(header, offset) for each chunk. Skips incomplete chunks, as they are left by a full disk.
template <class Visit>
void visit_chunks(const std::string& bytes, Visit visit) {
  for (std::size_t at = 0; at + sizeof(tare::format::ChunkHeader) <= bytes.size();) {
    tare::format::ChunkHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const bool whole =
        tare::format::is_chunk_header(bytes.data() + at) && bytes.size() - at - sizeof header >= header.stored_bytes &&
        tare::format::crc32c(bytes.data() + at + sizeof header, header.stored_bytes) == header.payload_crc;
    if (whole) visit(header, at);
    at += whole ? sizeof header + header.stored_bytes : 1;
  }
}

inline void read_file(ReadBack& run, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  using tare::format::ChunkHeader;
  const auto key = [](const ChunkHeader& h) { return std::tuple(h.process, h.block, h.sequence); };
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>, std::pair<std::uint32_t, std::size_t>> copies;
  visit_chunks(bytes, [&](const ChunkHeader& header, std::size_t at) {
    auto& [records, place] = copies[key(header)];
    if (header.type != tare::format::ChunkType::events || header.records <= records) return;
    records = header.records;
    place = at;
  });
  visit_chunks(bytes, [&](const ChunkHeader& header, std::size_t at) {
    if (header.type == tare::format::ChunkType::events && copies[key(header)].second != at) return;
    std::vector<char> raw;
    std::string error;
    ASSERT_TRUE(tare::format::decompress(header, bytes.data() + at + sizeof header, raw, error)) << error;
    read_chunk(run, header, raw);
  });
}

class RecordedRun : public testing::Test {
 protected:
  void SetUp() override {
    const char* scratch = getenv("TMPDIR");
    std::string pattern = std::string(scratch == nullptr ? "/tmp" : scratch) + "/tare-recorder-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    scratch_ = pattern;
  }
  void TearDown() override {
    ASSERT_FALSE(scratch_.empty());
    EXPECT_EQ(std::system(("rm -r '" + scratch_ + "'").c_str()), 0);
  }

  std::string directory() const { return scratch_ + "/run"; }

  // A process with one thread and this main function, whose result is the exit code.
  static int run_program(const std::function<int()>& main_function) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) std::exit(main_function());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // The same for a program that makes its own run.
  using Variables = std::map<std::string, std::string>;
  ReadBack record(const std::function<void()>& program, const char* buffer = nullptr, const Variables& variables = {}) {
    const int code = run_program([&] {
      if (buffer != nullptr) setenv("TARE_BUFFER", buffer, 1);
      for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
      if (tare_start(directory().c_str()) != 0) return 90;
      program();
      return 0;
    });
    EXPECT_EQ(code, 0);
    return read();
  }

  ReadBack read() const {
    ReadBack run;
    DIR* entries = opendir(directory().c_str());
    EXPECT_NE(entries, nullptr);
    if (entries == nullptr) return run;
    while (const dirent* entry = readdir(entries)) {
      const std::string name = entry->d_name;
      if (name.size() > 5 && name.substr(name.size() - 5) == ".tare") read_file(run, directory() + "/" + name);
    }
    closedir(entries);
    return run;
  }

 private:
  std::string scratch_;
};

}  // namespace tare::recorder
