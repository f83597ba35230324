#include "reader/symbols/debug_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>

#include "format/descriptor.h"

namespace tare::reader {
namespace {

// Removes the variable DEBUGINFOD_URLS during its lifetime, because libdwfl asks the servers that it names.
class WithoutDebuginfod {
 public:
  WithoutDebuginfod() {
    if (const char* urls = std::getenv(name)) urls_ = urls;
    if (!urls_.empty()) ::unsetenv(name);
  }
  ~WithoutDebuginfod() {
    if (!urls_.empty()) ::setenv(name, urls_.c_str(), 1);
  }
  WithoutDebuginfod(const WithoutDebuginfod&) = delete;
  WithoutDebuginfod& operator=(const WithoutDebuginfod&) = delete;

 private:
  static constexpr const char* name = "DEBUGINFOD_URLS";
  std::string urls_;
};

const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

// A run names its executables, and may be somebody else's: what is no regular file, as a pipe, is not waited for.
Dwfl_Module* report(Dwfl* session, const std::string& path) {
  format::Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  Dwfl_Module* module = dwfl_report_offline(session, path.c_str(), path.c_str(), file.fd());
  if (module != nullptr) file.release();  // libdwfl closes it
  return module;
}

}  // namespace

DebugFile::DebugFile(const std::string& path, const std::string& build_id) {
  const WithoutDebuginfod local;
  session_ = dwfl_begin(&callbacks);
  if (session_ == nullptr) return;
  dwfl_report_begin(session_);
  module_ = report(session_, path);
  dwfl_report_end(session_, nullptr, nullptr);
  if (module_ == nullptr || dwfl_module_getelf(module_, &bias_) == nullptr || !is_build(build_id)) module_ = nullptr;
  Dwarf_Addr bias = 0;
  if (module_ != nullptr) dwfl_module_getdwarf(module_, &bias);  // must be done while the variable is removed
}

DebugFile::~DebugFile() {
  if (session_ != nullptr) dwfl_end(session_);
}

bool DebugFile::is_build(const std::string& expected) {
  const unsigned char* bits = nullptr;
  GElf_Addr at = 0;
  const int bytes = dwfl_module_build_id(module_, &bits, &at);
  const auto known = static_cast<std::size_t>(bytes > 0 ? bytes : 0);
  if (expected.empty()) return true;
  return known >= expected.size() && std::memcmp(bits, expected.data(), expected.size()) == 0;
}

}  // namespace tare::reader
