// An object file and its debug information, opened with elfutils.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>

namespace tare::reader {

// Uses debug files of this machine (by build-id and .gnu_debuglink), never a debuginfod server: looking at a result
// must not wait for a network.
class DebugFile {
 public:
  // Whatever build the object is of, if none is given.
  explicit DebugFile(const std::string& path, const std::string& build_id = "");
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  // nullptr if the object is gone, or of another build.
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
