// Finds the parts of a run from the path that a user gives.
#pragma once

#include <string>

#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::library {

// The parts of a run directory, with segments that were not collected; or of the run `member` of an archive, or of its
// only run if `member` is empty. Fails, with one line, if there is no such run.
reader::Result<reader::RunPaths> find_run(const std::string& path, const std::string& member);

// The text value of a member of a JSON object; empty if there is none, or it contains escapes. Members of nested
// objects are not found.
std::string text_of_member(std::string_view json, std::string_view name);

}  // namespace tare::library
