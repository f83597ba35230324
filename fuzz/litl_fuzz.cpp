// Whatever a trace of LiTL holds, importing it neither crashes nor reads outside its memory, and what it makes is read.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "directory.h"
#include "importers/litl/import_litl.h"
#include "read_all.h"

using namespace tare;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  static const fuzz::Directory directory;
  const std::string file = directory.root + "/imported.tare";
  std::filesystem::remove(file);
  const std::string_view trace(reinterpret_cast<const char*>(data), bytes);
  if (!importers::litl::import_litl(trace, "trace", file, 1'700'000'000'000'000'000)) return 0;
  std::ifstream made(file, std::ios::binary);
  const std::string contents{std::istreambuf_iterator<char>(made), {}};
  auto run = reader::Run::of_memory(contents);
  if (!run) std::abort();
  fuzz::read_all(*run);
  return 0;
}
