// Call paths of all processes of a run, equal ones brought together.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "reader/number_map.h"
#include "reader/process.h"
#include "reader/symbols.h"

namespace tare::reader {

// A frame of call paths.
struct FrameInfo {
  CodeAddress at;  // native; the object is "python" for a frame in Python code
  Symbol symbol;   // empty strings and line 0 where nothing is known
  bool of_program = false;
};

// A call path.
struct SiteInfo {
  std::vector<std::int32_t> path;  // indices of frames, innermost first; never empty
  std::uint16_t flags = 0;         // format::SiteFlags
  // The frame that stands for the site: the first one in the program itself, else the innermost.
  std::size_t shown = 0;  // its place in the path
  CodeAddress at;
  Symbol symbol;
};

// Frames are equal if they lie at the same place of the same build of an object. Made for many processes that define
// the same: what is known costs a process a look-up of a few words, without memory.
class SiteIndex {
 public:
  SiteIndex(std::vector<FrameInfo>& frames, std::vector<SiteInfo>& sites) : frames_(frames), sites_(sites) {}

  // Adds what the process has defined; gives its sites their numbers in the run.
  void add(Process& process);

 private:
  struct Place {
    std::int32_t module;
    std::uint64_t address;
    bool operator==(const Place&) const = default;
  };
  struct Path {
    std::vector<std::int32_t> frames;
    std::uint16_t flags;
    bool operator==(const Path&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& place) const;
    std::size_t operator()(const Path& path) const;
  };

  void add_modules(const Process& process);
  void add_frames(const Process& process);
  void add_native(const NativeFrame& frame);
  void add_python(const PythonFrame& frame);
  SiteInfo described(const Path& path) const;

  std::vector<FrameInfo>& frames_;
  std::vector<SiteInfo>& sites_;
  std::vector<Module> modules_;
  std::unordered_map<std::string, std::int32_t> module_index_;
  std::unordered_map<Place, std::int32_t, Hash> native_index_;
  std::unordered_map<std::string, std::int32_t> python_index_;
  std::unordered_map<Path, std::int32_t, Hash> site_index_;
  // Of the process that is being added: numbers in the run.
  NumberMap module_of_, frame_of_;
  std::int32_t memory_ = -1;  // the module that stands for its memory outside all modules; -1: none yet
  Path path_;
};

}  // namespace tare::reader
