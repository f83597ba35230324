// Traces of LiTL as runs: its events become events of the program (docs/import.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/result.h"

namespace tare::importers::litl {

struct Imported {
  std::uint64_t processes = 0, threads = 0, events = 0;
  std::uint64_t start_ns = 0, wall_ns = 0;
  std::string host;
};

// Makes a new run file of the content of `trace`; messages call it `name`. The zero of its clock is not known, so the
// first event is taken to be at `start_ns`, Unix time. On failure the file may exist.
reader::Result<Imported> import_litl(std::string_view trace, const std::string& name, const std::string& file,
                                     std::uint64_t start_ns);

}  // namespace tare::importers::litl
