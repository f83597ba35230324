// Whatever a file of a run directory holds, reading it neither crashes nor reads outside it.
#include "read_all.h"

using namespace tare;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  std::string file(reinterpret_cast<const char*>(data), bytes);
  if (bytes % 2 == 0) fuzz::repair_checksums(file);
  if (auto run = reader::Run::of_memory(file)) fuzz::read_all(*run);
  return 0;
}
