#include "reader/model/host_names.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace tare::reader {
namespace {

// A name that is too long for the record loses its end.
void add_to_name(format::ProcessRecord& record, const std::string& added) {
  const std::size_t length = strnlen(record.host, sizeof record.host);
  const std::size_t at = std::min(length, sizeof record.host - 1 - added.size());
  std::memcpy(record.host + at, added.c_str(), added.size() + 1);
}

}  // namespace

void distinguish_hosts(const std::vector<Process*>& processes) {
  std::map<std::string, std::vector<std::uint32_t>> machines_of;
  for (Process* process : processes) {
    format::ProcessRecord& record = process->record;
    if (record.machine == 0) continue;
    std::vector<std::uint32_t>& machines = machines_of[record.host];
    const auto known = std::find(machines.begin(), machines.end(), record.machine);
    const auto number = known - machines.begin();
    if (known == machines.end()) machines.push_back(record.machine);
    if (number != 0) add_to_name(record, " (machine " + std::to_string(number + 1) + ')');
  }
}

}  // namespace tare::reader
