// Everything that a reader asks a run.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "format/chunk.h"
#include "reader/current_calls.h"
#include "reader/event_stream.h"
#include "reader/locations.h"
#include "reader/run.h"

namespace tare::fuzz {

inline void read_all(reader::Run& run) {
  run.profile_sums(
      {.world = true, .rank = true, .function = true, .site = true, .communicator = true, .size_class = true});
  run.samples([](std::size_t, const reader::Samples&) {});
  run.sites();
  locations_of(run);
  current_calls(run);
  for (std::size_t i = 0; i < run.processes().size(); ++i) account_of(run.processes()[i], run.totals(i));
  auto events = reader::EventStream::open(run, {});
  while (events && !events->next(100).empty()) continue;
}

// Checksums would keep the fuzzer out: makes them right, header by header, as a scanner walks.
inline void repair_checksums(std::string& file) {
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

}  // namespace tare::fuzz
