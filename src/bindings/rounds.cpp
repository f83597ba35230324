#include "bindings/rounds.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>

#include "bindings/convert.h"
#include "reader/store/round_chunks.h"

namespace tare::bindings {

using namespace nb::literals;

namespace {

reader::Result<reader::MappedFile> of_run(const std::filesystem::path& path) {
  const auto directory = reader::RunDirectory::open(path.parent_path().string());
  if (!directory) return directory.failure();
  return reader::MappedFile::open(*directory, path.filename().string());
}

}  // namespace

void define_rounds(nb::module_& module) {
  module.def(
      "round_chunks",
      [](const std::filesystem::path& path, std::uint64_t begin, std::optional<std::uint64_t> end) {
        const reader::RoundChunks found = [&] {
          const nb::gil_scoped_release unlocked;
          const auto file = end ? reader::MappedFile::open(path.string()) : of_run(path);
          if (!file) throw Error(file.error());
          return unwrap(reader::read_round_chunks(*file, path.string(), begin, end));
        }();
        nb::list payloads;
        for (const auto& payload : found.payloads) payloads.append(nb::bytes(payload.data(), payload.size()));
        return nb::make_tuple(payloads, found.next, found.is_all);
      },
      "path"_a, "begin"_a = 0, "end"_a = nb::none(),
      "Payloads of the chunks of rounds in these bytes of a file, or in the first of them; where the next ones will "
      "be; whether these were all that are there. With `end` the file is an archive, else one of a run.");
}

}  // namespace tare::bindings
