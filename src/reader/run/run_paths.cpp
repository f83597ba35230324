#include "reader/run/run_paths.h"

#include <filesystem>

namespace tare::reader {

std::vector<std::string> segment_directories(const RunPaths& paths) {
  std::error_code error;
  if (paths.segment_dir.empty() || std::filesystem::equivalent(paths.segment_dir, paths.run_dir, error))
    return {paths.segment_dir};
  return {paths.segment_dir, paths.run_dir};
}

std::string segments_of_others(std::uint64_t count, const RunPaths& paths) {
  return std::to_string(count) + (count == 1 ? " segment in " : " segments in ") + paths.segment_dir +
         " of a run with the id of this one, but made for another run directory: left alone";
}

}  // namespace tare::reader
