#include "exporters/otf2/archive.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "exporters/output_file.h"

namespace tare::exporters::otf2 {
namespace {

constexpr std::uint64_t event_chunk = std::uint64_t{256}
                                      << 10;  // the smallest that libotf2 accepts, because each thread has one
constexpr std::uint64_t definition_chunk = std::uint64_t{4} << 20;

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
// No post-flush callback: libotf2's own flushes do not belong to the program's time.
constexpr OTF2_FlushCallbacks flushes{flush_always, nullptr};

}  // namespace

Archive::Archive(std::string path) : path_(std::move(path)), part_(part_name(path_)) {
  OTF2_Error_RegisterCallback(take_error, this);
  if (::mkdir(part_.c_str(), 0777) != 0) {
    failure_ = "cannot write " + path_ + ": " + std::strerror(errno);
    part_.clear();
    return;
  }
  archive_ = OTF2_Archive_Open(part_.c_str(), "traces", OTF2_FILEMODE_WRITE, event_chunk, definition_chunk,
                               OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) {
    fail(OTF2_ERROR_INVALID);
    return;
  }
  check(OTF2_Archive_SetFlushCallbacks(archive_, &flushes, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_OpenEvtFiles(archive_));
}

Archive::~Archive() {
  close();
  OTF2_Error_RegisterCallback(nullptr, nullptr);
  std::error_code error;
  if (!part_.empty()) std::filesystem::remove_all(part_, error);
}

OTF2_EvtWriter* Archive::open_location(OTF2_LocationRef location) {
  if (has_failed()) return nullptr;
  OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location);
  if (writer == nullptr) {
    fail(OTF2_ERROR_INVALID);
    return nullptr;
  }
  locations_.push_back(location);
  writers_.push_back(writer);
  return writer;
}

std::uint64_t Archive::events_of(OTF2_EvtWriter* writer) const {
  std::uint64_t count = 0;
  return writer != nullptr && OTF2_EvtWriter_GetNumberOfEvents(writer, &count) == OTF2_SUCCESS ? count : 0;
}

OTF2_MarkerWriter* Archive::markers() {
  if (markers_ == nullptr && !has_failed()) {
    markers_ = OTF2_Archive_GetMarkerWriter(archive_);
    if (markers_ == nullptr) fail(OTF2_ERROR_INVALID);
  }
  return markers_;
}

OTF2_GlobalDefWriter* Archive::open_definitions() {
  for (OTF2_EvtWriter* writer : std::exchange(writers_, {})) check(OTF2_Archive_CloseEvtWriter(archive_, writer));
  if (has_failed()) return nullptr;
  check(OTF2_Archive_CloseEvtFiles(archive_));
  // Readers need these files, although all definitions are global.
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (const OTF2_LocationRef location : locations_) {
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, location);
    if (writer == nullptr)
      fail(OTF2_ERROR_INVALID);
    else
      check(OTF2_Archive_CloseDefWriter(archive_, writer));
  }
  check(OTF2_Archive_CloseDefFiles(archive_));
  OTF2_GlobalDefWriter* definitions = has_failed() ? nullptr : OTF2_Archive_GetGlobalDefWriter(archive_);
  if (definitions == nullptr) fail(OTF2_ERROR_INVALID);
  return definitions;
}

void Archive::describe(const std::string& creator, const std::string& machine) {
  if (has_failed()) return;
  check(OTF2_Archive_SetCreator(archive_, creator.c_str()));
  check(OTF2_Archive_SetMachineName(archive_, machine.c_str()));
}

void Archive::set_property(const std::string& name, const std::string& value) {
  if (!has_failed()) check(OTF2_Archive_SetProperty(archive_, name.c_str(), value.c_str(), true));
}

OTF2_ErrorCode Archive::take_error(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                                   const char*, std::va_list) {
  // The first error is the cause, and more exact than the return value.
  auto& archive = *static_cast<Archive*>(self);
  if (code != OTF2_SUCCESS) archive.fail(code);
  return code;
}

void Archive::fail(OTF2_ErrorCode code) {
  if (!failure_.empty()) return;
  // Codes of the system's errors have their texts, others those of the library.
  const bool is_of_system = errno != 0 && code != OTF2_ERROR_INVALID_ARGUMENT;
  failure_ = "cannot write " + path_ + ": " + (is_of_system ? std::strerror(errno) : OTF2_Error_GetDescription(code));
}

void Archive::close() {
  if (archive_ == nullptr) return;
  for (OTF2_EvtWriter* writer : std::exchange(writers_, {})) OTF2_Archive_CloseEvtWriter(archive_, writer);
  if (markers_ != nullptr) check(OTF2_Archive_CloseMarkerWriter(archive_, std::exchange(markers_, nullptr)));
  check(OTF2_Archive_Close(std::exchange(archive_, nullptr)));
}

std::string Archive::finish() {
  close();
  if (!has_failed() && std::rename(part_.c_str(), path_.c_str()) != 0)
    failure_ = "cannot write " + path_ + ": " + std::strerror(errno);
  if (!has_failed()) part_.clear();
  return failure_;
}

}  // namespace tare::exporters::otf2
