#include "tared/monitor/chosen.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tare::tared {
namespace {

using namespace format;

// Entries of a definition log.
template <class Definition>
std::string entry_of(Definition definition, DefinitionKind kind, const std::string& behind) {
  std::string entry(sizeof definition, '\0');
  definition.head = {kind, 0, 0};
  std::memcpy(entry.data(), &definition, sizeof definition);
  return entry + behind;
}
std::string module(std::uint32_t number, const std::string& path) {
  ModuleDefinition definition{};
  definition.module = number;
  definition.path_bytes = static_cast<std::uint32_t>(path.size());
  return entry_of(definition, DefinitionKind::module, path);
}
std::string frame(std::uint32_t number, std::uint32_t module, std::uint64_t address) {
  FrameDefinition definition{};
  definition.frame = number;
  definition.module = module;
  definition.address = address;
  return entry_of(definition, DefinitionKind::frame, "");
}
std::string python_frame(std::uint32_t number, std::uint32_t line, const std::string& file) {
  PythonFrameDefinition definition{};
  definition.frame = number;
  definition.line = line;
  definition.file_bytes = static_cast<std::uint32_t>(file.size());
  return entry_of(definition, DefinitionKind::python_frame, file);
}
std::string site(std::uint32_t number, const std::vector<std::uint32_t>& frames) {
  SiteDefinition definition{};
  definition.site = number;
  definition.frames = static_cast<std::uint32_t>(frames.size());
  return entry_of(definition, DefinitionKind::site,
                  {reinterpret_cast<const char*>(frames.data()), frames.size() * sizeof(std::uint32_t)});
}

std::string label_of(const CallSites& sites, std::uint32_t site) {
  const std::string* label = sites.label_of(site);
  return label == nullptr ? "-" : *label;
}

TEST(ChosenSites, AreFoundByTheirFrames) {
  const ChosenSites chosen(
      "policy=lossy,site=solver.c:7=app+0x10-0x20=lib.so+0x8-0x9,site=main.py:5,site=app+0x40,region=1:site=app+0x99");
  ASSERT_TRUE(chosen.any());
  CallSites sites;
  for (const std::string& entry : {module(1, "/home/me/app"),
                                   module(2, "lib.so"),
                                   frame(1, 1, 0x10),
                                   frame(2, 1, 0x11),
                                   frame(3, 1, 0x20),
                                   frame(4, 1, 0x21),
                                   frame(5, 2, 0x9),
                                   frame(6, 1, 0x40),
                                   frame(7, 9, 0x11),
                                   python_frame(8, 5, "/x/main.py"),
                                   python_frame(9, 6, "/x/main.py"),
                                   frame(10, 1, 0x99),
                                   site(1, {1}),
                                   site(2, {1, 2}),
                                   site(3, {3}),
                                   site(4, {4}),
                                   site(5, {5, 2}),
                                   site(6, {6, 2}),
                                   site(7, {7, 77}),
                                   site(8, {8}),
                                   site(9, {9}),
                                   site(10, {10})})
    sites.take(entry.data(), static_cast<std::uint32_t>(entry.size()), chosen);
  EXPECT_EQ(label_of(sites, 1), "-") << "the call ends before the place";
  EXPECT_EQ(label_of(sites, 2), "solver.c:7");
  EXPECT_EQ(label_of(sites, 3), "solver.c:7");
  EXPECT_EQ(label_of(sites, 4), "-");
  EXPECT_EQ(label_of(sites, 5), "solver.c:7");
  EXPECT_EQ(label_of(sites, 6), "app+0x40") << "the innermost";
  EXPECT_EQ(label_of(sites, 7), "-");
  EXPECT_EQ(label_of(sites, 8), "main.py:5");
  EXPECT_EQ(label_of(sites, 9), "-");
  EXPECT_EQ(label_of(sites, 10), "-") << "a region may be called anything";
  EXPECT_EQ(label_of(sites, 11), "-");
}

TEST(ChosenSites, WithoutAnyNothingIsChosen) {
  EXPECT_FALSE(ChosenSites("policy=lossy,only=MPI_*").any());
  EXPECT_FALSE(ChosenSites("site=,site==,site=nowhere,site=solver.c:7").any());
}

TEST(ChosenSites, EntriesThatMakeNoSenseAreLeftOut) {
  const ChosenSites chosen("site=app+0x10-0x20");
  CallSites sites;
  for (std::string entry : {module(1, "app"), frame(1, 1, 0x11), site(1, {1})})
    for (std::uint32_t bytes = 0; bytes < entry.size(); ++bytes) sites.take(entry.data(), bytes, chosen);
  EXPECT_EQ(sites.label_of(1), nullptr);
}

}  // namespace
}  // namespace tare::tared
