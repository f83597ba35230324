#include "bindings/py_run.h"
#include "bindings/convert.h"

namespace tare::bindings {
namespace {

reader::Run open(const reader::RunPaths& paths) {
  const nb::gil_scoped_release unlocked;
  return unwrap(reader::Run::open(paths));
}

}  // namespace

PyRun::PyRun(const reader::RunPaths& paths) : shared_(std::make_shared<Shared>(open(paths))) {}

std::vector<std::string> PyRun::warnings() const {
  std::vector<std::string> all = shared_->run.warnings();
  const std::scoped_lock locked(shared_->lock);
  all.insert(all.end(), shared_->stream_warnings.begin(), shared_->stream_warnings.end());
  return all;
}

void PyRun::Shared::set_stream_warnings(const std::vector<std::string>& warnings) {
  const std::scoped_lock locked(lock);
  stream_warnings = warnings;
}

}  // namespace tare::bindings
