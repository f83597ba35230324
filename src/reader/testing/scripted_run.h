// A run that is made by hand, with a script for each rank.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/run/run.h"
#include "reader/testing/script.h"

namespace tare::reader::synthetic {

class ScriptedRun : public ::testing::Test {
 protected:
  // The run of what is in the scripts.
  void open() {
    file = run_of(ranks);
    auto opened = reader::Run::of_memory(file);
    ASSERT_TRUE(opened) << opened.error();
    run.emplace(std::move(*opened));
  }

  std::vector<Script> ranks{2};
  std::string file;  // which the run reads
  std::optional<reader::Run> run;
};

}  // namespace tare::reader::synthetic
