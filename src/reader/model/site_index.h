// The call paths of all processes of a run. Equal ones are one.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "reader/model/number_map.h"
#include "reader/model/process.h"
#include "reader/symbols/symbols.h"

namespace tare::reader {

// A frame of call paths.
struct FrameInfo {
  CodeAddress at;  // native; the object is "python" for a frame in Python code, empty if it is not known
  Symbol symbol;   // empty strings and line 0 where nothing is known
  bool of_program = false;
};

// A call path.
struct SiteInfo {
  std::vector<std::int32_t> path;  // indices of frames, innermost first; never empty
  std::uint16_t flags = 0;         // format::SiteFlags
  // The frame that is shown for the site: the first one in the program itself, else the innermost; in Run::sites(), the
  // one that distinguishes it from other sites (run/site_frames.h).
  std::size_t shown = 0;  // its place in the path
  CodeAddress at;
  Symbol symbol;
  // For each frame of the path, the function that it called, if that function made the next call by a tail call and so
  // has no frame; else empty. Empty if there are no such functions.
  std::vector<std::string> tail_calls{};
};

// Frames are equal if they lie at the same place of the same build of an object. Many processes define the same sites.
// For a process whose sites are known, this costs a look-up of a few words, without allocating and without waiting.
class SiteIndex {
 public:
  // The memory of a thread that numbers one process after another.
  struct Workspace {
    NumberMap modules, frames;         // of the process, to those of the run
    std::vector<std::int32_t> path{};  // one of its paths
    std::string key{};
  };

  SiteIndex(std::vector<FrameInfo>& frames, std::vector<SiteInfo>& sites) : frames_(frames), sites_(sites) {}

  // Gives the sites of the process their numbers in the run. False if it defines anything new: then it is to be added.
  // May run on several threads at a time, but not beside add().
  bool find(Process& process, Workspace& workspace) const;
  // Adds what the process defines that is new, and gives its sites their numbers.
  void add(Process& process, Workspace& workspace);

 private:
  struct Place {
    std::int32_t module;
    std::uint64_t address;
    bool operator==(const Place&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const;
    std::size_t operator()(const std::vector<std::int32_t>& path) const;
  };
  class Known;
  class Adding;

  template <typename Lookup>
  static bool number(Process& process, Workspace& workspace, Lookup& lookup);
  SiteInfo described(const std::vector<std::int32_t>& path, std::uint16_t flags) const;

  std::vector<FrameInfo>& frames_;
  std::vector<SiteInfo>& sites_;
  std::vector<Module> modules_;
  std::unordered_map<std::string, std::int32_t> module_index_;
  std::unordered_map<Place, std::int32_t, Hash> native_index_;
  std::unordered_map<std::string, std::int32_t> python_index_;
  std::unordered_map<std::vector<std::int32_t>, std::int32_t, Hash> site_index_;  // by path, and behind it its flags
};

}  // namespace tare::reader
