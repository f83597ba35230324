// An OTF2 archive that is written completely or not at all.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

namespace tare::exporters::otf2 {

// The files lie in the directory part_name(PATH), which is renamed when all are complete. After a failure nothing more
// is written, and finish() returns the first failure. Without finish() nothing is left. Only one at a time.
class Archive {
 public:
  explicit Archive(std::string path);
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive();

  bool has_failed() const { return !failure_.empty(); }
  // nullptr after a failure.
  OTF2_EvtWriter* open_location(OTF2_LocationRef location);
  // Ends the events, and then begins the definitions.
  OTF2_GlobalDefWriter* open_definitions();
  OTF2_MarkerWriter* markers();
  // Records written to a location, as libotf2 counts them.
  std::uint64_t events_of(OTF2_EvtWriter* writer) const;

  void check(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) [[unlikely]]
      fail(code);
  }
  void describe(const std::string& creator, const std::string& machine);
  void set_property(const std::string& name, const std::string& value);
  // The failure, or empty.
  std::string finish();

 private:
  static OTF2_ErrorCode take_error(void* self, const char* file, std::uint64_t line, const char* function,
                                   OTF2_ErrorCode code, const char* format, std::va_list arguments);
  void fail(OTF2_ErrorCode code);
  void close();

  std::string path_, part_, failure_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_MarkerWriter* markers_ = nullptr;
  std::vector<OTF2_LocationRef> locations_;
  std::vector<OTF2_EvtWriter*> writers_;
};

}  // namespace tare::exporters::otf2
