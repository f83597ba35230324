// tare._native.Run.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "reader/run.h"

namespace tare::bindings {

class PyRun {
 public:
  PyRun(const std::string& run_dir, const std::string& segment_dir, const std::string& run_id,
        const std::string& member);

  reader::Run& run() { return run_; }
  // Of the run, and of its events as they were read last.
  std::vector<std::string> warnings() const;
  void set_stream_warnings(const std::vector<std::string>& warnings) { stream_warnings_ = warnings; }

 private:
  reader::Run run_;
  std::vector<std::string> stream_warnings_;
};

nanobind::class_<PyRun> define_run(nanobind::module_& module);

}  // namespace tare::bindings
