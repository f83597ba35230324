// Finds the parts of a run from the path that a user gives.
#pragma once

#include <string>

#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::library {

// `path`: a run directory, whose segments are found, too, or an archive. `member`: a run of the archive; empty: its
// only run. Fails, with one line, if there is no such run.
reader::Result<reader::RunPaths> find_run(const std::string& path, const std::string& member);

// The text value of a member of a JSON object; empty if there is none, or it contains escapes. Members of nested
// objects are not found.
std::string text_of_member(std::string_view json, std::string_view name);

}  // namespace tare::library
