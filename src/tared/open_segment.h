// The segment of a process of the run, opened by tared. The process may change its content at any time.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "format/descriptor.h"
#include "format/liveness.h"
#include "format/segment_layout.h"
#include "format/segment_name.h"

namespace tare::tared {

// Whether the process that started tared exists. It is identified by a pidfd if the kernel has them, so a later process
// with the same id is not taken for it. A zombie counts as ended.
class Watched {
 public:
  explicit Watched(pid_t pid);
  bool is_there() const;

 private:
  pid_t pid_;
  format::Descriptor process_;
};

// A part of a file, mapped shared; nothing if the file is shorter.
class Mapping {
 public:
  Mapping(int fd, std::uint64_t offset, std::uint64_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  explicit operator bool() const { return memory_ != nullptr; }
  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  std::uint64_t bytes_;
  void* memory_;
};

class OpenSegment {
 public:
  OpenSegment(const std::string& path, pid_t pid);

  // False if it is from another build or user, or its process has not filled in its head yet.
  bool is_ready() const { return ready_; }
  format::Life life() const;

  // A checked copy of its head. The layout must be taken only from here.
  format::SegmentHeader& header() { return *header_; }
  const format::SegmentHeader& header() const { return *header_; }
  // The live head.
  format::SegmentHeader& shared() const { return *shared_header_->as<format::SegmentHeader>(); }
  int fd() const { return file_.fd(); }

  // The number of location blocks now; at most as many as a process can have.
  std::uint32_t locations() const;
  // The offset of a block in the file.
  std::uint64_t location_at(std::uint32_t block) const {
    return header_->locations_at + block * header_->location_stride;
  }

 private:
  bool take_header();

  std::string name_;
  pid_t pid_;  // in its own PID namespace
  format::Descriptor file_;
  std::unique_ptr<Mapping> shared_header_;
  std::unique_ptr<format::SegmentHeader> header_;
  bool ready_ = false;
};

// The processes of the run on this node, each represented by its segment.
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
