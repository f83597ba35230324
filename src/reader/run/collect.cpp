#include "reader/run/collect.h"

#include <cstring>
#include <string>

#include "format/segment_name.h"
#include "reader/run/run.h"
#include "reader/store/chunk_file.h"

namespace tare::reader {
namespace {

// Stores the symbols of frames for which the run has none yet. Returns why they could not be stored; empty: they were,
// or there are none.
std::string store_symbols(const RunPaths& paths) {
  auto run = Run::open(paths);
  if (!run) return "";
  std::string payload;
  for (const FrameInfo& frame : run->new_symbols()) append_symbol(payload, frame.at, frame.symbol);
  if (payload.empty() || run->files().names.empty()) return "";
  ChunkFile file(paths.run_dir, run->files().names.front());
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::symbols;
  if (file.append(identity, payload)) return "";
  return "the names of call sites could not be stored (" + std::string(std::strerror(file.error())) +
         "): they are shown as long as the program stays as it is";
}

}  // namespace

Result<Collected> collect(const RunPaths& paths, const Collecting& how) {
  if (paths.segment_dir.empty() || paths.run_id.empty())
    return Failure{"collecting needs the segment directory and the id of the run"};
  if (!format::is_run_id(paths.run_id)) return Failure{"the id of a run is 16 hexadecimal digits"};
  const auto files = RunFiles::open(paths.run_dir);
  if (!files) return files.failure();
  Collecting with_files = how;
  with_files.files = &*files;
  Collected collected = collect_left(paths, with_files);
  // If segments were kept, the call that collects them stores the symbols.
  const std::string trouble = collected.kept == 0 ? store_symbols(paths) : "";
  if (!trouble.empty()) collected.messages.push_back(trouble);
  return collected;
}

}  // namespace tare::reader
