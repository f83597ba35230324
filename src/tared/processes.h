// The processes of the run on this node, each represented by its segment.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "format/liveness.h"
#include "format/segment_name.h"

namespace tare::tared {

struct RunPlaces {
  std::string run_directory;
  std::string segment_directory;
  std::string run_id;
};

// `Segment` is constructed from a path and a process id, and has is_ready() and life().
template <class Segment>
class Processes {
 public:
  using Segments = std::map<std::string, std::unique_ptr<Segment>>;  // by path

  explicit Processes(const RunPlaces& places)
      : directories_{places.run_directory, places.segment_directory}, run_id_(places.run_id) {}

  // Finds new processes, and removes those whose segments are gone: gone(std::move(segment)).
  template <class Gone>
  void look(Gone gone) {
    std::map<std::string, pid_t> paths;
    for (const std::string& directory : directories_) list(directory, paths);
    for (auto entry = segments_.begin(); entry != segments_.end();) {
      if (paths.contains(entry->first)) {
        ++entry;
        continue;
      }
      gone(std::move(entry->second));
      entry = segments_.erase(entry);
    }
    for (const auto& [path, pid] : paths) {
      if (segments_.contains(path)) continue;
      auto segment = std::make_unique<Segment>(path, pid);
      if (segment->is_ready()) segments_[path] = std::move(segment);
    }
  }
  void look() {
    look([](std::unique_ptr<Segment> /*gone*/) {});
  }
  bool any_alive() const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [](const auto& entry) { return entry.second->life() == format::Life::lives; });
  }
  Segments& segments() { return segments_; }
  const Segments& segments() const { return segments_; }

 private:
  void list(const std::string& directory, std::map<std::string, pid_t>& paths) const {
    DIR* entries = opendir(directory.c_str());
    if (entries == nullptr) return;
    while (const dirent* entry = readdir(entries)) {
      const auto name = format::parse_segment_name(entry->d_name);
      struct stat status {};
      // Every user can create files with such names in shared memory.
      const bool is_ours = name && name->run_id == run_id_ &&
                           fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                           status.st_uid == geteuid();
      if (is_ours) paths[directory + "/" + entry->d_name] = static_cast<pid_t>(name->pid);
    }
    closedir(entries);
  }

  std::set<std::string> directories_;
  std::string run_id_;
  Segments segments_;
};

}  // namespace tare::tared
