// The one way to open what lies below a run directory, which somebody else may have filled.
//
// The way to the directory is the user's, and may lead through links. Below it no link is followed, and nothing is
// opened but regular files of the owner of the directory. python/tare/private_files.py is the same in Python, and has
// the reasons.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "format/descriptor.h"
#include "reader/result.h"

namespace tare::reader {

class RunDirectory {
 public:
  // Fails if there is no such directory, or if it is that of another user who has not given it to this one: by its
  // group or an access list, and not by opening it to everybody. root needs no leave.
  static Result<RunDirectory> open(const std::string& path);

  // Opens a file by a relative name. Waits for no pipe. A file to be written must have no second name, and one that
  // O_CREAT makes is for its owner alone, who is that of the directory. On failure errno has the reason, which is EPERM
  // if the file is there and is refused.
  Result<format::Descriptor> open_file(const std::string& name, int flags = O_RDONLY) const;

  // The names in the directory that end with `suffix` and are more than that, sorted.
  Result<std::vector<std::string>> names(const std::string& suffix) const;

  const std::string& path() const { return path_; }

 private:
  RunDirectory(format::Descriptor directory, std::string path, uid_t owner)
      : directory_(std::move(directory)), path_(std::move(path)), owner_(owner) {}

  bool trusts(uid_t owner) const;
  Failure refused(const std::string& name, const std::string& why) const;

  format::Descriptor directory_;
  std::string path_;
  uid_t owner_;
};

}  // namespace tare::reader
