// The files that calls of POSIX and stdio work on, by the object of their records.
#pragma once

#include <cstdint>
#include <map>

#include "reader/run/run.h"
#include "reader/store/file_table.h"

namespace tare::reader {

// Reads the table of a process when a file of it is asked for. The run must outlive it. Not thread-safe.
class UsedFileNames {
 public:
  explicit UsedFileNames(const Run& run) : run_(run) {}

  // The file that a call of the function works on; nullptr: none, or not known. `process`: index in Run::processes().
  const UsedFiles::File* find(std::uint32_t process, std::uint16_t function, std::uint32_t object);

 private:
  const Run& run_;
  std::map<std::uint32_t, UsedFiles> known_;
};

}  // namespace tare::reader
