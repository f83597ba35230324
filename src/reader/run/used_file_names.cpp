#include "reader/run/used_file_names.h"

#include "format/function_meaning.h"

namespace tare::reader {

const UsedFiles::File* UsedFileNames::find(std::uint32_t process, std::uint16_t function, std::uint32_t object) {
  if (object == format::unknown_file || object == format::file_without_room) return nullptr;
  if (format::meaning_of(function).access == format::FileAccess::none) return nullptr;  // of another source
  auto found = known_.find(process);
  if (found == known_.end()) found = known_.emplace(process, read_files(run_.processes()[process].files)).first;
  const UsedFiles& used = found->second;
  return object < used.files.size() && !used.files[object].name.empty() ? &used.files[object] : nullptr;
}

}  // namespace tare::reader
