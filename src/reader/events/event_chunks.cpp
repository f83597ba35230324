#include "reader/events/event_chunks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "reader/store/buffer_encoder.h"

namespace tare::reader {
namespace {

using namespace tare::format;

using ChunksByBlock = std::map<std::uint32_t, std::map<std::uint32_t, ChunkRef>>;  // by block, by sequence

// Encodes the events that are still in a segment.
void read_buffers(const Process& process, BufferEncoder& encoder, EventChunks& all, ChunksByBlock& chunks) {
  const auto blocks = process.segment->locations();
  for (std::uint32_t block = 0; blocks && block < *blocks; ++block) {
    const auto buffer = process.segment->buffer(block);
    if (!buffer) {
      all.warnings.push_back(buffer.error());
      continue;
    }
    for (std::string& bytes : encoder.encode(process.record, block, *buffer).chunks) {
      const std::string& chunk = all.buffers.emplace_back(std::move(bytes));
      ChunkRef ref{{}, chunk.data() + sizeof(ChunkHeader), 0, 0};
      std::memcpy(&ref.header, chunk.data(), sizeof ref.header);
      chunks[block].emplace(ref.header.sequence, ref);
    }
  }
}

// The profile of a finished process shows which locations have no wanted call. Their chunks are not read, unless they
// have more records than the profile accounts for.
void leave_out_unwanted(const Process& process, const EventChoice& choice, ProfileReader& profiles,
                        ChunksByBlock& chunks) {
  if (process.state != State::finished || process.segment || !choice.wants_calls_only()) return;
  if (chunks.size() > 1 && process.may_hand_over()) return;
  const auto may_be_wanted = [&](const ProfileRow& row) {
    const std::uint16_t function = FunctionNames::lookup(*process.functions, row.function);
    return row.calls != 0 && (function == FunctionNames::other || choice.wants_call(function));
  };
  profiles.read(
      process.profiles,
      [&](std::uint32_t block, const Profile& profile) {
        std::uint64_t accounted = profile.summary.completions + profile.summary.flushes;
        for (const ProfileRow& row : profile.rows) accounted += row.calls;
        std::uint64_t records = 0;
        for (const auto& [sequence, chunk] : chunks[block]) records += chunk.header.records;
        if (records <= accounted && std::none_of(profile.rows.begin(), profile.rows.end(), may_be_wanted))
          chunks.erase(block);
      },
      [](const ChunkRef&, const std::string&) {});
}

// Adds a chunk. Of chunks with the same number, the one with the most records is kept.
void add(ChunksByBlock& chunks, const ChunkRef& chunk) {
  const auto [place, is_new] = chunks[chunk.header.block].try_emplace(chunk.header.sequence, chunk);
  if (!is_new && chunk.header.records >= place->second.header.records) place->second = chunk;
}

}  // namespace

Result<EventChunks> EventChunks::of(const Run& run, const EventFilter& filter, const EventChoice& choice) {
  EventChunks all;
  BufferEncoder encoder;
  ProfileReader profiles;
  std::vector<std::pair<const Process*, ChunksByBlock>> found;
  bool goes_on = false;
  for (const Process& process : run.processes()) {
    if (!filter.wants(process)) continue;
    auto& chunks = found.emplace_back(&process, ChunksByBlock{}).second;
    if (!process.segment) continue;
    read_buffers(process, encoder, all, chunks);
    goes_on = true;
  }
  // Files are read after the buffers, so that what is drained in between is found at least once.
  std::unordered_map<std::uint64_t, std::vector<ChunkRef>> again;
  if (goes_on) {
    auto files = RunFiles::open(run.paths().run_dir);
    if (!files) return files.failure();
    all.files = std::move(*files);
    for (const ChunkRef& chunk : all.files.chunks)
      if (chunk.header.type == ChunkType::events) again[chunk.header.process].push_back(chunk);
  }
  all.file_names = goes_on ? all.files.names : run.files().names;
  if (all.file_names.empty()) all.file_names.emplace_back("segment");
  for (auto& [process, chunks] : found) {
    // All events of a process that overwrites are in its segment. A keeper may have saved older ones.
    if (!process->segment || (process->record.flags & overwrites) == 0)
      for (const ChunkRef& chunk : goes_on ? again[process->id] : process->events) add(chunks, chunk);
    leave_out_unwanted(*process, choice, profiles, chunks);
    for (const auto& [block, by_sequence] : chunks) {
      if (is_of_tared(block) && !choice.wants_drains()) continue;
      Block& added = all.blocks.emplace_back(Block{process, {}});
      for (const auto& [sequence, chunk] : by_sequence) added.chunks.push_back(chunk);
    }
  }
  return all;
}

Result<EventChunks> EventChunks::of(const Run& run) {
  const EventFilter all;
  return of(run, all, EventChoice(run, all));
}

}  // namespace tare::reader
