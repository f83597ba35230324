#include "reader/model/site_index.h"

#include <gtest/gtest.h>

#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;

Process process_with(const std::string& log) {
  Process process;
  EXPECT_TRUE(process.definitions.apply(log));
  return process;
}

class SiteIndexTest : public testing::Test {
 protected:
  std::vector<FrameInfo> frames_;
  std::vector<SiteInfo> sites_;
  SiteIndex index_{frames_, sites_};
  SiteIndex::Workspace workspace_;
};

const std::string solver = module_definition(0, "/bin/solver", "build", format::of_program);
const std::string library = module_definition(1, "/lib/library.so", "build");

TEST_F(SiteIndexTest, WhatOneProcessDefinedIsFoundForAnother) {
  Process first = process_with(solver + library + frame_definition(1, 1, 0x10) + frame_definition(2, 0, 0x20) +
                               path_definition(1, {1, 2}) + path_definition(2, {2}));
  EXPECT_FALSE(index_.find(first, workspace_)) << "nothing is known yet";
  index_.add(first, workspace_);
  ASSERT_EQ(sites_.size(), 2U);
  EXPECT_EQ(sites_[0].shown, 1U) << "the frame in the program";

  // The same, in another order.
  const std::string known =
      library + solver + frame_definition(1, 0, 0x20) + path_definition(1, {1}) + frame_definition(2, 1, 0x10);
  Process second = process_with(known + path_definition(2, {2, 1}));
  EXPECT_TRUE(index_.find(second, workspace_));
  EXPECT_EQ(second.sites.find(1), first.sites.find(2));
  EXPECT_EQ(second.sites.find(2), first.sites.find(1));

  Process third = process_with(known + path_definition(2, {2, 1}, format::path_cut));
  EXPECT_FALSE(index_.find(third, workspace_)) << "a path that is cut is another";
  index_.add(third, workspace_);
  EXPECT_EQ(third.sites.find(1), first.sites.find(2));
  EXPECT_EQ(third.sites.find(2), 2);
  EXPECT_EQ(sites_[2].flags, format::path_cut);
  EXPECT_EQ(frames_.size(), 2U);
}

TEST_F(SiteIndexTest, AnotherBuildIsAnotherPlace) {
  Process first = process_with(solver + site_definition(1, 0, 0x10));
  index_.add(first, workspace_);
  Process second = process_with(module_definition(0, "/bin/solver", "newer") + site_definition(1, 0, 0x10));
  EXPECT_FALSE(index_.find(second, workspace_));
  index_.add(second, workspace_);
  EXPECT_NE(second.sites.find(1), first.sites.find(1));
}

TEST_F(SiteIndexTest, AddressesOfMemoryAreOfOneProcess) {
  const std::string log = site_definition(1, format::no_module, 0x7000) + site_definition(2, format::no_module, 0x7010);
  Process first = process_with(log);
  Process second = process_with(log);
  index_.add(first, workspace_);
  EXPECT_FALSE(index_.find(second, workspace_));
  index_.add(second, workspace_);
  EXPECT_EQ(sites_.size(), 4U);
}

TEST_F(SiteIndexTest, PythonFramesAreFound) {
  const std::string log = python_site_definition(1, "solve.py", "solve", 12);
  Process first = process_with(log);
  Process second = process_with(log);
  index_.add(first, workspace_);
  EXPECT_TRUE(index_.find(second, workspace_));
  Process other = process_with(python_site_definition(1, "solve.py", "solve", 13));
  EXPECT_FALSE(index_.find(other, workspace_));
}

}  // namespace
}  // namespace tare::reader
