// The meaning of a call site's address. Also on disk: the payload of a symbols chunk is a sequence of these, each with
// its strings and padding to a multiple of 8 bytes. Entries are valid for the whole run, whatever process the chunk
// names. Of several entries for one address, the last is valid.
#pragma once

#include <cstdint>

namespace tare::format {

struct SymbolEntry {
  std::uint32_t bytes;    // of the whole entry, padding included
  std::uint32_t line;     // 0: unknown
  std::uint64_t address;  // as in SiteDefinition
  std::uint32_t object_bytes;
  std::uint32_t build_id_bytes;
  std::uint32_t caller_bytes;
  std::uint32_t file_bytes;
  // char object[], build_id[], caller[], file[]: path and build id as in ModuleDefinition; caller and file are empty if
  // they are not known. After them, each with a zero at its end: the symbol that the call instruction names, empty if
  // it is not known, and all symbols of the function that contains the call.
};
static_assert(sizeof(SymbolEntry) == 32);

}  // namespace tare::format
