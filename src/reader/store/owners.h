// The owners whose files a reader of a run trusts. Segments lie in a directory in which every user may create files.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace tare::reader {

// Trusted are the current user and the owner of the run directory. The two differ if root, or a member of the group of
// the run, reads it.
class Owners {
 public:
  explicit Owners(const std::string& run_dir) {
    struct stat status {};
    if (::stat(run_dir.c_str(), &status) == 0) of_run_ = status.st_uid;
  }
  // Whether this is a regular file of a trusted owner.
  bool trust(const struct stat& file) const {
    return S_ISREG(file.st_mode) && (file.st_uid == ::geteuid() || file.st_uid == of_run_);
  }

 private:
  std::optional<uid_t> of_run_;
};

}  // namespace tare::reader
