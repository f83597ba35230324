// Where what a run holds lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tare::reader {

struct RunPaths {
  std::string run_dir;
  std::string segment_dir;  // empty: look at no segments
  std::string run_id;
  std::string member{};                // if not empty, run_dir is an archive, and this is the name of a run in it
  bool is_going_on = false;            // whether somebody will yet say how the run ended
  std::string run_key{};               // format/run_key.h
  std::vector<std::string> answers{};  // names of files in run_dir: what other nodes have answered (run/answers.h)
};

// The directories where segments of the run may lie. The run directory has those for which there was no room elsewhere.
std::vector<std::string> segment_directories(const RunPaths& paths);

// The warning about segments whose key is not that of the run: its id was copied into the meta.json of another one.
std::string segments_of_others(std::uint64_t count, const RunPaths& paths);

}  // namespace tare::reader
