// Runs as OTF2 archives: seeds for the fuzzer of the importer.
#pragma once

#include <string>

namespace tare::fuzz {

// What import_fuzz takes, of the file of a run; empty if it holds no events.
std::string archive_of_run(const std::string& file);

}  // namespace tare::fuzz
