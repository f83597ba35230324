#include "reader/model/region_parts.h"

#include <algorithm>

#include "format/function_meaning.h"

namespace tare::reader {
namespace {

RegionPart& part_of(std::vector<RegionPart>& parts, std::uint32_t number) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const RegionPart& part) { return part.number == number; });
  if (found != parts.end()) return *found;
  parts.push_back({.number = number});
  return parts.back();
}

// src/openmp/functions.toml says what the classes are.
RegionRole role_of(const format::FunctionMeaning& means) {
  if (means.waits != format::Waits::nobody) return RegionRole::wait;
  switch (means.kind) {
    case format::CallClass::start:
      return RegionRole::region;
    case format::CallClass::local:
      return RegionRole::part;
    case format::CallClass::completion:
      return RegionRole::task;
    default:
      return RegionRole::none;
  }
}

}  // namespace

std::vector<RegionRole> region_roles(const FunctionNames& names) {
  std::vector<RegionRole> roles;
  for (std::size_t i = 0; i < names.names().size(); ++i) {
    const auto number = static_cast<std::uint16_t>(i);
    roles.push_back(names.source(number) == "openmp" ? role_of(format::meaning_of(number)) : RegionRole::none);
  }
  return roles;
}

void add_region_parts(std::vector<RegionPart>& parts, const FunctionNames::Map& functions,
                      const std::vector<RegionRole>& roles, const Profile& profile) {
  for (const format::ProfileRow& row : profile.rows) {
    const RegionRole role = roles[FunctionNames::lookup(functions, row.function)];
    if (role == RegionRole::none || row.calls == 0) continue;
    if (row.communicator == 0) {
      const bool is_lost = row.site == 0 && (role == RegionRole::region || role == RegionRole::part);
      if (is_lost) (role == RegionRole::region ? part_of(parts, 0).regions : part_of(parts, 0).parts) += row.calls;
      continue;
    }
    RegionPart& part = part_of(parts, row.communicator);
    if (role == RegionRole::region || role == RegionRole::part) part.site = std::max(part.site, row.site);
    if (role == RegionRole::region) {
      part.regions += row.calls;
      part.region_ticks += row.ticks;
    } else if (role == RegionRole::part) {
      part.parts += row.calls;
      part.part_ticks += row.ticks;
    } else {
      (role == RegionRole::wait ? part.wait_ticks : part.task_ticks) += row.ticks;
    }
  }
}

}  // namespace tare::reader
