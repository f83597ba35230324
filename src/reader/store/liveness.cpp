#include "reader/store/liveness.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tare::reader {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

File open_of(unsigned pid, const char* what) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
  return File(std::fopen(path, "re"));
}

// State letter of the process; 0 if there is none.
char state_of(unsigned pid) {
  const File file = open_of(pid, "stat");
  char line[512];
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return 0;
  const char* name_end = std::strrchr(line, ')');  // a name may hold anything
  return name_end != nullptr && name_end[1] == ' ' ? name_end[2] : 0;
}

}  // namespace

bool is_stopped(unsigned pid) {
  const char state = state_of(pid);
  return state == 'T' || state == 't';
}

bool is_alive(unsigned pid, const std::string& segment) {
  const char state = pid == 0 ? 0 : state_of(pid);
  if (state == 0 || state == 'Z' || state == 'X') return false;
  errno = 0;
  const File maps = open_of(pid, "maps");
  if (!maps) return errno == EACCES || errno == EPERM;
  char* line = nullptr;
  std::size_t capacity = 0;
  bool found = false;
  while (!found && ::getline(&line, &capacity, maps.get()) > 0) found = std::strstr(line, segment.c_str()) != nullptr;
  const bool refused = std::ferror(maps.get()) != 0 && (errno == EACCES || errno == EPERM);
  std::free(line);
  return found || refused;
}

}  // namespace tare::reader
