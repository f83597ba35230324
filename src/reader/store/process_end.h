// Whether the end of a process is in the files.
#pragma once

#include "format/process_record.h"

namespace tare::reader {

// Whether the record says how the process has ended, so that nothing of it comes later.
inline bool has_ended(const format::ProcessRecord& process) {
  return process.end != 0 && (process.flags & format::saved_living) == 0;
}

}  // namespace tare::reader
