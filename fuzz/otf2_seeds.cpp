#include "otf2_seeds.h"

#include <filesystem>
#include <iterator>

#include "archive_files.h"
#include "exporters/formats.h"
#include "reader/testing/synthetic.h"

namespace tare::fuzz {

std::string archive_of_run(const std::string& file) {
  const reader::synthetic::TempDir dir;
  auto run = reader::Run::of_memory(file);
  if (!run || !exporters::otf2::write_otf2(*run, dir.path("out"), {})) return {};
  std::string input;
  for (std::size_t which = 0; which < archive_files.size(); ++which) {
    const std::string path = dir.path("out") + "/" + archive_files[which];
    if (!std::filesystem::exists(path)) continue;
    std::ifstream source(path, std::ios::binary);
    input += packed(which, std::string{std::istreambuf_iterator<char>(source), {}});
  }
  return input;
}

}  // namespace tare::fuzz
