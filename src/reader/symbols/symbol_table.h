// The symbols that are stored in a run, so that it stays readable after the program was removed or rebuilt.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "reader/symbols/symbols.h"

namespace tare::reader {

class SymbolTable {
 public:
  // Adds the entries of a symbols chunk. False if an entry is malformed; the entries before it have been added.
  bool apply(std::string_view payload);
  // nullptr if there is no symbol for the address. Valid as long as the table.
  const Symbol* find(const CodeAddress& at) const;

 private:
  std::unordered_map<std::string, Symbol> symbols_;
};

// Appends one entry to the payload of a symbols chunk.
void append_symbol(std::string& payload, const CodeAddress& at, const Symbol& symbol);

}  // namespace tare::reader
