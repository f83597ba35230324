#include "recorder/kept_results.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "recorder/node_file.h"
#include "recorder/node_words.h"
#include "recorder/room.h"
#include "recorder/warning.h"

namespace tare::recorder {
namespace {

// strerror() may allocate memory.
const char* reason_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return " (there is no such directory)";
    case EROFS:
      return " (its file system is read-only)";
    case EACCES:
    case EPERM:
      return " (permission denied)";
    case EFBIG:
      return " (the limit of the size of files, ulimit -f)";
    case ENOSPC:
    case EDQUOT:
      return " (disk full)";
    default:
      return "";
  }
}

}  // namespace

void tell_kept(const format::SegmentHeader& segment, int error) noexcept {
  if (node_words->told_kept.exchange(1, std::memory_order_relaxed) != 0) return;
  constinit static char text[2 * PATH_MAX + 512] = "";  // too large for the stacks of some threads
  const char* path = node_file_path();
  const char* slash = std::strrchr(path, '/');
  const int bytes = slash == nullptr ? 0 : static_cast<int>(slash - path);
  std::snprintf(text, sizeof text,
                "%.63s: cannot write to %.*s%s: until it can be written there, results stay in %s of that host; then "
                "`tare recover %.*s` there takes them",
                segment.process.host, bytes, path, reason_of(error), shared_memory, bytes, path);
  warn(text);
}

}  // namespace tare::recorder
