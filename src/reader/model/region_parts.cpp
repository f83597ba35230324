#include "reader/model/region_parts.h"

#include <algorithm>
#include <string_view>

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

}  // namespace

std::vector<RegionRole> region_roles(const FunctionNames& names) {
  std::vector<RegionRole> roles;
  for (std::size_t i = 0; i < names.names().size(); ++i) {
    const auto number = static_cast<std::uint16_t>(i);
    const std::string_view name = names.name(number);
    RegionRole role = RegionRole::none;
    if (names.source(number) == "openmp") {
      if (name == "omp_parallel") role = RegionRole::region;
      if (name == "omp_implicit_task") role = RegionRole::part;
      if (name == "omp_task") role = RegionRole::task;
      if (format::meaning_of(number).waits != format::Waits::nobody) role = RegionRole::wait;
    }
    roles.push_back(role);
  }
  return roles;
}

void add_region_parts(std::vector<RegionPart>& parts, const FunctionNames::Map& functions,
                      const std::vector<RegionRole>& roles, const Profile& profile) {
  for (const format::ProfileRow& row : profile.rows) {
    const RegionRole role = roles[FunctionNames::lookup(functions, row.function)];
    if (role == RegionRole::none || row.calls == 0 || row.communicator == 0) continue;
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
