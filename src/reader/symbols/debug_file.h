// An object file and its debug information, opened with elfutils.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>

namespace tare::reader {

// Uses debug files of this machine (by build-id and .gnu_debuglink). It never asks a debuginfod server, so that looking
// at a result does not wait for a network.
class DebugFile {
 public:
  // `build_id`: raw bytes; if empty, any build of the object is accepted.
  explicit DebugFile(const std::string& path, const std::string& build_id = "");
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  // nullptr if the object does not exist or has another build-id. Valid as long as this object.
  Dwfl_Module* module() const { return module_; }
  // Address in `module` = bias + address in the object.
  Dwarf_Addr bias() const { return bias_; }

 private:
  bool is_build(const std::string& expected);

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  Dwarf_Addr bias_ = 0;
};

}  // namespace tare::reader
