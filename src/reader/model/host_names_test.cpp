#include "reader/model/host_names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tare::reader {
namespace {

struct OnMachine {
  std::string host;
  std::uint32_t machine;
};

std::vector<std::string> distinguished(const std::vector<OnMachine>& all) {
  std::vector<Process> processes(all.size());
  std::vector<Process*> pointers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    format::ProcessRecord& record = processes[i].record;
    std::snprintf(record.host, sizeof record.host, "%s", all[i].host.c_str());
    record.machine = all[i].machine;
    pointers.push_back(&processes[i]);
  }
  distinguish_hosts(pointers);
  std::vector<std::string> names;
  for (const Process& process : processes) names.emplace_back(process.record.host);
  return names;
}

using Names = std::vector<std::string>;

TEST(HostNames, EqualNamesOfDifferentMachinesAreToldApart) {
  EXPECT_EQ(distinguished({{"localhost", 7}, {"localhost", 9}, {"localhost", 7}, {"localhost", 3}}),
            (Names{"localhost", "localhost (machine 2)", "localhost", "localhost (machine 3)"}));
}

TEST(HostNames, OtherNamesStay) {
  EXPECT_EQ(distinguished({{"node1", 7}, {"node2", 9}}), (Names{"node1", "node2"}));
  EXPECT_EQ(distinguished({{"node1", 7}, {"node2", 7}}), (Names{"node1", "node2"}));
  EXPECT_EQ(distinguished({{"node1", 7}, {"node1", 0}}), (Names{"node1", "node1"}));
}

TEST(HostNames, LongNamesAreCut) {
  const std::string longest(63, 'n');
  EXPECT_EQ(distinguished({{longest, 7}, {longest, 9}}), (Names{longest, std::string(51, 'n') + " (machine 2)"}));
}

}  // namespace
}  // namespace tare::reader
