#include "reader/store/run_files.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "reader/parallel.h"
#include "reader/store/archive.h"
#include "reader/store/process_end.h"
#include "reader/store/run_directory.h"

namespace tare::reader {
namespace {

using format::ChunkHeader;
using format::ChunkType;

struct Key {
  std::uint64_t process;
  std::uint64_t part;  // a block, or a block and a sequence
  bool operator==(const Key&) const = default;
};
struct Hash {
  std::size_t operator()(const Key& key) const {
    return (key.process * 0x9e3779b97f4a7c15) ^ (key.part * 0xc2b2ae3d27d4eb4f);
  }
};

// Processes whose full buffers overwrite, and of which profiles of a block were written more than once.
struct Overwriting {
  std::unordered_set<std::uint64_t> processes;
  std::unordered_set<const char*> ends;  // the payloads of process chunks that say that they have ended
};

Overwriting overwriting(const std::vector<ChunkRef>& chunks) {
  std::unordered_set<Key, Hash> once;
  std::unordered_set<std::uint64_t> often;
  for (const ChunkRef& chunk : chunks)
    if (chunk.header.type == ChunkType::profile && !once.insert({chunk.header.process, chunk.header.location}).second)
      often.insert(chunk.header.process);
  Overwriting found;
  std::vector<char> raw;
  std::string reason;
  for (const ChunkRef& chunk : chunks) {
    if (chunk.header.type != ChunkType::process || !often.contains(chunk.header.process)) continue;
    format::ProcessRecord record{};
    if (!load_chunk(chunk, raw, reason) || raw.size() > sizeof record) continue;
    std::memcpy(&record, raw.data(), raw.size());
    if ((record.flags & format::overwrites) == 0) continue;
    found.processes.insert(chunk.header.process);
    if (has_ended(record)) found.ends.insert(chunk.payload);
  }
  return found;
}

// Whoever writes the events of a process whose full buffers overwrite writes whole buffers, each behind its profile.
// The newest buffer counts: with older ones, there would be holes between them, and events that were not to be kept. A
// keeper may have been killed before it came to the events. A process that has written its end has written all of them.
void remove_older_buffers(std::vector<ChunkRef>& chunks) {
  const Overwriting which = overwriting(chunks);
  if (which.processes.empty()) return;
  struct Newest {
    bool has_events = false, is_known = false;
  };
  std::unordered_map<Key, Newest, Hash> newest;
  std::unordered_set<std::uint64_t> ended;
  const auto is_older = [&](const ChunkRef& chunk) {  // asked from the last chunk on
    const ChunkHeader& h = chunk.header;
    if (!which.processes.contains(h.process)) return false;
    if (h.type == ChunkType::process && which.ends.contains(chunk.payload)) ended.insert(h.process);
    if (h.type == ChunkType::profile) {
      Newest& of = newest[{h.process, h.location}];
      of.is_known = of.is_known || of.has_events || ended.contains(h.process);
    }
    if (h.type != ChunkType::events) return false;
    Newest& of = newest[{h.process, h.block}];
    of.has_events = true;
    return of.is_known;
  };
  chunks.erase(chunks.begin(), std::remove_if(chunks.rbegin(), chunks.rend(), is_older).base());
}

// Removes copies of event chunks; keeps the copy with the most records. Copies exist if a collector was killed and ran
// again. A process that continues after MPI_Abort writes the same chunk again at its end, with more records.
void remove_copies(std::vector<ChunkRef>& chunks) {
  remove_older_buffers(chunks);
  std::unordered_map<Key, std::size_t, Hash> places;  // indices in `chunks` of the copies that are kept
  std::size_t end = 0;
  for (const ChunkRef& chunk : chunks) {
    const ChunkHeader& h = chunk.header;
    if (h.type == ChunkType::events) {
      const auto [place, is_new] = places.try_emplace({h.process, std::uint64_t{h.block} << 32 | h.sequence}, end);
      if (!is_new) {
        if (h.records > chunks[place->second].header.records) chunks[place->second] = chunk;
        continue;
      }
    }
    chunks[end++] = chunk;
  }
  chunks.resize(end);
}

// Scans the files in parallel and adds their chunks in the order of `named`. Returns the first failure, if there is
// one.
std::optional<Failure> add(RunFiles& files, const std::vector<std::pair<std::string, std::string_view>>& named) {
  constexpr std::size_t files_a_thread = 4;
  std::vector<std::optional<Result<ChunkScan>>> scans(named.size());
  const std::size_t first = files.names.size();
  parallel(named.size(), threads_for(named.size(), files_a_thread), [&](unsigned, std::size_t i) {
    scans[i] = scan_chunks(named[i].second, named[i].first, static_cast<std::uint32_t>(first + i));
  });
  for (std::size_t i = 0; i < named.size(); ++i) {
    Result<ChunkScan>& scan = *scans[i];
    if (!scan) return scan.failure();
    files.names.push_back(named[i].first);
    files.chunks.insert(files.chunks.end(), scan->chunks.begin(), scan->chunks.end());
    files.warnings.insert(files.warnings.end(), scan->warnings.begin(), scan->warnings.end());
  }
  return std::nullopt;
}

}  // namespace

void RunFiles::release() const {
  for (const MappedFile& map : maps) map.release();
}

Result<RunFiles> RunFiles::open(const std::string& run_dir, const std::string& prefix) {
  const auto directory = RunDirectory::open(run_dir);
  if (!directory) return directory.failure();
  const auto names = directory->names(".tare");
  if (!names) return names.failure();
  RunFiles files;
  std::vector<std::pair<std::string, std::string_view>> named;
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix)) continue;
    auto map = MappedFile::open(*directory, name);
    if (!map) return map.failure();
    if (is_archive(map->bytes())) {
      files.warnings.push_back(name + " is an archive, no part of this run, and was left out");
      continue;
    }
    named.emplace_back(name, map->bytes());
    files.maps.push_back(std::move(*map));
  }
  if (auto failure = add(files, named)) return *std::move(failure);
  remove_copies(files.chunks);
  return files;
}

std::optional<Failure> RunFiles::add_answers(const std::string& run_dir, const std::vector<std::string>& files) {
  if (files.empty()) return std::nullopt;
  const auto directory = RunDirectory::open(run_dir);
  if (!directory) return directory.failure();
  std::vector<std::pair<std::string, std::string_view>> named;
  for (const std::string& name : files) {
    auto map = MappedFile::open(*directory, name);
    if (!map) return map.failure();
    if (!map->bytes().ends_with(end_of_answer)) return Failure{name + " is no complete answer"};
    named.emplace_back(name, map->bytes().substr(0, map->bytes().size() - end_of_answer.size()));
    maps.push_back(std::move(*map));
  }
  answers = names.size();
  return add(*this, named);
}

Result<RunFiles> RunFiles::open_archived(const std::string& archive, const std::string& member) {
  auto map = MappedFile::open(archive);
  if (!map) return map.failure();
  auto index = ArchiveIndex::of_memory(map->bytes(), archive);
  if (!index) return index.failure();
  std::vector<ArchivedFile> found;
  for (ArchivedFile& file : index->files)
    if (file.member == member && file.name.find('/') == std::string::npos && file.name.ends_with(".tare"))
      found.push_back(std::move(file));
  std::sort(found.begin(), found.end(), [](const ArchivedFile& a, const ArchivedFile& b) { return a.name < b.name; });
  RunFiles files;
  files.warnings = std::move(index->warnings);
  std::vector<std::pair<std::string, std::string_view>> named;
  for (const ArchivedFile& file : found) {
    const std::string_view bytes = map->bytes().substr(file.offset, file.present);
    if (!is_archive(bytes)) named.emplace_back(file.name, bytes);
  }
  if (auto failure = add(files, named)) return *std::move(failure);
  files.maps.push_back(std::move(*map));
  remove_copies(files.chunks);
  return files;
}

Result<RunFiles> RunFiles::of_memory(std::string_view bytes, const std::string& name) {
  RunFiles files;
  if (auto failure = add(files, {{name, bytes}})) return *std::move(failure);
  remove_copies(files.chunks);
  return files;
}

}  // namespace tare::reader
