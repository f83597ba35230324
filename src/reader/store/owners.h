// Whose files a reader of a run believes. Segments lie in a directory where everybody may make files of any name.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace tare::reader {

// This user, and the owner of the run directory: root, or a member of the run's group, reads what that one made.
class Owners {
 public:
  explicit Owners(const std::string& run_dir) {
    struct stat status {};
    if (::stat(run_dir.c_str(), &status) == 0) of_run_ = status.st_uid;
  }
  bool trust(const struct stat& file) const {
    return S_ISREG(file.st_mode) && (file.st_uid == ::geteuid() || file.st_uid == of_run_);
  }

 private:
  std::optional<uid_t> of_run_;
};

}  // namespace tare::reader
