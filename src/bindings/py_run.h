// A run as Python has it: tare._native.Run.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "reader/run/run.h"

namespace tare::bindings {

class PyRun {
 public:
  explicit PyRun(const reader::RunPaths& paths);
  explicit PyRun(reader::Run run) : shared_(std::make_shared<Shared>(std::move(run))) {}

  reader::Run& run() { return shared_->run; }
  // Warnings of the run, and of its events as they were read last.
  std::vector<std::string> warnings() const;
  void set_stream_warnings(const std::vector<std::string>& warnings) { shared_->set_stream_warnings(warnings); }

  // The state that tables of events keep. Tables may outlive this object, and threads without the interpreter lock read
  // them.
  struct Shared {
    explicit Shared(reader::Run opened) : run(std::move(opened)) {}
    void set_stream_warnings(const std::vector<std::string>& warnings);

    reader::Run run;
    std::mutex lock;  // of the warnings
    std::vector<std::string> stream_warnings;
  };
  const std::shared_ptr<Shared>& shared() const { return shared_; }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace tare::bindings
