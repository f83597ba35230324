#include "reader/run_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "reader/archive.h"

namespace tare::reader {
namespace {

using format::ChunkHeader;
using format::ChunkType;

struct EventChunkKey {
  std::uint64_t process;
  std::uint64_t block_sequence;
  bool operator==(const EventChunkKey&) const = default;
};
struct Hash {
  std::size_t operator()(const EventChunkKey& key) const {
    return (key.process * 0x9e3779b97f4a7c15) ^ (key.block_sequence * 0xc2b2ae3d27d4eb4f);
  }
};

// A collector that was killed leaves copies when it runs again.
void remove_copies(std::vector<ChunkRef>& chunks) {
  std::unordered_set<EventChunkKey, Hash> seen;
  std::erase_if(chunks, [&](const ChunkRef& chunk) {
    const ChunkHeader& h = chunk.header;
    return h.type == ChunkType::events && !seen.insert({h.process, std::uint64_t{h.block} << 32 | h.sequence}).second;
  });
}

bool add(RunFiles& files, std::string_view bytes, const std::string& name, std::string& error) {
  auto scan = scan_chunks(bytes, name, static_cast<std::uint32_t>(files.names.size()));
  if (!scan) {
    error = scan.error();
    return false;
  }
  files.names.push_back(name);
  files.chunks.insert(files.chunks.end(), scan->chunks.begin(), scan->chunks.end());
  files.warnings.insert(files.warnings.end(), scan->warnings.begin(), scan->warnings.end());
  return true;
}

}  // namespace

Result<RunFiles> RunFiles::open(const std::string& run_dir) {
  std::error_code failed;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator entry(run_dir, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (entry->path().extension() == ".tare") paths.push_back(entry->path());
  if (failed) return Failure{"cannot read the run directory " + run_dir + ": " + failed.message()};
  std::sort(paths.begin(), paths.end());
  RunFiles files;
  std::string error;
  for (const auto& path : paths) {
    auto map = MappedFile::open(path);
    if (!map) return map.failure();
    if (is_archive(map->bytes())) {
      files.warnings.push_back(path.filename().string() + " is an archive, no part of this run, and was left out");
      continue;
    }
    if (!add(files, map->bytes(), path.filename(), error)) return Failure{error};
    files.maps.push_back(std::move(*map));
  }
  remove_copies(files.chunks);
  return files;
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
  std::string error;
  for (const ArchivedFile& file : found) {
    const std::string_view bytes = map->bytes().substr(file.offset, file.present);
    if (!is_archive(bytes) && !add(files, bytes, file.name, error)) return Failure{error};
  }
  files.maps.push_back(std::move(*map));
  remove_copies(files.chunks);
  return files;
}

Result<RunFiles> RunFiles::of_memory(std::string_view bytes, const std::string& name) {
  RunFiles files;
  std::string error;
  if (!add(files, bytes, name, error)) return Failure{error};
  remove_copies(files.chunks);
  return files;
}

}  // namespace tare::reader
