#include "importers/otf2/mpi_functions.h"

#include <string>

#include "reader/store/function_names.h"

namespace tare::importers::otf2 {

MpiFunctions::MpiFunctions(const ArchiveDefinitions& definitions) {
  std::unordered_map<std::string, std::uint16_t> numbers;
  const reader::FunctionNames names;
  for (std::size_t i = 1; i < names.names().size(); ++i)
    numbers.emplace(names.names()[i], static_cast<std::uint16_t>(i));
  for (const auto& [number, region] : definitions.regions) {
    const auto found = numbers.find(definitions.text(region.name));
    if (found != numbers.end()) by_region_[number] = found->second;
  }
}

}  // namespace tare::importers::otf2
