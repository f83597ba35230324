// Whatever a file of a run directory holds, reading it neither crashes nor reads outside it. Checksums would
// keep the fuzzer out, so they are made right first: header by header, as the scanner walks.
#include <cstring>
#include <string>

#include "format/chunk.h"
#include "reader/event_stream.h"

using namespace tare;

static void repair_checksums(std::string& file) {
  format::ChunkHeader header;
  for (std::size_t at = 0; file.size() - at >= sizeof header;) {
    std::memcpy(&header, &file[at], sizeof header);
    const std::size_t room = file.size() - at - sizeof header;
    if (header.stored_bytes > room) header.stored_bytes = static_cast<std::uint32_t>(room);
    format::seal(header, &file[at] + sizeof header);
    std::memcpy(&file[at], &header, sizeof header);
    at += sizeof header + header.stored_bytes;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  std::string file(reinterpret_cast<const char*>(data), bytes);
  if (bytes % 2 == 0) repair_checksums(file);
  auto run = reader::Run::of_memory(file);
  if (!run) return 0;
  run->profile();
  run->sites();
  for (const reader::Process& process : run->processes()) account_of(process, totals_of(process, run->functions()));
  auto events = reader::EventStream::open(*run, {});
  while (events && !events->next(100).empty()) continue;
  return 0;
}
