#include "reader/model/host_names.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace tare::reader {
namespace {

Process on_machine(const char* host, std::uint32_t machine) {
  Process process;
  std::snprintf(process.record.host, sizeof process.record.host, "%s", host);
  process.record.machine = machine;
  return process;
}

std::vector<std::string> distinguished(std::vector<Process> processes) {
  std::vector<Process*> pointers;
  for (Process& process : processes) pointers.push_back(&process);
  distinguish_hosts(pointers);
  std::vector<std::string> names;
  for (const Process& process : processes) names.emplace_back(process.record.host);
  return names;
}

using Names = std::vector<std::string>;

TEST(HostNames, EqualNamesOfDifferentMachinesAreToldApart) {
  EXPECT_EQ(distinguished({on_machine("localhost", 7), on_machine("localhost", 9), on_machine("localhost", 7),
                           on_machine("localhost", 3)}),
            (Names{"localhost", "localhost (machine 2)", "localhost", "localhost (machine 3)"}));
}

TEST(HostNames, OtherNamesStay) {
  EXPECT_EQ(distinguished({on_machine("node1", 7), on_machine("node2", 9)}), (Names{"node1", "node2"}));
  EXPECT_EQ(distinguished({on_machine("node1", 7), on_machine("node2", 7)}), (Names{"node1", "node2"}));
  EXPECT_EQ(distinguished({on_machine("node1", 7), on_machine("node1", 0)}), (Names{"node1", "node1"}));
}

TEST(HostNames, LongNamesAreCut) {
  const std::string longest(63, 'n');
  EXPECT_EQ(distinguished({on_machine(longest.c_str(), 7), on_machine(longest.c_str(), 9)}),
            (Names{longest, std::string(51, 'n') + " (machine 2)"}));
}

}  // namespace
}  // namespace tare::reader
