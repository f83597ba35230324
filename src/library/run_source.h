// Where the parts of a run are, from the path that a user gives.
#pragma once

#include <string>

#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::library {

// Of a run directory, with the segments that are not yet collected; or of the run of an archive that is called
// `member`, or is its only one if that is empty. Fails, with one line, if there is no such run.
reader::Result<reader::RunPaths> find_run(const std::string& path, const std::string& member);

// The value of a member of a JSON object that is a text; empty if there is none, or it has escapes. Members of objects
// within it are not found.
std::string text_of_member(std::string_view json, std::string_view name);

}  // namespace tare::library
