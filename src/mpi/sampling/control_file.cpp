#include "mpi/sampling/control_file.h"

#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/sampling/message.h"
#include "recorder/clock.h"
#include "recorder/system.h"
#include "recorder/warning.h"

namespace tare::mpi::sampling {
namespace {

constexpr std::uint64_t interval_ns = 1'000'000'000;

bool name_file(char (&path)[PATH_MAX]) noexcept {
  const char* run_dir = secure_getenv("TARE_RUN_DIR");
  if (run_dir == nullptr) return false;
  std::snprintf(path, sizeof path, "%s/sample", run_dir);
  return true;
}

}  // namespace

bool ControlFile::is_due(Node* node) noexcept {
  const std::uint64_t now_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW);
  if (node != nullptr) return node->is_to_look(now_ns, interval_ns) || node->version() != version_;
  if (now_ns - looked_ns_ < interval_ns) return false;
  looked_ns_ = now_ns;
  return true;
}

// False if the file has not changed.
bool ControlFile::read(Node* node, char (&text)[max_bytes], const char*& wrong) noexcept {
  char path[PATH_MAX];
  struct stat status {};
  if (!name_file(path) || stat(path, &status) != 0) return false;
  const std::uint64_t changed_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000U +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
  const std::uint64_t version = mix(changed_ns) + static_cast<std::uint64_t>(status.st_size);
  if (node != nullptr) node->note_version(version);
  if (version == version_) return false;
  const long bytes = recorder::read_file(path, text, sizeof text - 1);
  if (bytes <= 0) return false;  // it is being written
  version_ = version;
  text[bytes] = '\0';
  text[std::strcspn(text, "\n")] = '\0';
  if (bytes >= static_cast<long>(sizeof text) - 1) wrong = "it has at most 4094 bytes";
  return true;
}

void ControlFile::warn(Node* node, const char* wrong) const noexcept {
  char path[PATH_MAX];
  if (node != nullptr && !node->is_first_to_see(version_)) return;
  if (!name_file(path)) return;
  char line[PATH_MAX + 256];
  std::snprintf(line, sizeof line, "%s: %s; nothing changes", path, wrong);
  recorder::warn(line);
}

}  // namespace tare::mpi::sampling
