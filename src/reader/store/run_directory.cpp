#include "reader/store/run_directory.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace tare::reader {
namespace {

constexpr uid_t root = 0;
constexpr mode_t open_to_all = 07;
constexpr int carefully = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
constexpr mode_t for_its_owner = 0600;

bool is_link(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

Result<RunDirectory> RunDirectory::open(const std::string& path) {
  format::Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!directory || ::fstat(directory.fd(), &status) != 0)
    return Failure{"cannot read the run directory " + path + ": " + std::strerror(errno)};
  const uid_t user = ::geteuid();
  if (user != root && status.st_uid != user && status.st_uid != root && (status.st_mode & open_to_all) != 0) {
    errno = EPERM;
    return Failure{path + " belongs to user " + std::to_string(status.st_uid) +
                   ", who has not given it to you: copy it and read the copy, or ask for a run that was made with "
                   "--group"};
  }
  return RunDirectory(std::move(directory), path, status.st_uid);
}

// root reads no more of somebody's directory than what is theirs: it may read all that links name.
bool RunDirectory::trusts(uid_t owner) const {
  const uid_t user = ::geteuid();
  return owner == owner_ || (user != root && (owner == user || owner == root));
}

Failure RunDirectory::refused(const std::string& name, const std::string& why) const {
  errno = EPERM;
  return Failure{path_ + "/" + name + " " + why};
}

Result<format::Descriptor> RunDirectory::open_file(const std::string& name, int flags) const {
  format::Descriptor folder;  // the last of those on the way
  for (std::size_t at = 0;;) {
    const std::size_t end = name.find('/', at);
    const std::string part = name.substr(at, end == std::string::npos ? end : end - at);
    if (part.empty() || part == "." || part == "..") return refused(name, "does not lie below the run directory");
    const bool is_last = end == std::string::npos;
    const int from = folder ? folder.fd() : directory_.fd();
    format::Descriptor next(
        ::openat(from, part.c_str(), carefully | (is_last ? flags : O_RDONLY | O_DIRECTORY), for_its_owner));
    if (!next) {
      const int reason = errno;
      if ((reason == ELOOP || reason == ENOTDIR) && is_link(from, part))
        return refused(name, "is a symbolic link; put the file in its place");
      if (reason == ENXIO || reason == EISDIR) return refused(name, "is not a regular file; remove it");
      errno = reason;
      return Failure{path_ + "/" + name + ": " + std::strerror(reason)};
    }
    if (!is_last) {
      folder = std::move(next);
      at = end + 1;
      continue;
    }
    struct stat status {};
    if (::fstat(next.fd(), &status) != 0 || !S_ISREG(status.st_mode))
      return refused(name, "is not a regular file; remove it");
    if ((flags & O_ACCMODE) != O_RDONLY && status.st_nlink != 1)
      return refused(name, "has a second name elsewhere, and was left alone");
    if ((flags & O_CREAT) != 0 && status.st_size == 0 && ::geteuid() == root && owner_ != root &&
        ::fchown(next.fd(), owner_, static_cast<gid_t>(-1)) == 0)
      status.st_uid = owner_;  // what root makes in somebody's directory is theirs
    if (!trusts(status.st_uid))
      return refused(name, "belongs to user " + std::to_string(status.st_uid) + ", and was left alone");
    return next;
  }
}

Result<std::vector<std::string>> RunDirectory::names(const std::string& suffix) const {
  // A descriptor of its own: reading moves on in the directory.
  format::Descriptor own(::openat(directory_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* entries = own ? ::fdopendir(own.fd()) : nullptr;
  if (entries == nullptr) return Failure{"cannot read the run directory " + path_ + ": " + std::strerror(errno)};
  own.release();  // closedir() closes it
  std::vector<std::string> found;
  while (const dirent* entry = ::readdir(entries))
    if (const std::string_view name = entry->d_name; name.ends_with(suffix) && name != suffix)
      found.emplace_back(entry->d_name);
  ::closedir(entries);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tare::reader
