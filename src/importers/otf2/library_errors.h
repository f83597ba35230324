// The errors that libotf2 reports.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <string>

namespace tare::importers::otf2 {

// Keeps the first error while it lives, because it causes the others. libotf2 has one error handler, so only one of
// these may exist at a time.
class LibraryErrors {
 public:
  LibraryErrors() { OTF2_Error_RegisterCallback(take, this); }
  LibraryErrors(const LibraryErrors&) = delete;
  LibraryErrors& operator=(const LibraryErrors&) = delete;
  ~LibraryErrors() { OTF2_Error_RegisterCallback(nullptr, nullptr); }
  // Empty if there was none.
  const std::string& first() const { return first_; }

 private:
  static OTF2_ErrorCode take(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*,
                             std::va_list) {
    std::string& first = static_cast<LibraryErrors*>(self)->first_;
    if (code > OTF2_SUCCESS && first.empty()) first = OTF2_Error_GetDescription(code);
    return code;
  }
  std::string first_;
};

}  // namespace tare::importers::otf2
